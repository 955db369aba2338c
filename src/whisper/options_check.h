// Refuses options that make no sense before any work is done.
#ifndef SOTTO_WHISPER_OPTIONS_CHECK_H_
#define SOTTO_WHISPER_OPTIONS_CHECK_H_

#include <string>
#include <vector>

#include "sotto/status.h"
#include "sotto/transcribe.h"
#include "whisper/model.h"
#include "whisper/times.h"

namespace sotto::whisper {

/// kInvalidArgument names the option, its value and what is allowed. Languages, tokens and regular
/// expressions are checked where they are resolved.
Status check_options(const Model& model, const TranscribeOptions& options);

/// The clips of the options as frames of a recording of `frames` frames; the whole recording when
/// there are none. Clips beyond the end are left out.
std::vector<FrameSpan> resolve_clips(const TranscribeOptions& options, int64_t frames);

/// Remarks for the person who asked, e.g. that this model was not trained to translate.
std::vector<std::string> option_warnings(const Model& model, const TranscribeOptions& options);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_OPTIONS_CHECK_H_

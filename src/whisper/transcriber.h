// Long recordings: windows, prompts, fallback, segments. The algorithm is that of openai/whisper's
// transcribe().
#ifndef SOTTO_WHISPER_TRANSCRIBER_H_
#define SOTTO_WHISPER_TRANSCRIBER_H_

#include "audio/log_mel.h"
#include "sotto/transcribe.h"
#include "whisper/model.h"

namespace sotto::whisper {

/// Transcribes one recording given as features. `duration_s` bounds all times. Wrong options
/// (unknown language, translate on an English-only model, …) are kInvalidArgument before any work
/// is done.
Result<Transcript> transcribe(Model& model, const audio::LogMel& mel, double duration_s,
                              const TranscribeOptions& options,
                              const TranscribeCallbacks& callbacks);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_TRANSCRIBER_H_

// AudioSource to samples.
#ifndef SOTTO_API_AUDIO_SOURCE_H_
#define SOTTO_API_AUDIO_SOURCE_H_

#include "audio/recording.h"
#include "sotto/transcribe.h"

namespace sotto::api {

/// `options.raw` is overwritten with what the source says. Errors: those of audio::decode_file, and
/// kInvalidArgument for a source with more than one origin.
Result<audio::Recording> decode(const AudioSource& source, audio::DecodeOptions options);

}  // namespace sotto::api

#endif  // SOTTO_API_AUDIO_SOURCE_H_

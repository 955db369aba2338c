#include "api/audio_source.h"

namespace sotto::api {

Result<audio::Recording> decode(const AudioSource& source, audio::DecodeOptions options) {
  const int sources = (source.path.empty() ? 0 : 1) + (source.bytes.empty() ? 0 : 1) +
                      (source.samples.empty() ? 0 : 1);
  if (sources > 1)
    return invalid_argument("an audio source has exactly one of path, bytes and samples");
  if (!source.samples.empty()) {
    audio::Recording recording;
    recording.mono.append(source.samples);
    return recording;
  }
  options.raw.reset();
  if (!source.raw_format.empty()) {
    options.raw = audio::RawFormat{source.raw_format, source.raw_rate, source.raw_channels};
  }
  if (!source.path.empty()) return audio::decode_file(source.path, options);
  return audio::decode_memory(source.bytes, "audio", options);
}

}  // namespace sotto::api

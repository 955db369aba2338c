// How long a recording is by its own header, without decoding it: enough to choose a lane.
#ifndef SOTTO_SERVE_CLIP_LENGTH_H_
#define SOTTO_SERVE_CLIP_LENGTH_H_

#include <cstdint>
#include <string_view>

namespace sotto::serve {

/// Seconds by the header of a WAV or FLAC file; negative when it does not say. `head`: its first
/// bytes, `size`: all of them. Sources: Microsoft's WAVE format, RFC 9639 section 8.2.
double length_by_header(std::string_view head, int64_t size);

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_CLIP_LENGTH_H_

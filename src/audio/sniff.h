// Tells by their first bytes what files are that people pass by mistake.
#ifndef SOTTO_AUDIO_SNIFF_H_
#define SOTTO_AUDIO_SNIFF_H_

#include <cstddef>
#include <span>
#include <string_view>

namespace sotto::audio {

/// "a JPEG picture", "plain text", "a PDF document", … for bytes that are surely no sound; "" when
/// they may be. libav alone is no judge: it takes a picture for a very short mp3 and text for ANSI
/// art.
std::string_view describe_non_audio(std::span<const std::byte> head);

}  // namespace sotto::audio

#endif  // SOTTO_AUDIO_SNIFF_H_

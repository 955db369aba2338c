// Who speaks, in a recording with one speaker a channel.
#ifndef SOTTO_API_SPEAKERS_H_
#define SOTTO_API_SPEAKERS_H_

#include <utility>

#include "audio/recording.h"
#include "sotto/transcript.h"

namespace sotto::api {

/// The louder channel between two times names the speaker, as whisper-cli has it.
class ChannelSpeakers {
 public:
  /// Both channels [samples] at 16 kHz, of equal length; empty for a recording that is not stereo.
  ChannelSpeakers(audio::SampleBuffer left, audio::SampleBuffer right)
      : left_(std::move(left)), right_(std::move(right)) {}

  [[nodiscard]] bool is_stereo() const { return left_.size() > 0; }
  /// "Speaker 0" (left), "Speaker 1" (right) or "Speaker ?" when neither is louder by a tenth;
  /// nothing without two channels. Times of the segment are those of the recording.
  void label(Segment& segment) const;

 private:
  audio::SampleBuffer left_, right_;
};

}  // namespace sotto::api

#endif  // SOTTO_API_SPEAKERS_H_

// One client of a Wyoming speech-to-text server: which events it sends, and what they are answered.
// Knows neither sockets nor models.
#ifndef SOTTO_WYOMING_SESSION_H_
#define SOTTO_WYOMING_SESSION_H_

#include <functional>
#include <string>
#include <vector>

#include "sotto/status.h"
#include "wyoming/event.h"

namespace sotto::wyoming {

/// A model as `info` lists it.
struct ModelEntry {
  std::string name;
  std::string description;
  std::vector<std::string> languages;  ///< Codes
};

/// The answer to `describe`: one program with its installed models.
Event describe_answer(const std::string& program_version, const std::vector<ModelEntry>& models);

/// What a client said between audio-start and audio-stop, and how it wants it read.
struct Utterance {
  std::string pcm;
  std::string raw_format = "s16le";
  int rate = 16000;
  int channels = 1;
  std::string model;     ///< Empty: the default
  std::string language;  ///< As it was sent; empty or "auto": detect
  std::string hotwords;  ///< transcript_names and transcript_terms

  [[nodiscard]] double seconds() const;
};

class Session {
 public:
  struct Hooks {
    std::function<void(const Event&)> send;
    std::function<Event()> describe;
    /// A whole utterance with sound in it. The answer comes later, by answer_event().
    std::function<void(Utterance)> transcribe;
  };

  explicit Session(Hooks hooks) : hooks_(std::move(hooks)) {}

  /// One event of the client. A failure was answered by an `error` event; when it is kCorrupt or
  /// kResourceExhausted, the connection is to be closed.
  Status handle(const Event& event);

 private:
  Status take(const Event& event);
  void begin_request(const Event& event);
  Status begin_audio(const Event& event);
  Status take_audio(const Event& event);
  void end_audio();

  Hooks hooks_;
  Utterance request_;  ///< What `transcribe` asked for, and the sound so far
  bool in_audio_ = false;
};

/// `transcript` for success, `error` for a failure.
Event transcript_event(const std::string& text, const std::string& language);
Event error_event(const Status& status);

}  // namespace sotto::wyoming

#endif  // SOTTO_WYOMING_SESSION_H_

#include "worker/testing/fake_worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <numeric>
#include <sstream>

#include "worker/worker_main.h"

namespace sotto::worker::testing {
namespace {

using Words = std::map<std::string, std::string>;

Words parse(const std::string& text) {
  Words words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    const size_t equals = word.find('=');
    words[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
  }
  return words;
}

class FakeModel final : public SpeechModel {
 public:
  Result<Transcript> transcribe(const AudioSource& source, const TranscribeOptions& options,
                                const TranscribeCallbacks& callbacks) override {
    Words words = parse(source.path);
    Transcript transcript;
    const int segments = words.contains("segments") ? std::stoi(words["segments"]) : 1;
    transcript.duration = segments;
    callbacks.on_audio(transcript.duration);
    callbacks.on_language("en", 0.5f);
    for (int i = 0; i < segments; ++i) {
      if (words.contains("at") && std::stoi(words["at"]) == i) misbehave(words, callbacks);
      if (callbacks.should_stop()) return cancelled("stopped");
      Segment segment;
      segment.id = i;
      segment.start = i;
      segment.end = i + 1;
      segment.text = source.path.empty() ? describe(source) : fmt::format(" s{}", i);
      transcript.segments.push_back(segment);
      transcript.text += segment.text;
      callbacks.on_segment(segment);
      callbacks.on_progress(i + 1, segments);
      if (i + 1 < segments && callbacks.at_window_border) callbacks.at_window_border();
    }
    transcript.text += options.hotwords;
    transcript.text.erase(0, 1);
    return transcript;
  }
  [[nodiscard]] bool multilingual() const override { return true; }
  [[nodiscard]] ModelSizes sizes() const override {
    ModelSizes sizes;
    sizes.mels = 80;
    return sizes;
  }
  [[nodiscard]] std::string description() const override { return "a fake"; }

 private:
  static void misbehave(Words& words, const TranscribeCallbacks& callbacks) {
    if (words.contains("once") &&
        ::open(words["once"].c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600) < 0) {
      return;
    }
    if (words.contains("crash")) ::raise(SIGKILL);
    while (words.contains("hang"))
      ::pause();
    while (words.contains("spin") && !callbacks.should_stop())
      ::usleep(1000);
  }

  static std::string describe(const AudioSource& source) {
    const float sum = std::accumulate(source.samples.begin(), source.samples.end(), 0.0f);
    const char* first =
        source.bytes.empty() ? "" : reinterpret_cast<const char*>(source.bytes.data());
    return fmt::format(" samples {} sum {} bytes {} {} {} {}", source.samples.size(), sum,
                       source.bytes.size(), std::string(first, source.bytes.size()),
                       source.raw_format, source.raw_rate);
  }
};

}  // namespace

int fake_worker_main(int fd) {
  const WorkerLoader load = [](const std::string& path,
                               const LoadOptions&) -> Result<std::unique_ptr<SpeechModel>> {
    if (path == "bad") return not_found("bad: no such model");
    if (path == "crash") ::raise(SIGKILL);
    return std::unique_ptr<SpeechModel>(new FakeModel);
  };
  return run_worker(fd, load, [] { ::_exit(0); }).ok() ? 0 : 1;
}

}  // namespace sotto::worker::testing

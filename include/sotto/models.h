// Models by name: what there is, what is installed, and how to get it.
#ifndef SOTTO_MODELS_H_
#define SOTTO_MODELS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/status.h"

namespace sotto {

enum class ModelKind { kWhisper, kLlm, kVad };

/// "whisper", "llm", "vad".
std::string_view model_kind_name(ModelKind kind);

/// One file of an installed model.
struct ModelFile {
  std::string name;       ///< In the model's folder, e.g. "model.bin"
  int64_t bytes = -1;     ///< -1: not known
  std::string sha256;     ///< Lower-case hex; empty: not known
  std::string hash_from;  ///< "catalogue", "hub" or "first pull": who vouched for the sum
};

/// A model of the catalogue, an installed model, or both.
struct ModelInfo {
  std::string name;  ///< Canonical: "base", "qwen2.5-coder:0.5b"
  ModelKind kind = ModelKind::kWhisper;
  std::vector<std::string> aliases;
  std::string description;
  std::string licence;
  int64_t bytes = -1;  ///< On disk when installed, else to be downloaded; -1: not known
  int rank = 0;        ///< Among its kind; the best installed one is the default
  bool in_catalogue = false;
  bool installed = false;
  std::string path;              ///< Of the folder, when installed
  std::string source;            ///< When installed: where it came from
  std::string pulled_at;         ///< When installed: RFC 3339, UTC; empty for a folder put by hand
  std::vector<ModelFile> files;  ///< When installed
};

/// One step of a pull, in the shape of Ollama's /api/pull.
struct PullProgress {
  std::string status;      ///< "pulling model.bin", "verifying sha256 digest", …, "success"
  std::string digest;      ///< "sha256:…" where the sum is known, else empty
  int64_t total = -1;      ///< Bytes of the file in work; -1: none in work, or not known
  int64_t completed = -1;  ///< Bytes of it that are on disk
};

/// What to pull: exactly one of `name`, `hub` and `path` says it; with the latter two `name` may
/// choose the name to install under.
struct PullRequest {
  std::string name;      ///< Of the catalogue, or an alias
  std::string hub;       ///< "OWNER/NAME" or "OWNER/NAME:FILE" on the hub
  std::string revision;  ///< Branch, tag or commit for `hub`; empty: main
  std::string path;      ///< A file or folder to copy
};

/// Called from the thread that pulls. All members are optional.
struct PullOptions {
  bool with_vad = true;  ///< After the first Whisper model also pull the voice activity detector
  std::function<void(const PullProgress&)> on_progress;
  std::function<void(const std::string&)> on_warning;  ///< The pull goes on
  std::function<bool()>
      should_stop;  ///< true: kCancelled; what has arrived stays for the next pull
};

struct PullResult {
  ModelInfo model;
  bool was_installed = false;  ///< Nothing had to be done; no network was used
};

/// The local store and the catalogue. A value: cheap to copy, safe to use from several threads and
/// several processes at once.
class ModelStore {
 public:
  struct State;  // the library's own

  /// The store at $SOTTO_HOME, else $XDG_DATA_HOME/sotto, else ~/.local/share/sotto. Creates
  /// nothing. A broken catalogue file of the user's is kInvalidArgument.
  static Result<ModelStore> open_default();
  /// The store at `root`.
  static Result<ModelStore> open(const std::string& root);

  /// Its folder; models/NAME/ in it holds one model.
  [[nodiscard]] const std::string& root() const;

  /// The catalogue in its order, then installed models that are not in it.
  [[nodiscard]] Result<std::vector<ModelInfo>> list() const;
  [[nodiscard]] Result<std::vector<ModelInfo>> installed() const;

  /// An installed model or one of the catalogue by any of its spellings ("Systran/faster-whisper-
  /// base", "ggml-base.bin", "Whisper-Base", an alias of the user's). kNotFound names the nearest.
  [[nodiscard]] Result<ModelInfo> find(std::string_view name) const;

  /// What a user's -m means: an installed model, or a path that exists. kNotFound carries the pull
  /// command; a model of another kind is kInvalidArgument.
  [[nodiscard]] Result<std::string> resolve(std::string_view name_or_path, ModelKind kind) const;

  /// The best installed model of a kind; kNotFound carries the pull command.
  [[nodiscard]] Result<ModelInfo> best(ModelKind kind) const;

  /// Downloads or copies a model, checks it and installs it in one step. An interrupted pull goes
  /// on where it stopped; of two pulls at once the second waits. kUnavailable: no source answered;
  /// kCorrupt: wrong bytes; kNoSpace, kPermissionDenied: the store; kCancelled.
  [[nodiscard]] Result<PullResult> pull(const PullRequest& request,
                                        const PullOptions& options) const;

  /// Reads every file of an installed model again: kCorrupt names the first that is not what was
  /// installed.
  [[nodiscard]] Status verify(std::string_view name,
                              const std::function<bool()>& should_stop) const;

  /// Deletes an installed model, or the rest of an interrupted pull of it. The bytes freed.
  [[nodiscard]] Result<int64_t> remove(std::string_view name) const;

 private:
  explicit ModelStore(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace sotto

#endif  // SOTTO_MODELS_H_

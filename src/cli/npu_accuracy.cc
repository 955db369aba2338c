#include "cli/npu_accuracy.h"

#include <fmt/format.h>

#include <filesystem>

#include "api/encoder_probe.h"
#include "cli/exit_codes.h"
#include "cli/output.h"
#include "sotto/models.h"

namespace sotto::cli {
namespace {

Result<std::string> table_of(const std::string& model, const std::string& audio) {
  SOTTO_ASSIGN_OR_RETURN(const ModelStore store, ModelStore::open_default());
  SOTTO_ASSIGN_OR_RETURN(const std::string path, store.resolve(model, ModelKind::kWhisper));
  SOTTO_ASSIGN_OR_RETURN(const auto floor, api::encoder_accuracy(path, audio, false));
  SOTTO_ASSIGN_OR_RETURN(const auto cut, api::encoder_accuracy(path, audio, true));
  std::string out = fmt::format(
      "\n## {}\n\n"
      "| | 1 - cosine | relative error | the same, mode 0 cuts | |\n|---|---|---|---|---|\n",
      std::filesystem::path(model).filename().string());
  for (size_t i = 0; i < floor.size(); ++i) {
    out += fmt::format("| {} | {:.2e} | {:.2e} | {:.2e} | {:.2e} |\n", floor[i].stage,
                       1 - floor[i].cosine, floor[i].relative_error, 1 - cut[i].cosine,
                       cut[i].relative_error);
  }
  return out;
}

}  // namespace

int run_npu_accuracy(const std::vector<std::string>& models, const std::string& audio) {
  for (const std::string& model : models) {
    const Result<std::string> table = table_of(model, audio);
    if (!table.ok()) return report(table.status(), kExitInput);
    if (const int code = report(write_stdout(*table), kExitProcessing); code != kExitOk)
      return code;
  }
  return kExitOk;
}

}  // namespace sotto::cli

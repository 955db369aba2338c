#include "cli/npu_gelu_fit.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "api/encoder_probe.h"
#include "cli/exit_codes.h"
#include "cli/output.h"
#include "npu/aie/gelu_fit.h"
#include "sotto/models.h"

namespace sotto::cli {
namespace {

Result<npu::GeluHistogram> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return not_found("cannot read " + path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Result<npu::GeluHistogram> histogram = npu::read_histogram(text);
  if (!histogram.ok()) return histogram.status().with_context(path);
  return histogram;
}

Status write_file(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") return write_stdout(text);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return io_error("cannot write " + path);
  return {};
}

Result<npu::GeluHistogram> measure(const GeluFitOptions& options) {
  if (!options.from_histogram.empty()) return read_file(options.from_histogram);
  if (options.models.empty() || options.audio.empty()) {
    return invalid_argument(
        "gelu-fit needs activations: --model and a recording, or --from-histogram");
  }
  constexpr double kLimit = double{npu::kGeluBins} / npu::kGeluBinsPerUnit;
  npu::GeluHistogram histogram(npu::kGeluBins);
  SOTTO_ASSIGN_OR_RETURN(const ModelStore store, ModelStore::open_default());
  for (const std::string& model : options.models) {
    SOTTO_ASSIGN_OR_RETURN(const std::string path, store.resolve(model, ModelKind::kWhisper));
    for (const std::string& audio : options.audio)
      SOTTO_RETURN_IF_ERROR(api::count_gelu_inputs(path, audio, kLimit, histogram));
  }
  return histogram;
}

}  // namespace

int run_gelu_fit(const GeluFitOptions& options) {
  const Result<npu::GeluHistogram> histogram = measure(options);
  if (!histogram.ok()) return report(histogram.status(), kExitInput);
  const auto pieces = npu::fit_gelu(*histogram);
  if (!pieces.ok()) return report(pieces.status(), kExitInput);
  if (!options.to_histogram.empty()) {
    const Status status = write_file(options.to_histogram, npu::write_histogram(*histogram));
    if (!status.ok()) return report(status, kExitProcessing);
  }
  const npu::GeluFitError error = npu::gelu_fit_error(*pieces, *histogram);
  fmt::print(stderr, "fit error below 4: rms {:.2e}, mean {:.2e}\n", error.rms, error.mean);
  return report(write_file(options.output, npu::gelu_header(*pieces)), kExitProcessing);
}

}  // namespace sotto::cli

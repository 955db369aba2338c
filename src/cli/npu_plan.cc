#include "cli/npu_plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/exit_codes.h"
#include "cli/output.h"
#include "npu/cost/plan.h"

namespace sotto::cli {
namespace {

std::string as_json(const npu::EncoderPlan& plan, const std::vector<npu::Sensitivity>& unknowns) {
  nlohmann::json stages = nlohmann::json::array();
  for (const npu::PlanStage& stage : plan.stages) {
    stages.push_back({{"stage", stage.name},
                      {"launches", stage.launches},
                      {"ddr_bytes", stage.ddr_bytes},
                      {"macs", stage.macs},
                      {"ms", stage.ms}});
  }
  nlohmann::json sensitivity = nlohmann::json::array();
  for (const npu::Sensitivity& s : unknowns)
    sensitivity.push_back({{"unknown", s.what}, {"low_ms", s.low_ms}, {"high_ms", s.high_ms}});
  return nlohmann::json{{"ms", plan.ms},
                        {"contexts", plan.overlays},
                        {"launches", plan.launches},
                        {"switches", plan.switches},
                        {"device_bytes", plan.device_bytes},
                        {"stages", stages},
                        {"sensitivity", sensitivity}}
             .dump() +
         "\n";
}

std::string as_text(const npu::EncoderPlan& plan, const std::vector<npu::Sensitivity>& unknowns) {
  std::string out = fmt::format(
      "{} context(s), {} launches, {} switches, {:.0f} MB on the device\n"
      "  {:<20} {:>9} {:>10} {:>9} {:>9}\n",
      plan.overlays, plan.launches, plan.switches, plan.device_bytes / 1e6, "stage", "launches",
      "DDR MB", "GMAC", "ms");
  for (const npu::PlanStage& stage : plan.stages) {
    out += fmt::format("  {:<20} {:>9} {:>10.0f} {:>9.1f} {:>9.1f}\n", stage.name, stage.launches,
                       stage.ddr_bytes / 1e6, stage.macs / 1e9, stage.ms);
  }
  out += fmt::format("  {:<51} {:>9.1f}\nwith each unknown at half and at twice its value:\n",
                     "encoder pass, predicted", plan.ms);
  for (const npu::Sensitivity& s : unknowns)
    out += fmt::format("  {:<24} {:>8.0f} to {:.0f} ms\n", s.what, s.low_ms, s.high_ms);
  return out;
}

}  // namespace

int run_npu_plan(const NpuPlanOptions& options, const std::string& target, bool json) {
  Result<npu::EncoderShape> shape = npu::encoder_shape(options.model);
  if (!shape.ok()) return report(shape.status(), kExitUsage);
  const Result<npu::GenerationId> generation = npu::parse_generation(target);
  if (!generation.ok()) return report(generation.status(), kExitUsage);
  const Result<npu::PlanKind> kind = npu::parse_plan(options.plan);
  if (!kind.ok()) return report(kind.status(), kExitUsage);
  shape->positions = options.audio_ctx;
  const npu::PlanConstants constants = npu::plan_constants(*generation);
  const npu::EncoderPlan plan = npu::plan_encoder(*shape, *generation, *kind, constants);
  const auto unknowns = npu::plan_sensitivity(*shape, *generation, *kind, constants);
  return report(write_stdout(json ? as_json(plan, unknowns) : as_text(plan, unknowns)),
                kExitProcessing);
}

}  // namespace sotto::cli

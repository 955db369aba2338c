#include "base/cpu_features.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

namespace sotto {
namespace {

constexpr std::array<CpuIsa, 5> kAllIsas = {CpuIsa::kScalar, CpuIsa::kAvx2, CpuIsa::kAvx512,
                                            CpuIsa::kAvx512Vnni, CpuIsa::kAvx512Bf16};

// cgroup v2 "cpu.max" holds "<quota> <period>" in microseconds, or "max <period>".
int cgroup_cpu_limit() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (!(file >> quota >> period) || period <= 0) return 0;
  return static_cast<int>(std::ceil(quota / period));
}

}  // namespace

std::string_view cpu_isa_name(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::kScalar:
      return "scalar";
    case CpuIsa::kAvx2:
      return "avx2";
    case CpuIsa::kAvx512:
      return "avx512";
    case CpuIsa::kAvx512Vnni:
      return "avx512_vnni";
    case CpuIsa::kAvx512Bf16:
      return "avx512_bf16";
  }
  return "unknown";
}

CpuIsa detected_cpu_isa() {
#if defined(__x86_64__) && !defined(SOTTO_NO_SIMD)
  // These builtins also ask the operating system whether it saves the registers.
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool avx512 =
      avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  const bool vnni = avx512 && __builtin_cpu_supports("avx512vnni") != 0;
  const bool bf16 = vnni && __builtin_cpu_supports("avx512bf16") != 0;
  if (bf16) return CpuIsa::kAvx512Bf16;
  if (vnni) return CpuIsa::kAvx512Vnni;
  if (avx512) return CpuIsa::kAvx512;
  if (avx2) return CpuIsa::kAvx2;
#endif
  return CpuIsa::kScalar;
}

Result<CpuIsa> select_cpu_isa(std::string_view forced) {
  const CpuIsa best = detected_cpu_isa();
  if (forced.empty() || forced == "auto") return best;
  std::string usable;
  for (CpuIsa isa : kAllIsas) {
    if (isa > best) break;
    if (cpu_isa_name(isa) == forced) return isa;
    usable += (usable.empty() ? "" : ", ") + std::string(cpu_isa_name(isa));
  }
  return invalid_argument("SOTTO_CPU=" + std::string(forced) +
                          " cannot be used here; this machine and build offer: " + usable);
}

Result<CpuIsa> cpu_isa_from_environment() {
  const char* forced = std::getenv("SOTTO_CPU");
  return select_cpu_isa(forced == nullptr ? "" : forced);
}

int physical_core_count() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  std::set<std::string> cores;
  int logical = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<size_t>(cpu), &mask)) continue;
    ++logical;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/topology/thread_siblings_list");
    std::string siblings;
    cores.insert(std::getline(file, siblings) ? siblings : "cpu" + std::to_string(cpu));
  }
  int count = cores.empty() ? logical : static_cast<int>(cores.size());
  if (const int limit = cgroup_cpu_limit(); limit > 0) count = std::min(count, limit);
  return std::max(count, 1);
}

}  // namespace sotto

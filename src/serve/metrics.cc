#include "serve/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <span>

namespace sotto::serve {
namespace {

constexpr std::array kSecondsBuckets = {0.01, 0.05, 0.1,  0.25, 0.5,  1.0,
                                        2.5,  5.0,  10.0, 30.0, 60.0, 300.0};
constexpr std::array kFactorBuckets = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0};

struct Definition {
  std::string_view name, type, help;
  std::span<const double> buckets;  ///< Of a histogram
};

const Definition& definition(Metric metric) {
  // In the order of the enumeration.
  static const std::array<Definition, 11> kDefinitions = {{
      {"sotto_requests_total", "counter", "HTTP requests by route and status", {}},
      {"sotto_audio_seconds_total", "counter", "Audio transcribed", {}},
      {"sotto_transcribe_seconds", "histogram", "Time of a job by stage", kSecondsBuckets},
      {"sotto_realtime_factor", "histogram", "Time of a job by the length of its audio",
       kFactorBuckets},
      {"sotto_queue_depth", "gauge", "Jobs that wait", {}},
      {"sotto_queue_wait_seconds", "histogram", "Time from admission to start", kSecondsBuckets},
      {"sotto_fallbacks_total", "counter", "Jobs that ran elsewhere than asked", {}},
      {"sotto_npu_resets_total", "counter", "Device workers that were replaced", {}},
      {"sotto_model_loaded", "gauge", "1 while the model is loaded", {}},
      {"sotto_model_load_seconds", "gauge", "Time that the last load took", {}},
      {"sotto_jobs_total", "counter", "Jobs by how they ended", {}},
  }};
  return kDefinitions.at(static_cast<size_t>(metric));
}

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

/// `a="1",b="2"`.
std::string render(const Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels)
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, escaped(value));
  return out;
}

std::string braced(std::string_view labels) {
  return labels.empty() ? std::string() : fmt::format("{{{}}}", labels);
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void Metrics::add(Metric metric, const Labels& labels, double value) {
  const std::lock_guard lock(mutex_);
  series_[{metric, render(labels)}].value += value;
}

void Metrics::set(Metric metric, const Labels& labels, double value) {
  const std::lock_guard lock(mutex_);
  series_[{metric, render(labels)}].value = value;
}

void Metrics::observe(Metric metric, const Labels& labels, double value) {
  const std::span<const double> bounds = definition(metric).buckets;
  const std::lock_guard lock(mutex_);
  Series& series = series_[{metric, render(labels)}];
  series.buckets.resize(bounds.size());
  for (size_t i = 0; i < bounds.size(); ++i)
    if (value <= bounds[i]) ++series.buckets[i];
  series.value += value;
  ++series.count;
}

double Metrics::value(Metric metric, const Labels& labels) const {
  const std::lock_guard lock(mutex_);
  const auto found = series_.find({metric, render(labels)});
  return found == series_.end() ? 0 : found->second.value;
}

double Metrics::total(Metric metric) const {
  const std::lock_guard lock(mutex_);
  double sum = 0;
  for (const auto& [key, series] : series_)
    if (key.first == metric) sum += series.value;
  return sum;
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  std::string_view last;
  for (const auto& [key, series] : series_) {
    const Definition& known = definition(key.first);
    const std::string& labels = key.second;
    if (known.name != last) {
      out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", known.name, known.help, known.name,
                         known.type);
      last = known.name;
    }
    if (known.buckets.empty()) {
      out += fmt::format("{}{} {}\n", known.name, braced(labels), series.value);
      continue;
    }
    const std::string comma = labels.empty() ? "" : ",";
    for (size_t i = 0; i < known.buckets.size(); ++i) {
      out += fmt::format("{}_bucket{{{}{}le=\"{}\"}} {}\n", known.name, labels, comma,
                         known.buckets[i], series.buckets[i]);
    }
    out +=
        fmt::format("{}_bucket{{{}{}le=\"+Inf\"}} {}\n", known.name, labels, comma, series.count);
    out += fmt::format("{}_sum{} {}\n", known.name, braced(labels), series.value);
    out += fmt::format("{}_count{} {}\n", known.name, braced(labels), series.count);
  }
  out += fmt::format(
      "# HELP process_resident_memory_bytes Resident memory of this process\n"
      "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes {}\n",
      resident_bytes());
  return out;
}

}  // namespace sotto::serve

// Counters of the server, and their text in the format that Prometheus scrapes.
// Format: https://prometheus.io/docs/instrumenting/exposition_formats/ (text, version 0.0.4).
#ifndef SOTTO_SERVE_METRICS_H_
#define SOTTO_SERVE_METRICS_H_

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto::serve {

/// Names and values of a series, e.g. {{"model", "base"}, {"stage", "encode"}}.
using Labels = std::vector<std::pair<std::string_view, std::string>>;

/// What a metric is: declared once in metrics.cc, so that every series has its help and type.
enum class Metric {
  kRequests,           ///< counter {endpoint, code}
  kAudioSeconds,       ///< counter {model, path}
  kTranscribeSeconds,  ///< histogram {model, stage}
  kRealtimeFactor,     ///< histogram {model}
  kQueueDepth,         ///< gauge
  kQueueWait,          ///< histogram
  kFallbacks,          ///< counter {reason}
  kNpuResets,          ///< counter
  kModelLoaded,        ///< gauge {model, device}
  kModelLoadSeconds,   ///< gauge {model}
  kJobs,               ///< counter {outcome}
};

/// Thread-safe.
class Metrics {
 public:
  void add(Metric metric, const Labels& labels, double value = 1);
  void set(Metric metric, const Labels& labels, double value);
  /// Of a histogram.
  void observe(Metric metric, const Labels& labels, double value);
  /// The value of a counter or gauge; 0 when it was never touched. For /health and tests.
  [[nodiscard]] double value(Metric metric, const Labels& labels) const;
  /// The sum over all label sets.
  [[nodiscard]] double total(Metric metric) const;

  /// The document of /metrics, with the memory of this process.
  [[nodiscard]] std::string text() const;

 private:
  struct Series {
    double value = 0;  ///< Or the sum of a histogram
    double count = 0;
    std::vector<double> buckets;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<Metric, std::string>, Series> series_;  ///< By metric and rendered labels
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_METRICS_H_

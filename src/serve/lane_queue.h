// Jobs that wait for one model: interactive ones first, each lane in order of arrival.
#ifndef SOTTO_SERVE_LANE_QUEUE_H_
#define SOTTO_SERVE_LANE_QUEUE_H_

#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "serve/job.h"

namespace sotto::serve {

/// Not thread-safe.
class LaneQueue {
 public:
  void push(std::shared_ptr<Job> job);
  /// The next job, or null.
  std::shared_ptr<Job> pop();
  /// The next job of the interactive lane, or null.
  std::shared_ptr<Job> pop_interactive();
  /// False when it is not here.
  bool remove(const Job& job);
  /// Jobs that go before this one; -1 when it is not here.
  [[nodiscard]] int position(const Job& job) const;
  [[nodiscard]] int size() const { return static_cast<int>(interactive_.size() + batch_.size()); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Takes all out.
  std::vector<std::shared_ptr<Job>> clear();

 private:
  using Lane = std::deque<std::shared_ptr<Job>>;
  static std::shared_ptr<Job> pop_from(Lane& lane);

  Lane interactive_, batch_;
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_LANE_QUEUE_H_

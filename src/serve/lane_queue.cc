#include "serve/lane_queue.h"

#include <algorithm>
#include <utility>

namespace sotto::serve {

void LaneQueue::push(std::shared_ptr<Job> job) {
  Lane& lane = job->request().lane == serve::Lane::kInteractive ? interactive_ : batch_;
  lane.push_back(std::move(job));
}

std::shared_ptr<Job> LaneQueue::pop_from(Lane& lane) {
  if (lane.empty()) return nullptr;
  std::shared_ptr<Job> job = std::move(lane.front());
  lane.pop_front();
  return job;
}

std::shared_ptr<Job> LaneQueue::pop_interactive() {
  return pop_from(interactive_);
}

std::shared_ptr<Job> LaneQueue::pop() {
  return pop_from(interactive_.empty() ? batch_ : interactive_);
}

bool LaneQueue::remove(const Job& job) {
  for (Lane* lane : {&interactive_, &batch_}) {
    const auto found = std::find_if(lane->begin(), lane->end(),
                                    [&](const auto& other) { return other.get() == &job; });
    if (found == lane->end()) continue;
    lane->erase(found);
    return true;
  }
  return false;
}

int LaneQueue::position(const Job& job) const {
  int position = 0;
  for (const Lane* lane : {&interactive_, &batch_}) {
    for (const auto& other : *lane) {
      if (other.get() == &job) return position;
      ++position;
    }
  }
  return -1;
}

std::vector<std::shared_ptr<Job>> LaneQueue::clear() {
  std::vector<std::shared_ptr<Job>> all(interactive_.begin(), interactive_.end());
  all.insert(all.end(), batch_.begin(), batch_.end());
  interactive_.clear();
  batch_.clear();
  return all;
}

}  // namespace sotto::serve

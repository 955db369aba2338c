// Wall time since an object was made.
#ifndef SOTTO_BASE_STOPWATCH_H_
#define SOTTO_BASE_STOPWATCH_H_

#include <chrono>

namespace sotto {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  [[nodiscard]] double ms() const { return 1000 * seconds(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sotto

#endif  // SOTTO_BASE_STOPWATCH_H_

// Fork-join parallelism for kernels.
#ifndef SOTTO_BASE_THREAD_POOL_H_
#define SOTTO_BASE_THREAD_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>

namespace sotto {

/// A fixed set of workers that run one parallel loop at a time. The calling thread takes part, so a
/// pool of n uses n - 1 extra threads and a pool of 1 none. parallel_for may be called from one
/// thread at a time (calls from several threads are serialised); it must not be called from inside
/// a task.
class ThreadPool {
 public:
  /// `threads` <= 0: one per physical core.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int size() const { return size_; }

  /// Runs fn(task, worker) for every task in [0, tasks), worker in [0, size()); tasks are handed
  /// out in order to whichever worker is free. Returns when all are done.
  void parallel_for(int64_t tasks, const std::function<void(int64_t task, int worker)>& fn);

 private:
  struct State;
  int size_;
  std::unique_ptr<State> state_;
};

}  // namespace sotto

#endif  // SOTTO_BASE_THREAD_POOL_H_

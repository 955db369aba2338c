#include "base/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cpu_features.h"

namespace sotto {
namespace {

// A decoder step forks tens of times in a few milliseconds: a worker that sleeps at once pays a
// futex wake-up (5..50 us) each time. So it looks for work for a short while first, giving its core
// away on the way when the machine is busy, and sleeps after that.
constexpr int kSpinPauses = 2000;
constexpr int kYields = 20;

void cpu_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct ThreadPool::State {
  std::vector<std::thread> threads;
  std::mutex callers;  // one parallel loop at a time
  std::mutex mutex;    // guards sleeping
  std::condition_variable wake;
  std::atomic<uint64_t> generation{0};  // bumped once per loop
  std::atomic<bool> stop{false};
  std::atomic<int> sleepers{0};
  std::atomic<int64_t> next{0};
  std::atomic<int> active{0};  // workers still inside the loop
  int64_t tasks = 0;
  const std::function<void(int64_t, int)>* fn = nullptr;

  void drain(int worker) {
    for (int64_t task = next.fetch_add(1, std::memory_order_relaxed); task < tasks;
         task = next.fetch_add(1, std::memory_order_relaxed)) {
      (*fn)(task, worker);
    }
  }

  // Waits until the generation differs from `seen` or the pool stops.
  void await(uint64_t seen) {
    const auto changed = [&] {
      return generation.load(std::memory_order_acquire) != seen || stop.load();
    };
    for (int i = 0; i < kSpinPauses; ++i) {
      if (changed()) return;
      cpu_pause();
    }
    for (int i = 0; i < kYields; ++i) {
      if (changed()) return;
      std::this_thread::yield();
    }
    std::unique_lock lock(mutex);
    sleepers.fetch_add(1);
    wake.wait(lock, changed);
    sleepers.fetch_sub(1);
  }

  void run(int worker) {
    uint64_t seen = 0;
    while (true) {
      await(seen);
      if (stop.load()) return;
      seen = generation.load(std::memory_order_acquire);
      drain(worker);
      active.fetch_sub(1, std::memory_order_release);
    }
  }
};

ThreadPool::ThreadPool(int threads)
    : size_(threads > 0 ? threads : physical_core_count()), state_(std::make_unique<State>()) {
  for (int worker = 1; worker < size_; ++worker) {
    state_->threads.emplace_back([this, worker] { state_->run(worker); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop.store(true);
  }
  state_->wake.notify_all();
  for (std::thread& thread : state_->threads)
    thread.join();
}

void ThreadPool::parallel_for(int64_t tasks, const std::function<void(int64_t, int)>& fn) {
  if (size_ == 1 || tasks <= 1) {
    const std::lock_guard one(state_->callers);
    for (int64_t task = 0; task < tasks; ++task)
      fn(task, 0);
    return;
  }
  State& s = *state_;
  const std::lock_guard one(s.callers);
  s.tasks = tasks;
  s.fn = &fn;
  s.next.store(0, std::memory_order_relaxed);
  s.active.store(size_ - 1, std::memory_order_relaxed);
  s.generation.fetch_add(1);
  if (s.sleepers.load() > 0) {
    // Taking the mutex orders this after a worker that has checked the generation but not yet begun
    // to wait.
    { const std::lock_guard lock(s.mutex); }
    s.wake.notify_all();
  }
  s.drain(0);
  for (int i = 0; s.active.load(std::memory_order_acquire) != 0; ++i) {
    if (i < kSpinPauses) {
      cpu_pause();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace sotto

#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

namespace sotto {
namespace {

class ThreadPoolSizes : public testing::TestWithParam<int> {};

TEST_P(ThreadPoolSizes, RunsEveryTaskOnceOnAValidWorker) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.size(), GetParam());
  for (int64_t tasks : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(tasks));
    pool.parallel_for(tasks, [&](int64_t task, int worker) {
      EXPECT_GE(worker, 0);
      EXPECT_LT(worker, pool.size());
      seen[static_cast<size_t>(task)].fetch_add(1);
    });
    for (auto& count : seen)
      EXPECT_EQ(count.load(), 1);
  }
}

TEST_P(ThreadPoolSizes, ManyShortLoopsAndSleepsBetween) {
  ThreadPool pool(GetParam());
  std::atomic<int64_t> sum{0};
  for (int loop = 0; loop < 2000; ++loop) {
    pool.parallel_for(3, [&](int64_t task, int) { sum.fetch_add(task); });
    if (loop % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(sum.load(), 2000 * 3);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadPoolSizes, testing::Values(1, 2, 3, 8));

TEST(ThreadPool, CallsFromSeveralThreadsAreSerialised) {
  ThreadPool pool(3);
  std::atomic<int> total{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int k = 0; k < 200; ++k)
        pool.parallel_for(5, [&](int64_t, int) { total.fetch_add(1); });
    });
  }
  for (std::thread& caller : callers)
    caller.join();
  EXPECT_EQ(total.load(), 4 * 200 * 5);
}

}  // namespace
}  // namespace sotto

#include "ops/cpu/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace sotto::ops::cpu {
namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kPage = 4096;
constexpr int64_t kMaxBytes = int64_t{1} << 46;
constexpr int64_t kMaxFreeBytes = int64_t{48} << 20;

}  // namespace

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    pool_ = std::move(other.pool_);
  }
  return *this;
}

void Buffer::release() {
  if (data_ == nullptr) return;
  if (pool_ != nullptr) {
    const std::shared_ptr<BufferPool> pool = std::move(pool_);
    pool->give_back(std::move(*this));
    return;
  }
  std::free(std::exchange(data_, nullptr));
  bytes_ = 0;
}

Result<Buffer> Buffer::allocate(int64_t bytes, Pages pages) {
  const bool huge = pages == Pages::kHuge && bytes >= kHugePage;
  const int64_t alignment = huge ? kHugePage : kAlignment;
  const int64_t size = round_up(bytes > 0 ? bytes : 1, huge ? kPage : kAlignment);
  Buffer buffer;
  if (size <= kMaxBytes) {
    void* data = nullptr;
    if (::posix_memalign(&data, static_cast<size_t>(alignment), static_cast<size_t>(size)) == 0)
      buffer.data_ = data;
  }
  if (buffer.data_ == nullptr)
    return resource_exhausted("no memory for " + std::to_string(bytes) + " bytes");
  // Advice only: without huge pages everything works, with more misses of the address cache.
  if (huge) ::madvise(buffer.data_, static_cast<size_t>(size), MADV_HUGEPAGE);
  buffer.bytes_ = size;
  return buffer;
}

Result<Buffer> BufferPool::acquire(int64_t bytes) {
  Buffer buffer;
  {
    const std::lock_guard lock(mutex_);
    size_t best = free_.size();
    for (size_t i = 0; i < free_.size(); ++i) {
      const int64_t have = free_[i].bytes();
      if (have < bytes || have > bytes + bytes / 2 + kPage) continue;
      if (best == free_.size() || have < free_[best].bytes()) best = i;
    }
    if (best < free_.size()) {
      buffer = std::move(free_[best]);
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(best));
      free_bytes_ -= buffer.bytes();
    }
  }
  if (!buffer) {
    SOTTO_ASSIGN_OR_RETURN(buffer, Buffer::allocate(bytes));
  }
  buffer.pool_ = shared_from_this();
  return buffer;
}

void BufferPool::give_back(Buffer buffer) {
  const std::lock_guard lock(mutex_);
  free_bytes_ += buffer.bytes();
  free_.push_back(std::move(buffer));
  while (free_bytes_ > kMaxFreeBytes) {
    free_bytes_ -= free_.front().bytes();
    free_.erase(free_.begin());
  }
}

}  // namespace sotto::ops::cpu

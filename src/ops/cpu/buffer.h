// Aligned memory for weights and activations.
#ifndef SOTTO_OPS_CPU_BUFFER_H_
#define SOTTO_OPS_CPU_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "sotto/status.h"

namespace sotto::ops::cpu {

inline constexpr int64_t kAlignment = 64;

constexpr int64_t round_up(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

class BufferPool;

/// Memory at a multiple of kAlignment, not cleared. Movable; goes back to its pool, if any, when it
/// dies.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  enum class Pages {
    kHuge,   ///< Large buffers ask for huge pages: fewer misses of the address cache
    kSmall,  ///< For sparse use: a page that is never written takes no memory
  };
  static Result<Buffer> allocate(int64_t bytes, Pages pages = Pages::kHuge);

  template <typename T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }
  [[nodiscard]] int64_t bytes() const { return bytes_; }
  [[nodiscard]] explicit operator bool() const { return data_ != nullptr; }

 private:
  friend class BufferPool;
  void release();

  void* data_ = nullptr;
  int64_t bytes_ = 0;
  std::shared_ptr<BufferPool> pool_;
};

/// Keeps released buffers for the next operation: the same few sizes come back for every layer, and
/// fresh pages cost as much as the arithmetic of the smaller operations.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  Result<Buffer> acquire(int64_t bytes);

 private:
  friend class Buffer;
  void give_back(Buffer buffer);

  std::mutex mutex_;
  std::vector<Buffer> free_;  ///< Oldest first
  int64_t free_bytes_ = 0;
};

}  // namespace sotto::ops::cpu

#endif  // SOTTO_OPS_CPU_BUFFER_H_

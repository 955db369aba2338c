#include "audio/recording.h"

#include <algorithm>

namespace sotto::audio {

void SampleBuffer::append(std::span<const float> samples) {
  while (!samples.empty()) {
    const int64_t offset = size_ % kBlock;
    if (offset == 0) blocks_.push_back(std::make_unique<float[]>(kBlock));
    const size_t n = std::min(samples.size(), static_cast<size_t>(kBlock - offset));
    std::copy_n(samples.begin(), n, blocks_.back().get() + offset);
    size_ += static_cast<int64_t>(n);
    samples = samples.subspan(n);
  }
}

void SampleBuffer::read(int64_t first, std::span<float> out) const {
  const auto count = static_cast<int64_t>(out.size());
  const int64_t begin = std::clamp<int64_t>(-first, 0, count);  // places before the first sample
  const int64_t end =
      std::clamp<int64_t>(size_ - first, begin, count);  // from here on beyond the last
  std::fill(out.begin(), out.begin() + begin, 0.0f);
  for (int64_t i = begin; i < end;) {
    const int64_t offset = (first + i) % kBlock;
    const int64_t n = std::min(end - i, kBlock - offset);
    std::copy_n(blocks_[static_cast<size_t>((first + i) / kBlock)].get() + offset, n,
                out.begin() + i);
    i += n;
  }
  std::fill(out.begin() + end, out.end(), 0.0f);
}

}  // namespace sotto::audio

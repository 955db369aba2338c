#include "audio/mixdown.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libavutil/opt.h>
#include <libavutil/samplefmt.h>
#include <libswresample/swresample.h>
}

namespace sotto::audio {
namespace {

// Louder floats are nonsense, and would overflow in the resampler's sums.
constexpr float kLargestSample = 16.0f;

template <typename T>
void scale_samples(const uint8_t* bytes, int count, int stride, float scale, float offset,
                   float* out) {
  const T* in = reinterpret_cast<const T*>(bytes);
  for (int i = 0; i < count; ++i)
    out[i] = (static_cast<float>(in[i * stride]) - offset) * scale;
}

// Weight of a channel in the mix; the recommendation ITU-R BS.775 with the centre, where speech is,
// at full weight. A low-frequency channel beside a centre is a subwoofer's; without a centre
// ("2.1") it is mostly the third of three microphones, so labelled by a tool that had to guess.
double channel_weight(AVChannel channel, bool has_centre) {
  switch (channel) {
    case AV_CHAN_FRONT_CENTER:
      return 1.0;
    case AV_CHAN_FRONT_LEFT:
    case AV_CHAN_FRONT_RIGHT:
      return std::sqrt(0.5);
    case AV_CHAN_LOW_FREQUENCY:
    case AV_CHAN_LOW_FREQUENCY_2:
      return has_centre ? 0.0 : std::sqrt(0.5);
    default:
      return 0.5;
  }
}

/// Weights that sum to 1. Without known places (a plain wav of 3 channels) every channel counts
/// alike: libav's guess would take the third one for a subwoofer and drop what is said there.
std::vector<float> mix_weights(const AVChannelLayout& layout) {
  const auto count = static_cast<size_t>(layout.nb_channels);
  std::vector<double> weights(count, 1.0);
  if (layout.order == AV_CHANNEL_ORDER_NATIVE || layout.order == AV_CHANNEL_ORDER_CUSTOM) {
    const bool has_centre =
        av_channel_layout_index_from_channel(&layout, AV_CHAN_FRONT_CENTER) >= 0;
    for (size_t i = 0; i < count; ++i) {
      weights[i] = channel_weight(
          av_channel_layout_channel_from_index(&layout, static_cast<unsigned>(i)), has_centre);
    }
  }
  double sum = 0;
  for (double w : weights)
    sum += w;
  std::vector<float> result(count, 1.0f / static_cast<float>(count));
  if (sum > 0) {
    for (size_t i = 0; i < count; ++i)
      result[i] = static_cast<float>(weights[i] / sum);
  }
  return result;
}

}  // namespace

void Planes::clear() {
  for (std::vector<float>& plane : data)
    plane.clear();
}

Status ChannelMixer::read_channel(const AVFrame& frame, int channel) {
  const auto format = static_cast<AVSampleFormat>(frame.format);
  const int channels = frame.ch_layout.nb_channels;
  const bool planar = av_sample_fmt_is_planar(format) != 0;
  const int stride = planar ? 1 : channels;
  const uint8_t* bytes = planar
                             ? frame.extended_data[channel]
                             : frame.extended_data[0] + channel * av_get_bytes_per_sample(format);
  const int n = frame.nb_samples;
  channel_.resize(static_cast<size_t>(n));
  float* out = channel_.data();
  switch (av_get_packed_sample_fmt(format)) {
    case AV_SAMPLE_FMT_U8:
      scale_samples<uint8_t>(bytes, n, stride, 0x1p-7f, 128.0f, out);
      return {};
    case AV_SAMPLE_FMT_S16:
      scale_samples<int16_t>(bytes, n, stride, 0x1p-15f, 0.0f, out);
      return {};
    case AV_SAMPLE_FMT_S32:
      scale_samples<int32_t>(bytes, n, stride, 0x1p-31f, 0.0f, out);
      return {};
    case AV_SAMPLE_FMT_S64:
      scale_samples<int64_t>(bytes, n, stride, 0x1p-63f, 0.0f, out);
      return {};
    case AV_SAMPLE_FMT_FLT:
      scale_samples<float>(bytes, n, stride, 1.0f, 0.0f, out);
      break;
    case AV_SAMPLE_FMT_DBL:
      scale_samples<double>(bytes, n, stride, 1.0f, 0.0f, out);
      break;
    default:
      return unsupported("unknown sample format " + std::to_string(frame.format));
  }
  for (float& x : channel_) {
    if (!std::isfinite(x)) {
      x = 0.0f;
      ++cleaned_;
    } else if (std::fabs(x) > 1.0f) {
      x = std::clamp(x, -kLargestSample, kLargestSample);
      ++beyond_;
    }
  }
  return {};
}

Status ChannelMixer::convert(const AVFrame& frame, Planes& out) {
  out.clear();
  const int channels = frame.ch_layout.nb_channels;
  if (channels < 1 || frame.nb_samples < 0) return corrupt("a frame without channels");
  total_ += int64_t{channels} * frame.nb_samples;
  if (channels <= 2) {
    out.channels = channels;
    for (int c = 0; c < channels; ++c) {
      SOTTO_RETURN_IF_ERROR(read_channel(frame, c));
      out.data[static_cast<size_t>(c)].swap(channel_);
    }
    return {};
  }
  out.channels = 1;
  const std::vector<float> weights = mix_weights(frame.ch_layout);
  std::vector<float>& mix = out.data[0];
  mix.assign(static_cast<size_t>(frame.nb_samples), 0.0f);
  for (int c = 0; c < channels; ++c) {
    const float weight = weights[static_cast<size_t>(c)];
    if (weight == 0.0f) continue;
    SOTTO_RETURN_IF_ERROR(read_channel(frame, c));
    for (size_t i = 0; i < mix.size(); ++i)
      mix[i] += weight * channel_[i];
  }
  return {};
}

Resampler::Resampler() = default;
Resampler::~Resampler() = default;
void Resampler::Free::operator()(SwrContext* context) const {
  swr_free(&context);
}

Status Resampler::configure(int rate, int channels) {
  // Below, a hostile header could blow a small file up without bound; above, no sound hardware
  // goes.
  constexpr int kLowestRate = 1000;
  constexpr int kHighestRate = 1'000'000;
  if (rate < kLowestRate || rate > kHighestRate) {
    return unsupported("a sample rate of " + std::to_string(rate) +
                       " Hz (1000 Hz to 1 MHz can be read)");
  }
  channels_ = channels;
  context_.reset();
  if (rate == kSampleRate) return {};
  AVChannelLayout layout{};
  av_channel_layout_default(&layout, channels);
  SwrContext* context = nullptr;
  int error = swr_alloc_set_opts2(&context, &layout, AV_SAMPLE_FMT_FLTP, kSampleRate, &layout,
                                  AV_SAMPLE_FMT_FLTP, rate, 0, nullptr);
  context_.reset(context);
  if (error >= 0) error = swr_init(context_.get());
  if (error < 0) return internal_error("libswresample refuses " + std::to_string(rate) + " Hz");
  return {};
}

Status Resampler::convert(const Planes& in, Planes& out) {
  if (context_ != nullptr) return run(&in, out);
  out.channels = channels_;
  for (size_t c = 0; c < static_cast<size_t>(channels_); ++c) {
    out.data[c].insert(out.data[c].end(), in.data[c].begin(), in.data[c].end());
  }
  return {};
}

Status Resampler::flush(Planes& out) {
  return context_ != nullptr ? run(nullptr, out) : Status();
}

Status Resampler::run(const Planes* in, Planes& out) {
  const int count = in != nullptr ? static_cast<int>(in->samples()) : 0;
  const int room = swr_get_out_samples(context_.get(), count);
  if (room < 0) return internal_error("libswresample cannot say how much it will write");
  out.channels = channels_;
  std::array<const uint8_t*, 2> from{};
  std::array<uint8_t*, 2> to{};
  const size_t before = out.samples();
  for (size_t c = 0; c < static_cast<size_t>(channels_); ++c) {
    if (in != nullptr) from[c] = reinterpret_cast<const uint8_t*>(in->data[c].data());
    out.data[c].resize(before + static_cast<size_t>(room));
    to[c] = reinterpret_cast<uint8_t*>(out.data[c].data() + before);
  }
  const int written =
      swr_convert(context_.get(), to.data(), room, in != nullptr ? from.data() : nullptr, count);
  for (size_t c = 0; c < static_cast<size_t>(channels_); ++c) {
    out.data[c].resize(before + static_cast<size_t>(std::max(written, 0)));
  }
  return written < 0 ? internal_error("libswresample failed") : Status();
}

RecordingSink::RecordingSink(const DecodeOptions& options, Recording& recording)
    : recording_(recording), keep_stereo_(options.keep_stereo) {
  const auto to_samples = [](double seconds) {
    constexpr double kMost = 1e15;  // fits int64_t with room for sums
    return static_cast<int64_t>(std::llround(std::clamp(seconds * kSampleRate, 0.0, kMost)));
  };
  first_ = to_samples(options.start_s);
  last_ = options.length_s < 0 ? std::numeric_limits<int64_t>::max()
                               : first_ + to_samples(options.length_s);
}

bool RecordingSink::full() const {
  return seen_ >= last_;
}

void RecordingSink::append(const Planes& planes) {
  const auto count = static_cast<int64_t>(planes.samples());
  const int64_t begin = std::clamp<int64_t>(first_ - seen_, 0, count);
  const int64_t end = std::clamp<int64_t>(last_ - seen_, begin, count);
  seen_ += count;
  if (begin == end) return;
  if (begin == 0 && end == count) {
    take(planes);
    return;
  }
  Planes part;
  part.channels = planes.channels;
  for (size_t c = 0; c < static_cast<size_t>(planes.channels); ++c) {
    part.data[c].assign(planes.data[c].begin() + begin, planes.data[c].begin() + end);
  }
  take(part);
}

void RecordingSink::take(const Planes& planes) {
  if (planes.channels == 1) {
    finish();  // a source may turn from stereo to mono; what is pending comes first
    mono_ = planes.data[0];
    for (float& x : mono_)
      x = std::clamp(x, -1.0f, 1.0f);
    recording_.mono.append(mono_);
    return;
  }
  if (polarity_ != Polarity::kUnknown) {
    emit_stereo(planes);
    return;
  }
  for (size_t i = 0; i < planes.samples(); ++i) {
    const double mid = planes.data[0][i] + planes.data[1][i];
    const double side = planes.data[0][i] - planes.data[1][i];
    mid_energy_ += mid * mid;
    side_energy_ += side * side;
  }
  for (size_t c = 0; c < 2; ++c) {
    pending_.data[c].insert(pending_.data[c].end(), planes.data[c].begin(), planes.data[c].end());
  }
  pending_.channels = 2;
  // Half a minute tells; digital silence says nothing and mixes alike, so it need not wait.
  constexpr size_t kEnough = size_t{30} * kSampleRate;
  if (mid_energy_ + side_energy_ == 0.0) {
    emit_stereo(pending_);
    pending_.clear();
  } else if (pending_.samples() >= kEnough) {
    decide_polarity();
  }
}

void RecordingSink::decide_polarity() {
  // 20 dB apart: ordinary stereo, however wide, is far from that.
  constexpr double kCancelled = 0.01;
  polarity_ = mid_energy_ < kCancelled * side_energy_ ? Polarity::kInverted : Polarity::kNormal;
  if (polarity_ == Polarity::kInverted) {
    recording_.warnings.emplace_back(
        "the right channel is the left one inverted and would cancel it; it was flipped before "
        "mixing");
  }
  emit_stereo(pending_);
  pending_.clear();
}

void RecordingSink::emit_stereo(const Planes& planes) {
  const float right_weight = polarity_ == Polarity::kInverted ? -0.5f : 0.5f;
  mono_.resize(planes.samples());
  for (size_t i = 0; i < mono_.size(); ++i) {
    mono_[i] = std::clamp(0.5f * planes.data[0][i] + right_weight * planes.data[1][i], -1.0f, 1.0f);
  }
  recording_.mono.append(mono_);
  if (!keep_stereo_) return;
  for (size_t c = 0; c < 2; ++c) {
    mono_ = planes.data[c];
    for (float& x : mono_)
      x = std::clamp(x, -1.0f, 1.0f);
    (c == 0 ? recording_.left : recording_.right).append(mono_);
  }
}

void RecordingSink::finish() {
  if (pending_.samples() > 0) decide_polarity();
}

}  // namespace sotto::audio

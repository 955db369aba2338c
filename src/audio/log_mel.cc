#include "audio/log_mel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <new>
#include <numbers>
#include <string>

#include "audio/real_fft.h"

namespace sotto::audio {
namespace {

constexpr auto kLanes = static_cast<int>(RealFft400::kLanes);
using Lanes = RealFft400::Lanes;

// log10 of the floor that the energies are clipped to: what silence gives.
constexpr float kEnergyFloor = 1e-10f;
constexpr float kSilence = -10.0f;
constexpr float kDynamicRange = 8.0f;  // in powers of ten below the maximum

float normalise(float log_energy, float maximum) {
  return (std::max(log_energy, maximum - kDynamicRange) + 4.0f) / 4.0f;
}

/// log10 of a positive normal number, within 3e-7; written without branches so that loops over it
/// vectorise. ln(m) = 2 atanh((m - 1) / (m + 1)) by its series, with m in [sqrt(1/2), sqrt(2)).
inline float log10_positive(float x) {
  constexpr uint32_t kSqrtHalf = 0x3F3504F3;
  const uint32_t shifted = std::bit_cast<uint32_t>(x) - kSqrtHalf;
  const auto exponent = static_cast<float>(static_cast<int32_t>(shifted) >> 23);
  const float m = std::bit_cast<float>((shifted & 0x007FFFFFU) + kSqrtHalf);
  const float s = (m - 1.0f) / (m + 1.0f);
  const float z = s * s;
  const float series =
      s * (2.0f + z * (2.0f / 3 + z * (2.0f / 5 + z * (2.0f / 7 + z * (2.0f / 9)))));
  constexpr auto kLog10Of2 = static_cast<float>(std::numbers::ln2 / std::numbers::ln10);
  constexpr auto kLog10OfE = static_cast<float>(1.0 / std::numbers::ln10);
  return exponent * kLog10Of2 + series * kLog10OfE;
}

/// A filter bank without the zeros around each filter's triangle.
class FilterBank {
 public:
  FilterBank(std::span<const float> filters, int n_mels) {
    for (int m = 0; m < n_mels; ++m) {
      const auto row = filters.subspan(static_cast<size_t>(m) * kSpectrumBins, kSpectrumBins);
      int begin = 0, end = kSpectrumBins;
      while (begin < end && row[static_cast<size_t>(begin)] == 0.0f)
        ++begin;
      while (end > begin && row[static_cast<size_t>(end - 1)] == 0.0f)
        --end;
      bands_.push_back({begin, end, weights_.size()});
      weights_.insert(weights_.end(), row.begin() + begin, row.begin() + end);
    }
  }

  /// out[l][m] = log10 of the band's energy in frame l, for the first `frames` lanes; out: [kLanes,
  /// n_mels].
  void apply(const Lanes* power, int frames, float* out) const {
    const size_t n_mels = bands_.size();
    for (size_t m = 0; m < n_mels; ++m) {
      const Band& band = bands_[m];
      const float* w = weights_.data() + band.first_weight;
      Lanes sum{};
      for (int k = band.begin; k < band.end; ++k, ++w) {
        for (int l = 0; l < kLanes; ++l)
          sum[static_cast<size_t>(l)] += *w * power[k][static_cast<size_t>(l)];
      }
      for (float& x : sum)
        x = log10_positive(std::max(x, kEnergyFloor));
      for (int l = 0; l < frames; ++l)
        out[static_cast<size_t>(l) * n_mels + m] = sum[static_cast<size_t>(l)];
    }
  }

 private:
  struct Band {
    int begin, end;
    size_t first_weight;
  };
  std::vector<Band> bands_;
  std::vector<float> weights_;
};

/// Everything one worker needs to turn samples into log energies.
struct Scratch {
  RealFft400 fft;
  std::vector<float> samples;
  std::array<Lanes, kFrameSamples> frames;
  std::array<Lanes, kSpectrumBins> power;
};

std::array<float, kFrameSamples> periodic_hann() {
  std::array<float, kFrameSamples> window;
  for (size_t i = 0; i < window.size(); ++i) {
    window[i] = static_cast<float>(
        0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * static_cast<double>(i) / kFrameSamples));
  }
  return window;
}

/// Samples [first, first + out.size()); before the recording its reflection, beyond it zeros.
void read_reflected(const SampleBuffer& samples, int64_t first, std::span<float> out) {
  samples.read(first, out);
  if (first >= 0) return;
  std::array<float, kFrameSamples / 2 + 1> start;
  samples.read(0, start);
  for (int64_t i = 0; first + i < 0; ++i)
    out[static_cast<size_t>(i)] = start[static_cast<size_t>(-(first + i))];
}

/// Log energies of frames [first, first + count) into out [count, n_mels].
void compute_frames(const SampleBuffer& samples, const FilterBank& bank, int64_t first,
                    int64_t count, size_t n_mels, Scratch& scratch, float* out) {
  static const std::array<float, kFrameSamples> kWindow = periodic_hann();
  scratch.samples.resize(static_cast<size_t>((count + kLanes - 1) * kHopSamples + kFrameSamples));
  read_reflected(samples, first * kHopSamples - kFrameSamples / 2, scratch.samples);
  for (int64_t f = 0; f < count; f += kLanes) {
    const float* x = scratch.samples.data() + f * kHopSamples;
    for (size_t i = 0; i < kFrameSamples; ++i) {
      for (size_t l = 0; l < kLanes; ++l)
        scratch.frames[i][l] = kWindow[i] * x[l * kHopSamples + i];
    }
    scratch.fft.power(scratch.frames.data(), scratch.power.data());
    bank.apply(scratch.power.data(), static_cast<int>(std::min<int64_t>(kLanes, count - f)), out);
    out += static_cast<size_t>(kLanes) * n_mels;
  }
}

}  // namespace

std::vector<float> mel_filters(int n_mels) {
  // Slaney's scale (Auditory Toolbox, 1998): linear below 1 kHz, logarithmic above.
  constexpr double kHzPerMel = 200.0 / 3;
  constexpr double kBreakHz = 1000.0;
  constexpr double kBreakMel = kBreakHz / kHzPerMel;
  const double log_step = std::log(6.4) / 27.0;
  const double top_mel = kBreakMel + std::log(kSampleRate / 2 / kBreakHz) / log_step;

  std::vector<double> edges(static_cast<size_t>(n_mels) +
                            2);  // filter m spans edges m to m + 2, its peak at m + 1
  for (size_t i = 0; i < edges.size(); ++i) {
    const double mel = top_mel * static_cast<double>(i) / (n_mels + 1);
    edges[i] =
        mel < kBreakMel ? mel * kHzPerMel : kBreakHz * std::exp(log_step * (mel - kBreakMel));
  }
  std::vector<float> filters(static_cast<size_t>(n_mels) * kSpectrumBins);
  for (size_t m = 0; m < static_cast<size_t>(n_mels); ++m) {
    const double low = edges[m], peak = edges[m + 1], high = edges[m + 2];
    for (size_t k = 0; k < kSpectrumBins; ++k) {
      const double hz = static_cast<double>(k) * kSampleRate / kFrameSamples;
      const double height = std::min((hz - low) / (peak - low), (high - hz) / (high - peak));
      filters[m * kSpectrumBins + k] =
          static_cast<float>(std::max(0.0, height) * 2.0 / (high - low));
    }
  }
  return filters;
}

Result<LogMel> LogMel::compute(const SampleBuffer& samples, int n_mels, ThreadPool& pool,
                               std::span<const float> filters,
                               const std::function<bool()>& should_stop) {
  if (n_mels < 1 || n_mels > kSpectrumBins) {
    return invalid_argument(std::to_string(n_mels) + " mel bands; 1 to 201 are possible");
  }
  const auto bands = static_cast<size_t>(n_mels);
  if (!filters.empty() && filters.size() != bands * kSpectrumBins) {
    return invalid_argument("a mel filter bank of " + std::to_string(filters.size()) +
                            " numbers; " + std::to_string(bands * kSpectrumBins) + " are needed");
  }
  const std::vector<float> own_filters =
      filters.empty() ? mel_filters(n_mels) : std::vector<float>();
  const FilterBank bank(filters.empty() ? std::span<const float>(own_filters) : filters, n_mels);

  LogMel mel;
  mel.n_mels_ = n_mels;
  mel.frames_ = samples.size() / kHopSamples;
  // Frame t reads samples 160 t - 200 to 160 t + 199, so this many reach into the recording.
  const int64_t reaching =
      samples.size() == 0 ? 0 : (samples.size() + kFrameSamples / 2 - 1) / kHopSamples + 1;
  try {
    mel.log_energy_.resize(static_cast<size_t>(reaching) * bands);
  } catch (const std::bad_alloc&) {
    return resource_exhausted(
        "not enough memory for the features of this recording; transcribe it in parts");
  }

  constexpr int64_t kTaskFrames = 256;
  constexpr int64_t kTasksBetweenStops = 64;  // about 160 s of sound
  const int64_t tasks = (reaching + kTaskFrames - 1) / kTaskFrames;
  std::vector<std::unique_ptr<Scratch>> scratch(static_cast<size_t>(pool.size()));
  std::vector<float> maxima(static_cast<size_t>(tasks), kSilence);
  for (int64_t done = 0; done < tasks; done += kTasksBetweenStops) {
    if (should_stop && should_stop()) return cancelled("stopped while computing features");
    pool.parallel_for(std::min(kTasksBetweenStops, tasks - done), [&](int64_t task, int worker) {
      std::unique_ptr<Scratch>& own = scratch[static_cast<size_t>(worker)];
      if (own == nullptr) own = std::make_unique<Scratch>();
      const int64_t first = (done + task) * kTaskFrames;
      const int64_t count = std::min(kTaskFrames, reaching - first);
      float* out = mel.log_energy_.data() + static_cast<size_t>(first) * bands;
      compute_frames(samples, bank, first, count, bands, *own, out);
      maxima[static_cast<size_t>(done + task)] =
          *std::max_element(out, out + static_cast<size_t>(count) * bands);
    });
  }
  mel.maximum_ = kSilence;
  for (float m : maxima)
    mel.maximum_ = std::max(mel.maximum_, m);
  return mel;
}

void LogMel::window(int64_t first, int64_t n, std::span<float> out, Beyond beyond) const {
  const auto bands = static_cast<size_t>(n_mels_);
  const int64_t reaching = static_cast<int64_t>(log_energy_.size() / bands);
  const int64_t known = beyond == Beyond::kZero ? frames_ : reaching;
  const float rest = beyond == Beyond::kZero ? 0.0f : normalise(kSilence, maximum_);
  for (int64_t t = 0; t < n; ++t) {
    float* row = out.data() + static_cast<size_t>(t) * bands;
    if (first + t < 0 || first + t >= known) {
      std::fill_n(row, bands, rest);
      continue;
    }
    const float* in = log_energy_.data() + static_cast<size_t>(first + t) * bands;
    for (size_t m = 0; m < bands; ++m)
      row[m] = normalise(in[m], maximum_);
  }
}

}  // namespace sotto::audio

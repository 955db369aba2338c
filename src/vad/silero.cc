#include "vad/silero.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace sotto::vad {
namespace {

// Geometry of the network; the shapes of the weights are checked against it.
constexpr int kContext = 64;  // samples of the chunk before that are seen again
constexpr int kReflect = 64;  // samples mirrored at the end
constexpr int kPadded = kContext + kChunkSamples + kReflect;
constexpr int kStftSize = 256, kStftHop = 128;
constexpr int kColumns = (kPadded - kStftSize) / kStftHop + 1;  // 4
constexpr int kBins = kStftSize / 2 + 1;
constexpr int kTaps = 3;
constexpr int kHidden = 128;
constexpr int kGates = 4 * kHidden;

struct ConvShape {
  int in, out, stride;
};
constexpr std::array<ConvShape, 4> kConv = {
    {{kBins, 128, 1}, {128, 64, 2}, {64, 64, 2}, {64, kHidden, 1}}};

// Columns of each convolution's input (4, 4, 2, 1); one column of zeros stands before and one
// behind them.
constexpr int columns_before(size_t layer) {
  int columns = kColumns;
  for (size_t i = 0; i < layer; ++i)
    columns = (columns - 1) / kConv[i].stride + 1;
  return columns;
}
constexpr int padded_size(size_t layer) {
  return (columns_before(layer) + 2) * kConv[layer].in;
}
static_assert(columns_before(kConv.size()) == 1, "the LSTM takes one step a chunk");

Result<std::vector<float>> read_floats(const models::ModelFile& file, const char* name,
                                       const std::vector<int64_t>& dims) {
  SOTTO_ASSIGN_OR_RETURN(const TensorView view, file.tensor(name, dims));
  if (view.dtype != DType::kF32) {
    return unsupported(file.path + ": " + name + " is " + std::string(dtype_info(view.dtype).name) +
                       "; f32 is needed");
  }
  std::vector<float> out(static_cast<size_t>(view.elements()));
  std::memcpy(out.data(), view.bytes.data(), view.bytes.size());
  return out;
}

/// [out, in, taps] as files hold it to [out, taps, in], so that a product over neighbouring columns
/// is a convolution.
std::vector<float> taps_outermost(const std::vector<float>& weight, const ConvShape& shape) {
  std::vector<float> result(weight.size());
  const auto in = static_cast<size_t>(shape.in);
  for (size_t o = 0; o < static_cast<size_t>(shape.out); ++o) {
    for (size_t i = 0; i < in; ++i) {
      for (size_t t = 0; t < kTaps; ++t)
        result[(o * kTaps + t) * in + i] = weight[(o * in + i) * kTaps + t];
    }
  }
  return result;
}

void relu(float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    x[i] = std::max(x[i], 0.0f);
}

float sigmoid(float x) {
  return 1.0f / (1.0f + std::exp(-x));
}

}  // namespace

Result<std::shared_ptr<const Silero>> Silero::load(const std::string& path, CpuIsa isa) {
  SOTTO_ASSIGN_OR_RETURN(const models::ModelFile file, models::open_model_file(path));
  std::shared_ptr<Silero> model(new Silero());
  const Status status = model->read(file, kernels::kernel_table(isa));
  if (!status.ok()) {
    return unsupported(path +
                       ": not a Silero VAD model of version 6 for 16 kHz in safetensors form (" +
                       status.message() + "); `sotto pull silero-vad` fetches it");
  }
  return std::shared_ptr<const Silero>(std::move(model));
}

Status Silero::read(const models::ModelFile& file, const kernels::KernelTable& kernels) {
  SOTTO_ASSIGN_OR_RETURN(const std::vector<float> stft,
                         read_floats(file, "stft_conv.weight", {2 * kBins, 1, kStftSize}));
  stft_ = PackedLinear(kernels, stft, {}, 2 * kBins, kStftSize);
  for (size_t i = 0; i < kConv.size(); ++i) {
    const ConvShape& shape = kConv[i];
    const std::string name = "conv" + std::to_string(i + 1);
    SOTTO_ASSIGN_OR_RETURN(
        const std::vector<float> weight,
        read_floats(file, (name + ".weight").c_str(), {shape.out, shape.in, kTaps}));
    SOTTO_ASSIGN_OR_RETURN(std::vector<float> bias,
                           read_floats(file, (name + ".bias").c_str(), {shape.out}));
    conv_[i] = PackedLinear(kernels, taps_outermost(weight, shape), std::move(bias), shape.out,
                            kTaps * shape.in);
  }
  SOTTO_ASSIGN_OR_RETURN(const std::vector<float> input,
                         read_floats(file, "lstm_cell.weight_ih", {kGates, kHidden}));
  SOTTO_ASSIGN_OR_RETURN(const std::vector<float> state,
                         read_floats(file, "lstm_cell.weight_hh", {kGates, kHidden}));
  SOTTO_ASSIGN_OR_RETURN(std::vector<float> bias, read_floats(file, "lstm_cell.bias_ih", {kGates}));
  SOTTO_ASSIGN_OR_RETURN(const std::vector<float> state_bias,
                         read_floats(file, "lstm_cell.bias_hh", {kGates}));
  std::transform(bias.begin(), bias.end(), state_bias.begin(), bias.begin(), std::plus<>());
  lstm_input_ = PackedLinear(kernels, input, std::move(bias), kGates, kHidden);
  lstm_state_ = PackedLinear(kernels, state, {}, kGates, kHidden);
  SOTTO_ASSIGN_OR_RETURN(out_weight_, read_floats(file, "final_conv.weight", {1, kHidden, 1}));
  SOTTO_ASSIGN_OR_RETURN(const std::vector<float> out_bias,
                         read_floats(file, "final_conv.bias", {1}));
  out_bias_ = out_bias[0];
  return {};
}

/// Buffers of a batch. Convolution inputs keep their columns of zeros for ever: only what lies
/// between is written.
struct SileroStream::Scratch {
  std::array<float, kContext> context{};
  std::array<float, kHidden> hidden{}, cell{};

  std::array<float, static_cast<size_t>(kBatch) * kPadded> samples{};
  std::array<float, static_cast<size_t>(kColumns) * 2 * kBins> spectrum{};
  std::array<float, padded_size(0)> magnitudes{};
  std::array<float, padded_size(1)> after_conv1{};
  std::array<float, static_cast<size_t>(kBatch) * padded_size(2)> after_conv2{};
  std::array<float, static_cast<size_t>(kBatch) * padded_size(3)> after_conv3{};
  std::array<float, static_cast<size_t>(kBatch) * kHidden> after_conv4{};
  std::array<float, static_cast<size_t>(kBatch) * kGates> gates{};
  std::array<float, kGates> step_gates{};
};

SileroStream::SileroStream(std::shared_ptr<const Silero> model)
    : model_(std::move(model)), scratch_(std::make_shared<Scratch>()) {}

void SileroStream::reset() {
  scratch_->context.fill(0);
  scratch_->hidden.fill(0);
  scratch_->cell.fill(0);
}

void SileroStream::push(std::span<const float> samples, std::span<float> probabilities) {
  for (size_t done = 0; done < probabilities.size(); done += kBatch) {
    const auto chunks = static_cast<int>(std::min<size_t>(kBatch, probabilities.size() - done));
    push_batch(samples.data() + done * kChunkSamples, chunks, probabilities.data() + done);
  }
}

void SileroStream::push_batch(const float* samples, int chunks, float* probabilities) {
  Scratch& s = *scratch_;
  for (int c = 0; c < chunks; ++c) {
    float* padded = s.samples.data() + static_cast<int64_t>(c) * kPadded;
    std::copy(s.context.begin(), s.context.end(), padded);
    std::copy_n(samples + static_cast<int64_t>(c) * kChunkSamples, kChunkSamples,
                padded + kContext);
    constexpr int kEnd = kContext + kChunkSamples;
    std::copy_n(padded + kEnd - kContext, kContext, s.context.begin());
    for (int i = 0; i < kReflect; ++i)
      padded[kEnd + i] = padded[kEnd - 2 - i];
  }
  encode(chunks);
  for (int c = 0; c < chunks; ++c)
    probabilities[c] = step(s.gates.data() + static_cast<int64_t>(c) * kGates);
}

// Samples of the batch to the LSTM's gate inputs. Nothing here depends on the chunk before but its
// context.
void SileroStream::encode(int chunks) {
  Scratch& s = *scratch_;
  const auto& conv = model_->conv_;
  for (int64_t c = 0; c < chunks; ++c) {
    model_->stft_.run(kColumns, s.samples.data() + c * kPadded, kStftHop, s.spectrum.data(),
                      2 * kBins);
    for (int64_t t = 0; t < kColumns; ++t) {
      const float* re = s.spectrum.data() + t * 2 * kBins;
      const float* im = re + kBins;
      float* magnitude = s.magnitudes.data() + (t + 1) * kBins;
      for (int64_t k = 0; k < kBins; ++k)
        magnitude[k] = std::sqrt(re[k] * re[k] + im[k] * im[k]);
    }
    float* conv1_out = s.after_conv1.data() + kConv[1].in;
    conv[0].run(kColumns, s.magnitudes.data(), kBins, conv1_out, kConv[1].in);
    relu(conv1_out, kColumns * int64_t{kConv[1].in});
    float* conv2_out = s.after_conv2.data() + c * padded_size(2) + kConv[2].in;
    conv[1].run(columns_before(2), s.after_conv1.data(), kConv[1].stride * kConv[1].in, conv2_out,
                kConv[2].in);
    relu(conv2_out, columns_before(2) * int64_t{kConv[2].in});
  }
  // From here on a chunk is one column, so the whole batch is one product.
  conv[2].run(chunks, s.after_conv2.data(), padded_size(2), s.after_conv3.data() + kConv[3].in,
              padded_size(3));
  for (int64_t c = 0; c < chunks; ++c)
    relu(s.after_conv3.data() + c * padded_size(3) + kConv[3].in, kConv[3].in);
  conv[3].run(chunks, s.after_conv3.data(), padded_size(3), s.after_conv4.data(), kHidden);
  relu(s.after_conv4.data(), int64_t{chunks} * kHidden);
  model_->lstm_input_.run(chunks, s.after_conv4.data(), kHidden, s.gates.data(), kGates);
}

// One step of the LSTM and the output layer. Source: Hochreiter and Schmidhuber 1997 with forget
// gates.
float SileroStream::step(const float* gates) {
  Scratch& s = *scratch_;
  model_->lstm_state_.run(1, s.hidden.data(), kHidden, s.step_gates.data(), kGates, gates, kGates);
  const float* g = s.step_gates.data();
  float logit = model_->out_bias_;
  for (size_t i = 0; i < kHidden; ++i) {
    const float in = sigmoid(g[i]), forget = sigmoid(g[kHidden + i]);
    const float candidate = std::tanh(g[2 * kHidden + i]), out = sigmoid(g[3 * kHidden + i]);
    s.cell[i] = forget * s.cell[i] + in * candidate;
    s.hidden[i] = out * std::tanh(s.cell[i]);
    logit += model_->out_weight_[i] * std::max(s.hidden[i], 0.0f);
  }
  return sigmoid(logit);
}

Result<std::vector<float>> speech_probabilities(const std::shared_ptr<const Silero>& model,
                                                const audio::SampleBuffer& samples,
                                                const std::function<bool()>& should_stop) {
  constexpr int64_t kChunksBetweenStops = 128;  // 4 s of sound
  const int64_t chunks = (samples.size() + kChunkSamples - 1) / kChunkSamples;
  std::vector<float> probabilities(static_cast<size_t>(chunks));
  std::vector<float> part(kChunksBetweenStops * kChunkSamples);
  SileroStream stream(model);
  for (int64_t done = 0; done < chunks; done += kChunksBetweenStops) {
    if (should_stop && should_stop()) return cancelled("stopped while looking for speech");
    const int64_t count = std::min(kChunksBetweenStops, chunks - done);
    const auto input = std::span(part).first(static_cast<size_t>(count * kChunkSamples));
    samples.read(done * kChunkSamples, input);
    stream.push(
        input,
        std::span(probabilities).subspan(static_cast<size_t>(done), static_cast<size_t>(count)));
  }
  return probabilities;
}

}  // namespace sotto::vad

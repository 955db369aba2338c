// The one seam between models and hardware: coarse tensor operations that a device may fuse, chain
// and keep to itself.
//
// Models (whisper, llm) are written once against this interface. Shapes stand in brackets; rows are
// time steps or tokens, columns are features. Every operation returns a Result because a device can
// fail; the CPU fails only on wrong shapes. A Backend and everything made by it is used from one
// thread at a time.
#ifndef SOTTO_OPS_BACKEND_H_
#define SOTTO_OPS_BACKEND_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "sotto/status.h"
#include "sotto/transcript.h"

namespace sotto::ops {

/// Device memory behind an Activation; each backend has its own kind.
class ActivationStorage {
 public:
  virtual ~ActivationStorage() = default;
};

/// Handle to a matrix [rows, cols] that lives on a device, in that device's own layout and
/// precision. Copies share the storage; the values are never changed after the operation that made
/// them has returned.
class Activation {
 public:
  Activation() = default;
  Activation(int64_t rows, int64_t cols, std::shared_ptr<ActivationStorage> storage)
      : rows_(rows), cols_(cols), storage_(std::move(storage)) {}
  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t cols() const { return cols_; }
  [[nodiscard]] ActivationStorage* storage() const { return storage_.get(); }

 private:
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  std::shared_ptr<ActivationStorage> storage_;
};

/// A matrix with an optional bias as it lies in the model file. Several parts are stacked along the
/// output rows (query, key and value in one product). The viewed bytes must stay valid only during
/// upload().
struct LinearSource {
  std::string name;                 ///< For messages and counters, e.g. "encoder.3.mlp.fc1"
  std::vector<TensorView> weights;  ///< Each [out_i, in]
  std::vector<TensorView>
      biases;  ///< One a part, [out_i]; a part without bias has an empty view; may be empty
  /// Multiplied with whole windows (the encoder's), not with single tokens: worth a copy on an
  /// accelerator that is made for large products.
  bool many_rows = false;
  /// Of a feed-forward block. Between its two layers a few values are large and many small, which
  /// one scale a row cannot hold: int8 computes such a block in floats where `many_rows` makes that
  /// cheap.
  bool feed_forward = false;
};

/// Device-resident weights. The concrete types belong to the backend.
class LinearWeight {
 public:
  virtual ~LinearWeight() = default;
  int64_t out = 0, in = 0;
};
class NormWeight {  ///< Scale and shift of a layer norm (shift absent for RMS norm), [dim].
 public:
  virtual ~NormWeight() = default;
  int64_t dim = 0;
};
class Table {  ///< Rows that are looked up or added: token embeddings, positions. [rows, cols].
 public:
  virtual ~Table() = default;
  int64_t rows = 0, cols = 0;
};
using LinearRef = std::shared_ptr<const LinearWeight>;
using NormRef = std::shared_ptr<const NormWeight>;
using TableRef = std::shared_ptr<const Table>;

/// What happens to x*W^T + bias before it is stored: first GELU (exact, erf form) if asked, then
/// `residual` is added.
struct Epilogue {
  bool gelu = false;
  const Activation* residual = nullptr;  ///< Same shape as the result
  /// The result is read only by products and attention (query, key, value): it may be kept in their
  /// input precision.
  bool feeds_products = false;
};

/// Keys and values of one window's encoder output for every decoder layer.
class CrossKv {
 public:
  virtual ~CrossKv() = default;
  int64_t source_rows = 0;
};
using CrossKvRef = std::shared_ptr<const CrossKv>;

struct KvCacheShape {
  int64_t layers = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t max_positions = 0;
  int64_t max_sequences = 0;  ///< Beams of all windows decoded together
};

/// Keys and values of the tokens decoded so far. Sequences are slots 0..max_sequences-1.
class KvCache {
 public:
  virtual ~KvCache() = default;
  KvCacheShape shape;

  /// Slot i continues slot parents[i] from now on (history of positions below `length`). Costs no
  /// copy of keys or values: rows are found through an index. parents.size() <= max_sequences; a
  /// parent may be used many times.
  virtual Status reorder(std::span<const int> parents, int64_t length) = 0;
  /// Forgets everything.
  virtual void clear() = 0;
};

/// Where a row of a decoder activation stands: token `position` of cache slot `sequence`.
struct TokenRow {
  int sequence = 0;
  int64_t position = 0;
};

/// Attention probabilities that a caller wants to see (word alignment): for each listed head, one
/// row of [source_rows] softmax values per query row is written to out[head_index][row][source],
/// f32.
struct AttentionProbe {
  std::vector<int> heads;
  std::vector<float> out;  ///< Resized by the operation to heads * rows * source_rows
};

/// What one kind of operation has cost so far and where it ran.
struct OpCounter {
  std::string op;      ///< "linear", "conv1d", "self_attention", …
  std::string device;  ///< "cpu", "npu", "sim"
  std::string type;  ///< Of the factors of its products: "f32", "bf16", "int8"; empty: it has none
  int64_t calls = 0;
  double seconds = 0;
  double flops = 0;             ///< 2 * multiply-accumulates
  int64_t fallbacks = 0;        ///< Calls that ran on the CPU although this device was asked
  std::string fallback_reason;  ///< Of the last one
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// "cpu (avx512_bf16), bf16, 2 threads"
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual std::vector<OpCounter> counters() const = 0;
  virtual void reset_counters() = 0;
  /// How it is set up, and its measured peaks; takes about a tenth of a second. Nothing is known
  /// where an implementation does not say.
  virtual DeviceProfile measure_profile() { return {}; }

  // Weights. A value that is NaN or infinite is kCorrupt: whoever packs sees every value, and a
  // check ahead of that would read the file twice.
  virtual Result<LinearRef> upload_linear(const LinearSource& source) = 0;
  /// Kernel [out, in, width]; run by conv1d as a product over gathered rows.
  virtual Result<LinearRef> upload_conv1d(const LinearSource& source) = 0;
  /// `beta` may be an empty view.
  virtual Result<NormRef> upload_norm(const TensorView& gamma, const TensorView& beta) = 0;
  /// The viewed bytes must outlive the table (a mapped model file): rows are converted when they
  /// are looked up.
  virtual Result<TableRef> upload_table(const TensorView& rows) = 0;

  // Data in and out. Nothing else copies between host and device.
  virtual Result<Activation> from_host(std::span<const float> data, int64_t rows, int64_t cols) = 0;
  virtual Status to_host(const Activation& x, std::span<float> out) = 0;

  // Operations.
  /// Convolution of width 3 with padding 1 over the rows of x [t, in] -> [(t + stride - 1) /
  /// stride, out], then GELU, then `add` (a Table with at least that many rows, e.g. positions) if
  /// not null.
  virtual Result<Activation> conv1d_gelu(const Activation& x, const LinearWeight& w, int stride,
                                         const Table* add) = 0;
  /// (x - mean) / sqrt(var + 1e-5) * gamma + beta, per row.
  virtual Result<Activation> layer_norm(const Activation& x, const NormWeight& w) = 0;
  /// x [n, in] -> [n, out]
  virtual Result<Activation> linear(const Activation& x, const LinearWeight& w,
                                    const Epilogue& epilogue) = 0;
  /// residual + W2(gelu(W1 x + b1)) + b2
  virtual Result<Activation> mlp(const Activation& x, const LinearWeight& w1,
                                 const LinearWeight& w2, const Activation& residual) = 0;
  /// Attention of every row to every row of its own window, without mask. qkv [windows * t, 3 d]
  /// with query, key and value side by side -> [windows * t, d]. Scores are scaled by 1 / sqrt(d /
  /// heads).
  virtual Result<Activation> self_attention(const Activation& qkv, int heads, int windows) = 0;

  // Decoder.
  virtual Result<std::unique_ptr<KvCache>> create_kv_cache(const KvCacheShape& shape) = 0;
  /// Table rows of the given tokens plus, if positions is not null, its rows at the given positions
  /// -> [n, d]
  virtual Result<Activation> embed(const Table& tokens, std::span<const int> ids,
                                   const Table* positions, std::span<const TokenRow> rows) = 0;
  /// Stores key and value of each row of qkv [n, 3 d] at its place in the cache, then attends from
  /// each row to the positions 0..its own of its sequence -> [n, d]
  virtual Result<Activation> cached_attention(const Activation& qkv, KvCache& cache, int layer,
                                              std::span<const TokenRow> rows, int heads) = 0;
  /// Keys and values of the encoder output x [t, d] under each layer's fused weight [2 d, d] (key,
  /// then value).
  virtual Result<CrossKvRef> cross_kv(const Activation& x, std::span<const LinearRef> key_value,
                                      int heads) = 0;
  /// Attention from row i of q [n, d] to sources[i] -> [n, d]. `probe` may be null.
  virtual Result<Activation> cross_attention(const Activation& q,
                                             std::span<const CrossKv* const> sources, int layer,
                                             int heads, AttentionProbe* probe) = 0;
  /// Rows of x by index -> [indices.size(), d]
  virtual Result<Activation> gather_rows(const Activation& x, std::span<const int64_t> indices) = 0;
};

}  // namespace sotto::ops

#endif  // SOTTO_OPS_BACKEND_H_

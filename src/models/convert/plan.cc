#include "models/convert/plan.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "models/formats/tensor_index.h"

namespace sotto::convert {
namespace {

using whisper::Naming;
using whisper::NamingTable;
using ModuleName = std::string_view NamingTable::*;

class Planner {
 public:
  Planner(const Checkpoint& checkpoint, const Naming& target)
      : file_(checkpoint.file),
        config_(checkpoint.config),
        source_(checkpoint.naming),
        target_(target),
        from_(*source_.table),
        to_(*target.table) {}

  Result<Plan> run() {
    const int64_t d = config_.d_model;
    SOTTO_RETURN_IF_ERROR(conv(&NamingTable::conv1, config_.n_mels));
    SOTTO_RETURN_IF_ERROR(conv(&NamingTable::conv2, d));
    SOTTO_RETURN_IF_ERROR(
        table(&NamingTable::encoder_positions, Role::kPositions, config_.n_audio_ctx));
    SOTTO_RETURN_IF_ERROR(norm(root(&NamingTable::encoder_norm)));
    for (int i = 0; i < config_.encoder_layers; ++i)
      SOTTO_RETURN_IF_ERROR(layer({false, i}));
    SOTTO_RETURN_IF_ERROR(table(&NamingTable::token_embedding, Role::kMatrix, config_.n_vocab));
    SOTTO_RETURN_IF_ERROR(
        table(&NamingTable::decoder_positions, Role::kPositions, config_.n_text_ctx));
    SOTTO_RETURN_IF_ERROR(norm(root(&NamingTable::decoder_norm)));
    for (int i = 0; i < config_.decoder_layers; ++i) {
      SOTTO_RETURN_IF_ERROR(layer({true, i}));
      SOTTO_RETURN_IF_ERROR(cross_attention({true, i}));
    }
    SOTTO_RETURN_IF_ERROR(projection());
    return std::move(plan_);
  }

 private:
  /// A module's name in both families.
  struct Pair {
    std::string from, to;
  };
  struct Layer {
    bool decoder;
    int index;
  };

  [[nodiscard]] Pair root(ModuleName name) const {
    return {source_.module(from_.*name), target_.module(to_.*name)};
  }
  static std::string in_layer(const Naming& naming, Layer layer, std::string_view name) {
    return layer.decoder ? naming.decoder_module(layer.index, name)
                         : naming.encoder_module(layer.index, name);
  }
  [[nodiscard]] Pair module(Layer layer, ModuleName name) const {
    return {in_layer(source_, layer, from_.*name), in_layer(target_, layer, to_.*name)};
  }

  /// The source's tensor; trailing dimensions of 1, which whisper.cpp gives the biases of the
  /// convolutions, are dropped.
  Result<TensorView> fetch(const std::string& name, const std::vector<int64_t>& dims) const {
    SOTTO_ASSIGN_OR_RETURN(TensorView view, file_.tensor(name));
    while (view.dims.size() > dims.size() && view.dims.back() == 1)
      view.dims.pop_back();
    if (view.dims == dims) return view;
    return corrupt(file_.path + ": tensor " + models::printable(name) + " has shape " +
                   models::shape_text(view.dims) + ", but " + models::shape_text(dims) +
                   " is needed");
  }

  void add(std::string name, Role role, StackedTensor source) {
    plan_.tensors.push_back({std::move(name), role, std::move(source)});
  }

  Status copy(const Pair& name, Role role, const std::vector<int64_t>& dims) {
    SOTTO_ASSIGN_OR_RETURN(TensorView view, fetch(name.from, dims));
    add(name.to, role, StackedTensor(std::move(view)));
    return {};
  }

  [[nodiscard]] Pair weight(const Pair& name) const {
    return {name.from + std::string(from_.weight), name.to + std::string(to_.weight)};
  }
  [[nodiscard]] Pair bias(const Pair& name) const {
    return {name.from + std::string(from_.bias), name.to + std::string(to_.bias)};
  }

  Status conv(ModuleName name, int64_t in) {
    SOTTO_RETURN_IF_ERROR(copy(weight(root(name)), Role::kConv, {config_.d_model, in, 3}));
    return copy(bias(root(name)), Role::kConvBias, {config_.d_model});
  }

  Status table(ModuleName name, Role role, int64_t rows) {
    return copy(root(name), role, {rows, config_.d_model});
  }

  Status norm(const Pair& name) {
    const std::vector<int64_t> dims = {config_.d_model};
    SOTTO_RETURN_IF_ERROR(
        copy({name.from + std::string(from_.norm_scale), name.to + std::string(to_.norm_scale)},
             Role::kVector, dims));
    return copy({name.from + std::string(from_.norm_shift), name.to + std::string(to_.norm_shift)},
                Role::kVector, dims);
  }

  Status linear(const Pair& name, int64_t out, int64_t in) {
    SOTTO_RETURN_IF_ERROR(copy(weight(name), Role::kMatrix, {out, in}));
    return copy(bias(name), Role::kVector, {out});
  }

  /// Part `k` of n modules of [d, d]: a tensor of its own, or rows of the fused one.
  Result<TensorView> fetch_part(Layer layer, std::span<const std::string_view> parts, size_t k,
                                std::string_view suffix, std::vector<int64_t> dims) const {
    const bool fused = parts[1].empty();
    const std::string name = in_layer(source_, layer, parts[fused ? 0 : k]) + std::string(suffix);
    if (!fused) return fetch(name, dims);
    const int64_t rows = dims[0];
    dims[0] *= static_cast<int64_t>(parts.size());
    SOTTO_ASSIGN_OR_RETURN(const TensorView view, fetch(name, dims));
    return slice_rows(view, static_cast<int64_t>(k) * rows, rows);
  }

  /// The bias of part `k`. Whisper's keys have none: fused formats hold zeros, others leave it out.
  Result<TensorView> fetch_bias(Layer layer, std::span<const std::string_view> parts, size_t k,
                                bool is_key) const {
    const std::string own = in_layer(source_, layer, parts[k]) + std::string(from_.bias);
    if (is_key && !parts[1].empty() && !file_.tensors.contains(own))
      return zero_vector(config_.d_model);
    return fetch_part(layer, parts, k, from_.bias, {config_.d_model});
  }

  /// Query, key and value, or key and value: the key is the last but one.
  template <size_t kParts>
  Status stack(Layer layer, std::array<std::string_view, kParts> NamingTable::*parts) {
    const std::array<std::string_view, kParts>& to = to_.*parts;
    const bool fuse = to[1].empty();
    StackedTensor weights, biases;
    for (size_t k = 0; k < kParts; ++k) {
      const bool is_key = k + 2 == kParts;
      SOTTO_ASSIGN_OR_RETURN(TensorView w, fetch_part(layer, from_.*parts, k, from_.weight,
                                                      {config_.d_model, config_.d_model}));
      SOTTO_ASSIGN_OR_RETURN(TensorView b, fetch_bias(layer, from_.*parts, k, is_key));
      if (fuse) {
        weights.append(std::move(w));
        biases.append(std::move(b));
        continue;
      }
      const std::string name = in_layer(target_, layer, to[k]);
      add(name + std::string(to_.weight), Role::kMatrix, StackedTensor(std::move(w)));
      if (!is_key) {
        add(name + std::string(to_.bias), Role::kVector, StackedTensor(std::move(b)));
      } else if (!is_zero(b)) {
        return unsupported(file_.path + ": the keys of " +
                           in_layer(source_, layer, (from_.*parts)[0]) + " have a bias, which " +
                           std::string(to_.family) + "'s names have no place for");
      }
    }
    if (!fuse) return {};
    const std::string name = in_layer(target_, layer, to[0]);
    add(name + std::string(to_.weight), Role::kMatrix, std::move(weights));
    add(name + std::string(to_.bias), Role::kVector, std::move(biases));
    return {};
  }

  Status layer(Layer layer) {
    const int64_t d = config_.d_model;
    SOTTO_RETURN_IF_ERROR(norm(module(layer, &NamingTable::self_norm)));
    SOTTO_RETURN_IF_ERROR(stack(layer, &NamingTable::self_qkv));
    SOTTO_RETURN_IF_ERROR(linear(module(layer, &NamingTable::self_out), d, d));
    SOTTO_RETURN_IF_ERROR(norm(module(layer, &NamingTable::mlp_norm)));
    const Pair up = module(layer, &NamingTable::mlp_up);
    SOTTO_ASSIGN_OR_RETURN(const TensorView inner, file_.tensor(weight(up).from));
    SOTTO_RETURN_IF_ERROR(linear(up, inner.rows(), d));
    return linear(module(layer, &NamingTable::mlp_down), d, inner.rows());
  }

  Status cross_attention(Layer layer) {
    const int64_t d = config_.d_model;
    SOTTO_RETURN_IF_ERROR(norm(module(layer, &NamingTable::cross_norm)));
    SOTTO_RETURN_IF_ERROR(linear(module(layer, &NamingTable::cross_query), d, d));
    SOTTO_RETURN_IF_ERROR(stack(layer, &NamingTable::cross_kv));
    return linear(module(layer, &NamingTable::cross_out), d, d);
  }

  /// Files may name the projection although it is the embedding, as an alias or as a copy.
  Status projection() {
    // Transformers writes proj_out without the "model." prefix.
    const std::string name(from_.projection);
    if (name.empty() || !file_.tensors.contains(name)) return {};
    const std::vector<int64_t> dims = {config_.n_vocab, config_.d_model};
    SOTTO_ASSIGN_OR_RETURN(TensorView own, fetch(name, dims));
    SOTTO_ASSIGN_OR_RETURN(const TensorView embedding,
                           fetch(source_.module(from_.token_embedding), dims));
    const bool same = own.dtype == embedding.dtype &&
                      std::ranges::equal(own.bytes, embedding.bytes) &&
                      std::ranges::equal(own.row_scales, embedding.row_scales);
    if (same) return {};
    if (to_.projection.empty()) {
      return unsupported(file_.path + ": the output projection " + models::printable(name) +
                         " differs from the token embedding, which " + std::string(to_.family) +
                         "'s names have no place for; convert to ctranslate2 or safetensors");
    }
    plan_.tied = false;
    add(std::string(to_.projection), Role::kMatrix, StackedTensor(std::move(own)));
    return {};
  }

  const models::ModelFile& file_;
  const whisper::Config& config_;
  const Naming& source_;
  const Naming& target_;
  const NamingTable& from_;
  const NamingTable& to_;
  Plan plan_;
};

}  // namespace

Result<Plan> make_plan(const Checkpoint& checkpoint, const Naming& target) {
  return Planner(checkpoint, target).run();
}

}  // namespace sotto::convert

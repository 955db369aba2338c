#include "whisper/weights.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "models/formats/tensor_index.h"

namespace sotto::whisper {
namespace {

/// Fetches tensors of one file with the checks that all of them need, and hands them to the
/// backend.
class Uploader {
 public:
  Uploader(const models::ModelFile& file, const Naming& naming, const Config& config,
           ops::Backend& backend)
      : file_(file),
        naming_(naming),
        names_(*naming.table),
        d_(config.d_model),
        backend_(backend) {}

  /// One weight of the modules' rows stacked, each [out, in]. The flags are LinearSource's.
  Result<ops::LinearRef> linear(const std::vector<std::string>& modules, int64_t out, int64_t in,
                                bool many_rows, bool feed_forward = false) const {
    ops::LinearSource source;
    source.name = modules[0];
    source.many_rows = many_rows;
    source.feed_forward = feed_forward;
    for (const std::string& module : modules) {
      SOTTO_RETURN_IF_ERROR(add_part(module, {out, in}, source));
    }
    return finish(source, modules, backend_.upload_linear(source));
  }

  Result<ops::LinearRef> conv(std::string_view module, int64_t out, int64_t in) const {
    ops::LinearSource source;
    source.name = naming_.module(module);
    source.many_rows = true;
    SOTTO_RETURN_IF_ERROR(add_part(source.name, {out, in, 3}, source));
    return finish(source, {source.name}, backend_.upload_conv1d(source));
  }

  Result<ops::NormRef> norm(const std::string& module) const {
    SOTTO_ASSIGN_OR_RETURN(const TensorView gamma,
                           plain(module + std::string(names_.norm_scale), {d_}));
    SOTTO_ASSIGN_OR_RETURN(const TensorView beta,
                           plain(module + std::string(names_.norm_shift), {d_}));
    auto uploaded = backend_.upload_norm(gamma, beta);
    if (!uploaded.ok()) return uploaded.status().with_context(file_.path + ": " + module);
    return uploaded;
  }

  /// The largest tensor. Where it is the logits' weight too, that upload finds what is wrong with
  /// it.
  Result<ops::TableRef> token_embedding(int64_t vocabulary) const {
    const std::string name = naming_.module(names_.token_embedding);
    const auto found = file_.tensors.find(name);
    const auto projection = file_.tensors.find(projection_tensor());
    const bool shared = found != file_.tensors.end() && projection != file_.tensors.end() &&
                        found->second.bytes.data() == projection->second.bytes.data();
    return table(name, vocabulary, /*check=*/!shared);
  }

  Result<ops::TableRef> positions(std::string_view tensor, int64_t rows) const {
    return table(naming_.module(tensor), rows, /*check=*/true);
  }

  Result<ops::LinearRef> logits(int64_t vocabulary) const {
    const std::string tensor = projection_tensor();
    SOTTO_ASSIGN_OR_RETURN(const TensorView view, matrix(tensor, {vocabulary, d_}));
    const ops::LinearSource source{
        .name = tensor, .weights = {view}, .biases = {}, .many_rows = false, .feed_forward = false};
    return finish(source, {tensor}, backend_.upload_linear(source));
  }

  Result<EncoderLayerWeights> layer(int index, bool decoder) const {
    const auto module = [&](std::string_view name) {
      return decoder ? naming_.decoder_module(index, name) : naming_.encoder_module(index, name);
    };
    EncoderLayerWeights out;
    SOTTO_ASSIGN_OR_RETURN(out.self_norm, norm(module(names_.self_norm)));
    SOTTO_ASSIGN_OR_RETURN(out.self_qkv, stacked(module, names_.self_qkv, !decoder));
    SOTTO_ASSIGN_OR_RETURN(out.self_out, linear({module(names_.self_out)}, d_, d_, !decoder));
    SOTTO_ASSIGN_OR_RETURN(out.mlp_norm, norm(module(names_.mlp_norm)));
    // The inner width is four times d in every known checkpoint, but nothing depends on that.
    const std::string up = module(names_.mlp_up);
    SOTTO_ASSIGN_OR_RETURN(const TensorView inner, file_.tensor(up + std::string(names_.weight)));
    if (inner.rows() < 1) return corrupt(file_.path + ": tensor '" + up + "' is empty");
    SOTTO_ASSIGN_OR_RETURN(out.mlp_up,
                           linear({up}, inner.rows(), d_, !decoder, /*feed_forward=*/true));
    SOTTO_ASSIGN_OR_RETURN(out.mlp_down, linear({module(names_.mlp_down)}, d_, inner.rows(),
                                                !decoder, /*feed_forward=*/true));
    return out;
  }

  Result<DecoderLayerWeights> decoder_layer(int index) const {
    DecoderLayerWeights out;
    SOTTO_ASSIGN_OR_RETURN(static_cast<EncoderLayerWeights&>(out), layer(index, true));
    SOTTO_ASSIGN_OR_RETURN(out.cross_norm, norm(naming_.decoder_module(index, names_.cross_norm)));
    SOTTO_ASSIGN_OR_RETURN(
        out.cross_query,
        linear({naming_.decoder_module(index, names_.cross_query)}, d_, d_, false));
    SOTTO_ASSIGN_OR_RETURN(
        out.cross_out, linear({naming_.decoder_module(index, names_.cross_out)}, d_, d_, false));
    return out;
  }

  Result<ops::LinearRef> cross_kv(int index) const {
    return stacked([&](std::string_view name) { return naming_.decoder_module(index, name); },
                   names_.cross_kv, false);
  }

 private:
  /// Transformers writes proj_out without the "model." prefix, and seldom at all.
  [[nodiscard]] std::string projection_tensor() const {
    const std::string own(names_.projection);
    return file_.tensors.contains(own) ? own : naming_.module(names_.token_embedding);
  }

  Result<ops::TableRef> table(const std::string& name, int64_t rows, bool check) const {
    SOTTO_ASSIGN_OR_RETURN(const TensorView view, matrix(name, {rows, d_}));
    if (check) SOTTO_RETURN_IF_ERROR(check_finite(name, view));
    auto uploaded = backend_.upload_table(view);
    if (!uploaded.ok()) return uploaded.status().with_context(file_.path + ": " + name);
    MappedFile::release_pages(view.bytes);
    return uploaded;
  }

  /// One linear weight of several modules of [d, d] each, or of a single fused one.
  template <typename ModuleName, size_t kParts>
  Result<ops::LinearRef> stacked(const ModuleName& module,
                                 const std::array<std::string_view, kParts>& parts,
                                 bool many_rows) const {
    if (parts[1].empty())
      return linear({module(parts[0])}, static_cast<int64_t>(kParts) * d_, d_, many_rows);
    std::vector<std::string> modules;
    for (const std::string_view part : parts)
      modules.push_back(module(part));
    return linear(modules, d_, d_, many_rows);
  }

  Status add_part(const std::string& module, const std::vector<int64_t>& dims,
                  ops::LinearSource& source) const {
    SOTTO_ASSIGN_OR_RETURN(const TensorView weight,
                           matrix(module + std::string(names_.weight), dims));
    source.weights.push_back(weight);
    // Whisper's key projections have no bias; every other bias that is missing shows in the shape
    // of a broken file.
    const std::string bias_name = module + std::string(names_.bias);
    const bool may_lack_bias = module.ends_with("key") || module.ends_with("k_proj");
    if (may_lack_bias && !file_.tensors.contains(bias_name)) {
      source.biases.emplace_back();
      return {};
    }
    SOTTO_ASSIGN_OR_RETURN(const TensorView bias, plain(bias_name, {dims[0]}));
    source.biases.push_back(bias);
    return {};
  }

  /// Of a module, or of a tensor that is named in full.
  [[nodiscard]] std::string tensor_name(const std::string& module) const {
    return file_.tensors.contains(module) ? module : module + std::string(names_.weight);
  }

  /// A tensor that products or look-ups can read: floats, ggml blocks, or int8 with a scale for
  /// each row. Whether plain floats are finite is for the backend to find, which reads them all.
  Result<TensorView> matrix(const std::string& name, const std::vector<int64_t>& dims) const {
    SOTTO_ASSIGN_OR_RETURN(const TensorView view, shaped(name, dims));
    if (view.dtype == DType::kI8 && view.row_scales.empty())
      return wrong_type(name, view, "a scale for each row");
    constexpr std::array<DType, 5> kIntegers = {DType::kI16, DType::kI32, DType::kI64, DType::kU8,
                                                DType::kBool};
    if (std::find(kIntegers.begin(), kIntegers.end(), view.dtype) != kIntegers.end()) {
      return wrong_type(name, view, "floats, int8 or blocks of ggml");
    }
    if (!scales_finite(view)) return not_finite(name);
    return view;
  }

  /// A tensor of plain floats.
  Result<TensorView> plain(const std::string& name, const std::vector<int64_t>& dims) const {
    SOTTO_ASSIGN_OR_RETURN(const TensorView view, shaped(name, dims));
    if (view.dtype != DType::kF32 && view.dtype != DType::kF16 && view.dtype != DType::kBf16) {
      return wrong_type(name, view, "f32, f16 or bf16");
    }
    SOTTO_RETURN_IF_ERROR(check_finite(name, view));
    return view;
  }

  Result<TensorView> shaped(const std::string& name, const std::vector<int64_t>& dims) const {
    SOTTO_ASSIGN_OR_RETURN(TensorView view, file_.tensor(name));
    // whisper.cpp stores the biases of the convolutions as [n, 1].
    while (view.dims.size() > dims.size() && view.dims.back() == 1)
      view.dims.pop_back();
    if (view.dims != dims) {
      return corrupt(file_.path + ": tensor '" + name + "' has shape " +
                     models::shape_text(view.dims) + ", expected " + models::shape_text(dims));
    }
    return view;
  }

  Status check_finite(const std::string& name, const TensorView& view) const {
    return all_finite(view) ? Status() : not_finite(name);
  }

  Status not_finite(const std::string& name) const {
    return corrupt(file_.path + ": tensor '" + name +
                   "' holds NaN or infinity; the file is damaged or its conversion went wrong");
  }

  Status wrong_type(const std::string& name, const TensorView& view,
                    std::string_view expected) const {
    return unsupported(file_.path + ": tensor '" + name + "' is stored as " +
                       std::string(dtype_info(view.dtype).name) + ", expected " +
                       std::string(expected));
  }

  Result<ops::LinearRef> finish(const ops::LinearSource& source,
                                const std::vector<std::string>& modules,
                                Result<ops::LinearRef> uploaded) const {
    if (!uploaded.ok()) {
      // The backend looked at every value; only here it is known what the parts are called.
      for (size_t i = 0; i < modules.size(); ++i) {
        if (!all_finite(source.weights[i])) return not_finite(tensor_name(modules[i]));
      }
      return uploaded.status().with_context(file_.path + ": " + source.name);
    }
    // The device has its own copy now; keeping the file's pages resident would double the memory in
    // use.
    for (const TensorView& weight : source.weights)
      MappedFile::release_pages(weight.bytes);
    return uploaded;
  }

  const models::ModelFile& file_;
  const Naming& naming_;
  const NamingTable& names_;
  const int64_t d_;
  ops::Backend& backend_;
};

}  // namespace

Result<Weights> upload_weights(const models::ModelFile& file, const Naming& naming,
                               const Config& config, ops::Backend& backend) {
  const Uploader uploader(file, naming, config, backend);
  const NamingTable& names = *naming.table;
  Weights out;
  SOTTO_ASSIGN_OR_RETURN(out.conv1, uploader.conv(names.conv1, config.d_model, config.n_mels));
  SOTTO_ASSIGN_OR_RETURN(out.conv2, uploader.conv(names.conv2, config.d_model, config.d_model));
  SOTTO_ASSIGN_OR_RETURN(out.audio_positions,
                         uploader.positions(names.encoder_positions, config.n_audio_ctx));
  for (int i = 0; i < config.encoder_layers; ++i) {
    SOTTO_ASSIGN_OR_RETURN(auto layer, uploader.layer(i, false));
    out.encoder.push_back(std::move(layer));
  }
  SOTTO_ASSIGN_OR_RETURN(out.encoder_norm, uploader.norm(naming.module(names.encoder_norm)));
  SOTTO_ASSIGN_OR_RETURN(out.token_embedding, uploader.token_embedding(config.n_vocab));
  SOTTO_ASSIGN_OR_RETURN(out.text_positions,
                         uploader.positions(names.decoder_positions, config.n_text_ctx));
  for (int i = 0; i < config.decoder_layers; ++i) {
    SOTTO_ASSIGN_OR_RETURN(auto layer, uploader.decoder_layer(i));
    out.decoder.push_back(std::move(layer));
    SOTTO_ASSIGN_OR_RETURN(auto kv, uploader.cross_kv(i));
    out.cross_kv.push_back(std::move(kv));
  }
  SOTTO_ASSIGN_OR_RETURN(out.decoder_norm, uploader.norm(naming.module(names.decoder_norm)));
  SOTTO_ASSIGN_OR_RETURN(out.logits, uploader.logits(config.n_vocab));
  return out;
}

}  // namespace sotto::whisper

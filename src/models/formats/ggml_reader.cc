// whisper.cpp's ggml .bin. Source: the loader of ggml-org/whisper.cpp and its
// models/convert-pt-to-ggml.py.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "models/formats/byte_reader.h"
#include "models/formats/ggml_header.h"
#include "models/formats/ggml_types.h"
#include "models/formats/model_file.h"
#include "models/formats/tensor_index.h"

namespace sotto::models {
namespace {

constexpr int32_t kMaxHeaderValue = 1 << 24;
constexpr uint64_t kMaxTokenBytes = 4096;
constexpr int32_t kMaxGgmlRank = 4;

/// A positive 32-bit count of which each element takes at least `min_bytes_each` bytes of what is
/// left.
Result<uint64_t> read_count(ByteReader& in, std::string_view what, uint64_t min_bytes_each) {
  SOTTO_ASSIGN_OR_RETURN(const int32_t count, in.number<int32_t>(what));
  if (count < 0 || static_cast<uint64_t>(count) > in.left() / min_bytes_each) {
    return corrupt(std::string(what) + " is " + std::to_string(count) + ", but only " +
                   std::to_string(in.left()) + " bytes are left (an incomplete download?)");
  }
  return static_cast<uint64_t>(count);
}

/// whisper.cpp's voice-activity models share the magic number; their header begins with a name.
bool is_vad_model(std::span<const std::byte> bytes) {
  constexpr std::string_view kName = "silero";
  return bytes.size() >= 8 + kName.size() &&
         std::memcmp(bytes.data() + 8, kName.data(), kName.size()) == 0;
}

Status read_header(ByteReader& in, ModelFile& out) {
  for (const std::string_view name : kGgmlHeader) {
    SOTTO_ASSIGN_OR_RETURN(const int32_t value, in.number<int32_t>("the header"));
    if (value < 0 || value > kMaxHeaderValue || (value == 0 && name != "ftype")) {
      return corrupt("the header's " + std::string(name) + " is " + std::to_string(value) +
                     "; this is not a Whisper model in whisper.cpp's format");
    }
    out.metadata[std::string(name)] = int64_t{value};
  }
  return {};
}

Status read_mel_filters(ByteReader& in, ModelFile& out) {
  SOTTO_ASSIGN_OR_RETURN(const uint64_t n_mels, read_count(in, "the number of mel filters", 4));
  SOTTO_ASSIGN_OR_RETURN(const uint64_t n_bins, read_count(in, "the length of a mel filter", 4));
  if (n_bins != 0 && n_mels > in.left() / (4 * n_bins)) {
    return corrupt("the file ends inside its mel filters (" + std::to_string(n_mels) + " x " +
                   std::to_string(n_bins) + "; an incomplete download?)");
  }
  SOTTO_ASSIGN_OR_RETURN(const auto data, in.take(n_mels * n_bins * 4, "the mel filters"));
  out.metadata["mel_filter_bins"] = static_cast<int64_t>(n_bins);
  out.mel_filters.resize(n_mels * n_bins);
  if (!data.empty()) std::memcpy(out.mel_filters.data(), data.data(), data.size());
  return {};
}

Status read_vocabulary(ByteReader& in, ModelFile& out) {
  SOTTO_ASSIGN_OR_RETURN(const uint64_t count, read_count(in, "the size of the vocabulary", 4));
  for (uint64_t i = 0; i < count; ++i) {
    const std::string what = "token " + std::to_string(i) + " of the vocabulary";
    SOTTO_ASSIGN_OR_RETURN(const uint32_t length, in.number<uint32_t>(what));
    if (length > kMaxTokenBytes)
      return corrupt(what + " is " + std::to_string(length) + " bytes long");
    SOTTO_ASSIGN_OR_RETURN(std::string token, in.text(length, what));
    out.vocabulary.push_back(std::move(token));
  }
  return {};
}

Status read_tensor(ByteReader& in, ModelFile& out) {
  const std::string what = "the header of the tensor at offset " + std::to_string(in.position());
  SOTTO_ASSIGN_OR_RETURN(const int32_t rank, in.number<int32_t>(what));
  SOTTO_ASSIGN_OR_RETURN(const int32_t name_length, in.number<int32_t>(what));
  SOTTO_ASSIGN_OR_RETURN(const int32_t type, in.number<int32_t>(what));
  if (rank < 0 || rank > kMaxGgmlRank)
    return corrupt(what + " claims " + std::to_string(rank) + " dimensions");
  if (name_length < 0 || static_cast<uint64_t>(name_length) > kMaxNameBytes) {
    return corrupt(what + " claims a name of " + std::to_string(name_length) + " bytes");
  }
  TensorView view;
  for (int32_t i = 0; i < rank; ++i) {
    SOTTO_ASSIGN_OR_RETURN(const int32_t dim, in.number<int32_t>(what));
    view.dims.push_back(dim);
  }
  std::reverse(view.dims.begin(), view.dims.end());  // the file has the innermost first
  SOTTO_ASSIGN_OR_RETURN(std::string name, in.text(static_cast<uint64_t>(name_length), what));
  const std::string context = "tensor " + printable(name);

  const Result<DType> dtype = ggml_dtype(static_cast<uint32_t>(type));
  if (!dtype.ok()) return dtype.status().with_context(context);
  view.dtype = *dtype;
  const Result<int64_t> size = tensor_bytes(view.dtype, view.dims);
  if (!size.ok()) return size.status().with_context(context);
  SOTTO_ASSIGN_OR_RETURN(view.bytes,
                         in.take(static_cast<uint64_t>(*size), "the data of " + context));
  return add_tensor(out, std::move(name), std::move(view));
}

/// The format has no count of tensors, so a file cut between two of them is seen only by counting
/// what a Whisper model of its size consists of: per attention q, k, v, out (k without bias) and a
/// norm, per MLP two matrices and a norm.
Status check_tensor_count(const ModelFile& out) {
  constexpr int64_t kAttention = 4 + 3 + 2, kMlp = 4 + 2;
  constexpr int64_t kEncoderStem = 4 + 1 + 2;  // two convolutions, positions, final norm
  constexpr int64_t kDecoderStem = 2 + 2;      // token and position embeddings, final norm
  const auto header = [&](const char* name) {
    return std::get<int64_t>(out.metadata.find(name)->second);
  };
  const int64_t expected = kEncoderStem + kDecoderStem +
                           header("n_audio_layer") * (kAttention + kMlp) +
                           header("n_text_layer") * (2 * kAttention + kMlp);
  const auto count = static_cast<int64_t>(out.tensors.size());
  if (count >= expected) return {};
  return corrupt("the file holds " + std::to_string(count) +
                 " tensors; a Whisper model of its size has " + std::to_string(expected) +
                 " (an incomplete download?)");
}

}  // namespace

Status read_ggml(std::span<const std::byte> bytes, ModelFile& out) {
  out.format = FileFormat::kGgml;
  ByteReader in(bytes);
  SOTTO_ASSIGN_OR_RETURN(const uint32_t magic, in.number<uint32_t>("the magic number"));
  if (magic != kGgmlMagic) return corrupt("the magic number is not that of whisper.cpp's format");
  if (is_vad_model(bytes)) {
    return unsupported(
        "this is a voice-activity model of whisper.cpp, not a Whisper model (ggml-tiny.bin, …)");
  }
  SOTTO_RETURN_IF_ERROR(read_header(in, out));
  SOTTO_RETURN_IF_ERROR(read_mel_filters(in, out));
  SOTTO_RETURN_IF_ERROR(read_vocabulary(in, out));
  while (in.left() != 0)
    SOTTO_RETURN_IF_ERROR(read_tensor(in, out));
  return check_tensor_count(out);
}

}  // namespace sotto::models

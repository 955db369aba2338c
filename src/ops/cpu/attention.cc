#include "ops/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "ops/cpu/product.h"

namespace sotto::ops::cpu {
namespace {

using kernels::AttentionArgs;
using kernels::AttentionKernel;
using kernels::GemmType;

// Query rows of one task; a multiple of every kernel's tile. Fewer tasks would leave threads idle
// at the end, smaller ones would read each head's keys and values more often.
constexpr int64_t kQueryBlock = 96;

const std::byte* at(const void* base, int64_t elements, GemmType type) {
  return static_cast<const std::byte*>(base) + elements * element_bytes(type);
}

float score_scale(int64_t head_dim) {
  return 1.0f / std::sqrt(static_cast<float>(head_dim));
}

// Packs one head: rows of `head_dim` elements, `ld` apart.
void pack_head(const Context& context, const PackedHeads& layout, const std::byte* k,
               const std::byte* v, int64_t ld, std::byte* out) {
  const AttentionKernel& kernel = context.attention();
  const int64_t depth = kernels::gemm_depth(kernel.type);
  const int64_t cols = kernel.tile_cols;
  const int64_t words = layout.head_dim / depth;
  for (int64_t first = 0; first < layout.keys; first += cols) {
    context.kernels.pack.words(reinterpret_cast<const uint32_t*>(at(k, first * ld, kernel.type)),
                               ld / depth, std::min(cols, layout.keys - first), words, cols,
                               reinterpret_cast<uint32_t*>(out) + first * words);
  }
  out += layout.key_bytes;
  const int64_t value_words = round_up(layout.keys, cols) / depth;
  for (int64_t first = 0; first < layout.head_dim; first += cols) {
    const int64_t n = std::min(cols, layout.head_dim - first);
    std::byte* panel = out + first * value_words * 4;
    const std::byte* from = at(v, first, kernel.type);
    if (kernel.type == GemmType::kBf16) {
      context.kernels.pack.pairs_bf16(reinterpret_cast<const uint16_t*>(from), ld, layout.keys, n,
                                      value_words, cols, reinterpret_cast<uint16_t*>(panel));
      continue;
    }
    std::memset(panel, 0, static_cast<size_t>(value_words * cols * 4));
    for (int64_t i = 0; i < layout.keys; ++i) {
      std::memcpy(panel + i * cols * 4, from + i * ld * 4, static_cast<size_t>(n * 4));
    }
  }
}

Status check_heads(const char* op, int64_t width, int64_t parts, int heads, GemmType type) {
  if (heads < 1 || width % (parts * heads) != 0 || width / (parts * heads) > kernels::kMaxHeadDim ||
      width / (parts * heads) % kernels::gemm_depth(type) != 0) {
    return invalid_argument(std::string(op) + ": a row of " + std::to_string(width) +
                            " values cannot be split into " + std::to_string(heads) + " heads");
  }
  return {};
}

// The result of attention [rows, cols]: in the precision of the next product when it is large, else
// f32.
Status make_result(Context& context, int64_t rows, int64_t cols, bool narrow, CpuActivation& out,
                   AttentionArgs& args) {
  if (narrow && context.float_type() == GemmType::kBf16) {
    SOTTO_ASSIGN_OR_RETURN(out.bf16, make_matrix<uint16_t>(context, rows, cols));
    args.out16 = out.bf16.data;
    args.ld_out16 = out.bf16.ld;
  } else {
    SOTTO_ASSIGN_OR_RETURN(out.f32, make_matrix<float>(context, rows, cols));
    args.out = out.f32.data;
    args.ld_out = out.f32.ld;
  }
  return {};
}

// The part of `args` for one head's columns and the rows from `row` on.
AttentionArgs part(const AttentionArgs& args, GemmType type, int64_t row, int64_t rows,
                   int64_t col) {
  AttentionArgs p = args;
  p.rows = rows;
  p.q = at(args.q, row * args.ldq + col, type);
  if (args.out != nullptr) p.out += row * args.ld_out + col;
  if (args.out16 != nullptr) p.out16 += row * args.ld_out16 + col;
  return p;
}

}  // namespace

PackedHeads::PackedHeads(const AttentionKernel& kernel, int64_t keys_, int64_t head_dim_)
    : keys(keys_), head_dim(head_dim_) {
  const int64_t padded = round_up(keys, kernel.tile_cols);
  key_bytes = round_up(padded * head_dim * element_bytes(kernel.type), kAlignment);
  value_bytes = round_up(padded * round_up(head_dim, kernel.tile_cols) * element_bytes(kernel.type),
                         kAlignment);
}

Result<Activation> self_attention(Context& context, const Activation& qkv, int heads, int windows) {
  const AttentionKernel& kernel = context.attention();
  SOTTO_RETURN_IF_ERROR(check_heads("self_attention", qkv.cols(), 3, heads, kernel.type));
  if (windows < 1 || qkv.rows() < windows || qkv.rows() % windows != 0) {
    return invalid_argument("self_attention: " + std::to_string(qkv.rows()) + " rows are not " +
                            std::to_string(windows) + " windows");
  }
  SOTTO_ASSIGN_OR_RETURN(const Rows rows, rows_as(context, qkv, kernel.type, "self_attention"));
  const int64_t d = qkv.cols() / 3;
  const int64_t keys = qkv.rows() / windows;
  const PackedHeads layout(kernel, keys, d / heads);
  SOTTO_ASSIGN_OR_RETURN(const Buffer packed,
                         context.buffers->acquire(windows * heads * layout.bytes()));
  context.pool.parallel_for(int64_t{windows} * heads, [&](int64_t i, int) {
    const std::byte* k =
        at(rows.data, i / heads * keys * rows.ld + d + i % heads * layout.head_dim, kernel.type);
    pack_head(context, layout, k, at(k, d, kernel.type), rows.ld,
              packed.as<std::byte>() + i * layout.bytes());
  });

  auto out = std::make_shared<CpuActivation>();
  AttentionArgs args;
  args.keys = keys;
  args.head_dim = layout.head_dim;
  args.q = rows.data;
  args.ldq = rows.ld;
  args.scale = score_scale(layout.head_dim);
  SOTTO_RETURN_IF_ERROR(make_result(context, qkv.rows(), d, true, *out, args));
  const int64_t blocks = (keys + kQueryBlock - 1) / kQueryBlock;
  context.pool.parallel_for(windows * heads * blocks, [&](int64_t task, int) {
    const int64_t i = task / blocks;
    const int64_t first = task % blocks * kQueryBlock;
    AttentionArgs p = part(args, kernel.type, i / heads * keys + first,
                           std::min(kQueryBlock, keys - first), i % heads * layout.head_dim);
    p.k = packed.as<std::byte>() + i * layout.bytes();
    p.v = packed.as<std::byte>() + i * layout.bytes() + layout.key_bytes;
    kernel.run(p);
  });
  return Activation(qkv.rows(), d, std::move(out));
}

Result<CrossKvRef> cross_kv(Context& context, const Activation& x,
                            std::span<const LinearRef> key_value, int heads) {
  const AttentionKernel& kernel = context.attention();
  SOTTO_RETURN_IF_ERROR(check_heads("cross_kv", x.cols(), 1, heads, kernel.type));
  auto kv = std::make_shared<CpuCrossKv>();
  kv->source_rows = x.rows();
  kv->heads = heads;
  kv->layers = static_cast<int64_t>(key_value.size());
  kv->layout = PackedHeads(kernel, x.rows(), x.cols() / heads);
  SOTTO_ASSIGN_OR_RETURN(kv->packed,
                         context.buffers->acquire(kv->layers * heads * kv->layout.bytes()));
  Epilogue epilogue;
  epilogue.feeds_products = true;
  for (int64_t layer = 0; layer < kv->layers; ++layer) {
    const auto* w = dynamic_cast<const CpuLinear*>(key_value[static_cast<size_t>(layer)].get());
    if (w == nullptr || w->out != 2 * x.cols()) {
      return invalid_argument("cross_kv: layer " + std::to_string(layer) +
                              " needs weights [2 d, d] of the CPU backend");
    }
    SOTTO_ASSIGN_OR_RETURN(const Activation product, linear(context, x, *w, epilogue));
    SOTTO_ASSIGN_OR_RETURN(const Rows rows, rows_as(context, product, kernel.type, "cross_kv"));
    context.pool.parallel_for(heads, [&](int64_t head, int) {
      const std::byte* k = at(rows.data, head * kv->layout.head_dim, kernel.type);
      pack_head(context, kv->layout, k, at(k, x.cols(), kernel.type), rows.ld,
                kv->head(layer, head));
    });
  }
  return CrossKvRef(std::move(kv));
}

namespace {

// Consecutive rows that look at the same source.
struct Group {
  const CpuCrossKv* source;
  int64_t first, rows;
};

Result<std::vector<Group>> group_rows(std::span<const CrossKv* const> sources, int layer,
                                      int64_t heads, int64_t head_dim) {
  std::vector<Group> groups;
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto* source = dynamic_cast<const CpuCrossKv*>(sources[i]);
    if (source == nullptr || layer < 0 || layer >= source->layers || source->heads != heads ||
        source->layout.head_dim != head_dim) {
      return invalid_argument("cross_attention: row " + std::to_string(i) +
                              " has no fitting keys and values");
    }
    if (groups.empty() || groups.back().source != source) {
      groups.push_back({source, static_cast<int64_t>(i), 0});
    }
    ++groups.back().rows;
  }
  return groups;
}

Status run_probe(Context& context, const std::vector<Group>& groups, const AttentionArgs& args,
                 int layer, int heads, int64_t rows, AttentionProbe& probe) {
  const AttentionKernel& kernel = context.attention();
  const int64_t keys = groups[0].source->source_rows;
  for (const Group& group : groups) {
    if (group.source->source_rows != keys) {
      return invalid_argument("cross_attention: a probe needs sources of one length");
    }
  }
  for (int head : probe.heads) {
    if (head < 0 || head >= heads)
      return invalid_argument("cross_attention: no head " + std::to_string(head));
  }
  probe.out.resize(probe.heads.size() * static_cast<size_t>(rows * keys));
  const auto count = static_cast<int64_t>(groups.size());
  context.pool.parallel_for(
      static_cast<int64_t>(probe.heads.size()) * count, [&](int64_t task, int) {
        const int64_t h = task / count;
        const Group& group = groups[static_cast<size_t>(task % count)];
        const int head = probe.heads[static_cast<size_t>(h)];
        AttentionArgs p = part(args, kernel.type, group.first, group.rows, head * args.head_dim);
        p.keys = keys;
        p.k = group.source->head(layer, head);
        kernel.probabilities(p, probe.out.data() + (h * rows + group.first) * keys, keys);
      });
  return {};
}

}  // namespace

Result<Activation> cross_attention(Context& context, const Activation& q,
                                   std::span<const CrossKv* const> sources, int layer, int heads,
                                   AttentionProbe* probe) {
  const AttentionKernel& kernel = context.attention();
  SOTTO_RETURN_IF_ERROR(check_heads("cross_attention", q.cols(), 1, heads, kernel.type));
  if (q.rows() < 1 || static_cast<int64_t>(sources.size()) != q.rows()) {
    return invalid_argument("cross_attention: " + std::to_string(sources.size()) + " sources for " +
                            std::to_string(q.rows()) + " rows");
  }
  const int64_t head_dim = q.cols() / heads;
  SOTTO_ASSIGN_OR_RETURN(const std::vector<Group> groups,
                         group_rows(sources, layer, heads, head_dim));
  SOTTO_ASSIGN_OR_RETURN(const Rows rows, rows_as(context, q, kernel.type, "cross_attention"));
  auto out = std::make_shared<CpuActivation>();
  AttentionArgs args;
  args.head_dim = head_dim;
  args.q = rows.data;
  args.ldq = rows.ld;
  args.scale = score_scale(head_dim);
  SOTTO_RETURN_IF_ERROR(make_result(context, q.rows(), q.cols(), false, *out, args));
  context.pool.parallel_for(static_cast<int64_t>(groups.size()) * heads, [&](int64_t task, int) {
    const Group& group = groups[static_cast<size_t>(task / heads)];
    const int64_t head = task % heads;
    AttentionArgs p = part(args, kernel.type, group.first, group.rows, head * head_dim);
    p.keys = group.source->source_rows;
    p.k = group.source->head(layer, head);
    p.v = group.source->head(layer, head) + group.source->layout.key_bytes;
    kernel.run(p);
  });
  if (probe != nullptr) {
    SOTTO_RETURN_IF_ERROR(run_probe(context, groups, args, layer, heads, q.rows(), *probe));
  }
  return Activation(q.rows(), q.cols(), std::move(out));
}

namespace {

Status check_rows(const CpuKvCache& cache, int layer, std::span<const TokenRow> rows) {
  if (layer < 0 || layer >= cache.shape.layers) {
    return invalid_argument("cached_attention: no layer " + std::to_string(layer));
  }
  for (const TokenRow& row : rows) {
    if (row.sequence < 0 || row.sequence >= cache.shape.max_sequences || row.position < 0 ||
        row.position >= cache.shape.max_positions) {
      return invalid_argument("cached_attention: position " + std::to_string(row.position) +
                              " of sequence " + std::to_string(row.sequence) +
                              " is outside the cache");
    }
  }
  return {};
}

// Puts key and value of every row at its place. qkv rows are f32.
void store_rows(Context& context, const Rows& qkv, int64_t key_col, CpuKvCache& cache, int layer,
                std::span<const TokenRow> rows) {
  const int64_t width = cache.width();
  const int64_t bytes = width * element_bytes(cache.type);
  for (size_t i = 0; i < rows.size(); ++i) {
    const int32_t own = cache.own_row(rows[i]);
    cache.index[static_cast<size_t>(own)] = own;
    const float* key =
        static_cast<const float*>(qkv.data) + static_cast<int64_t>(i) * qkv.ld + key_col;
    for (const auto& [buffer, from] :
         {std::pair(&cache.keys, key), std::pair(&cache.values, key + width)}) {
      std::byte* to = cache.layer(*buffer, layer) + own * bytes;
      if (cache.type == GemmType::kBf16) {
        context.kernels.convert.f32_to_bf16(from, width, reinterpret_cast<uint16_t*>(to));
      } else {
        std::memcpy(to, from, static_cast<size_t>(bytes));
      }
    }
  }
}

}  // namespace

Result<Activation> cached_attention(Context& context, const Activation& qkv, CpuKvCache& cache,
                                    int layer, std::span<const TokenRow> rows, int heads) {
  SOTTO_RETURN_IF_ERROR(check_rows(cache, layer, rows));
  const int64_t head_dim = cache.shape.head_dim;
  if (static_cast<int64_t>(rows.size()) != qkv.rows() || heads < 1 ||
      heads % cache.shape.kv_heads != 0 || qkv.cols() != heads * head_dim + 2 * cache.width()) {
    return invalid_argument("cached_attention: " + std::to_string(qkv.rows()) + " rows of " +
                            std::to_string(qkv.cols()) + " values do not fit " +
                            std::to_string(rows.size()) + " tokens and the cache");
  }
  SOTTO_ASSIGN_OR_RETURN(const Rows in, rows_as(context, qkv, GemmType::kF32, "cached_attention"));
  store_rows(context, in, heads * head_dim, cache, layer, rows);
  auto out = std::make_shared<CpuActivation>();
  SOTTO_ASSIGN_OR_RETURN(out->f32, make_matrix<float>(context, qkv.rows(), heads * head_dim));
  SOTTO_RETURN_IF_ERROR(context.reserve_workspaces(cache.shape.max_positions * 4));
  const auto run = cache.type == GemmType::kBf16 ? context.kernels.cached_attention.bf16
                                                 : context.kernels.cached_attention.f32;
  context.pool.parallel_for(qkv.rows() * heads, [&](int64_t task, int worker) {
    const int64_t i = task / heads;
    const int64_t head = task % heads;
    const int64_t kv_col = head / (heads / cache.shape.kv_heads) * head_dim;
    const TokenRow& row = rows[static_cast<size_t>(i)];
    kernels::CachedAttentionArgs args;
    args.keys = row.position + 1;
    args.head_dim = head_dim;
    args.q = static_cast<const float*>(in.data) + i * in.ld + head * head_dim;
    args.k = at(cache.layer(cache.keys, layer), kv_col, cache.type);
    args.v = at(cache.layer(cache.values, layer), kv_col, cache.type);
    args.index = cache.index.data() + row.sequence * cache.shape.max_positions;
    args.stride = cache.width();
    args.scale = score_scale(head_dim);
    args.scores = context.workspaces[static_cast<size_t>(worker)].as<float>();
    args.out = out->f32.row(i) + head * head_dim;
    run(args);
  });
  return Activation(qkv.rows(), heads * head_dim, std::move(out));
}

}  // namespace sotto::ops::cpu

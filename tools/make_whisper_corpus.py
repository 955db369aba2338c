#!/usr/bin/env python3
"""Writes fuzz/corpus/whisper_model: the smallest Whisper checkpoints of each format and naming, whole and damaged.

Usage: make_whisper_corpus.py fuzz/corpus/whisper_model
"""

import json
import pathlib
import struct
import sys

MELS, AUDIO, TEXT, VOCABULARY, WIDTH, HEADS, INNER = 2, 4, 4, 6, 8, 2, 12
NAN = struct.pack("<f", float("nan"))


def tensors():
    """OpenAI's names -> shape, one layer on each side."""
    out = {
        "encoder.conv1.weight": [WIDTH, MELS, 3],
        "encoder.conv1.bias": [WIDTH],
        "encoder.conv2.weight": [WIDTH, WIDTH, 3],
        "encoder.conv2.bias": [WIDTH],
        "encoder.positional_embedding": [AUDIO, WIDTH],
        "decoder.token_embedding.weight": [VOCABULARY, WIDTH],
        "decoder.positional_embedding": [TEXT, WIDTH],
    }

    def norm(name):
        out[name + ".weight"] = out[name + ".bias"] = [WIDTH]

    norm("encoder.ln_post")
    norm("decoder.ln")
    for block, attentions in (("encoder.blocks.0", ["attn"]), ("decoder.blocks.0", ["attn", "cross_attn"])):
        for attention in attentions:
            norm(f"{block}.{attention}_ln")
            for part in ("query", "key", "value", "out"):
                out[f"{block}.{attention}.{part}.weight"] = [WIDTH, WIDTH]
                if part != "key":
                    out[f"{block}.{attention}.{part}.bias"] = [WIDTH]
        norm(f"{block}.mlp_ln")
        out[f"{block}.mlp.0.weight"], out[f"{block}.mlp.0.bias"] = [INNER, WIDTH], [INNER]
        out[f"{block}.mlp.2.weight"], out[f"{block}.mlp.2.bias"] = [WIDTH, INNER], [WIDTH]
    return out


def values(name, dims):
    count = 1
    for dim in dims:
        count *= dim
    seed = sum(name.encode())
    return struct.pack(f"<{count}f", *(((seed + 37 * i) % 101) / 101 - 0.5 for i in range(count)))


def ggml(shapes):
    header = [VOCABULARY, AUDIO, WIDTH, HEADS, 1, TEXT, WIDTH, HEADS, 1, MELS, 0]
    out = struct.pack("<I11i", 0x67676D6C, *header) + struct.pack("<2i4f", MELS, 2, 0, 0, 0, 0)
    out += struct.pack("<i", VOCABULARY) + b"".join(struct.pack("<I", 1) + bytes([97 + i]) for i in range(VOCABULARY))
    for name, dims in shapes.items():
        out += struct.pack(f"<3i{len(dims)}i", len(dims), len(name), 0, *reversed(dims))
        out += name.encode() + values(name, dims)
    return out


def safetensors(shapes, prefix):
    renames = {
        ".blocks.": ".layers.", ".cross_attn_ln.": ".encoder_attn_layer_norm.", ".attn_ln.": ".self_attn_layer_norm.",
        ".mlp_ln.": ".final_layer_norm.", ".cross_attn.": ".encoder_attn.", ".attn.": ".self_attn.",
        ".query.": ".q_proj.", ".key.": ".k_proj.", ".value.": ".v_proj.", ".out.": ".out_proj.",
        ".mlp.0.": ".fc1.", ".mlp.2.": ".fc2.", ".ln_post.": ".layer_norm.", "decoder.ln.": "decoder.layer_norm.",
        ".token_embedding.": ".embed_tokens.", ".positional_embedding": ".embed_positions.weight",
    }
    header, data = {}, b""
    for name, dims in shapes.items():
        renamed = name
        for old, new in renames.items():
            renamed = renamed.replace(old, new)
        bytes_ = values(name, dims)
        header[prefix + renamed] = {"dtype": "F32", "shape": dims, "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def ctranslate2():
    shapes = {"encoder/conv1/weight": [WIDTH, MELS, 3], "encoder/conv1/bias": [WIDTH],
              "encoder/conv2/weight": [WIDTH, WIDTH, 3], "encoder/conv2/bias": [WIDTH],
              "encoder/position_encodings/encodings": [AUDIO, WIDTH],
              "decoder/embeddings/weight": [VOCABULARY, WIDTH],
              "decoder/position_encodings/encodings": [TEXT, WIDTH]}

    def linear(name, out, in_=WIDTH):
        shapes[name + "/weight"], shapes[name + "/bias"] = [out, in_], [out]

    def norm(name):
        shapes[name + "/gamma"] = shapes[name + "/beta"] = [WIDTH]

    for side in ("encoder", "decoder"):
        layer = side + "/layer_0"
        norm(side + "/layer_norm")
        norm(layer + "/self_attention/layer_norm")
        linear(layer + "/self_attention/linear_0", 3 * WIDTH)
        linear(layer + "/self_attention/linear_1", WIDTH)
        norm(layer + "/ffn/layer_norm")
        linear(layer + "/ffn/linear_0", INNER)
        linear(layer + "/ffn/linear_1", WIDTH, INNER)
    norm("decoder/layer_0/attention/layer_norm")
    linear("decoder/layer_0/attention/linear_0", WIDTH)
    linear("decoder/layer_0/attention/linear_1", 2 * WIDTH)
    linear("decoder/layer_0/attention/linear_2", WIDTH)

    def text(value):
        return struct.pack("<H", len(value) + 1) + value.encode() + b"\0"

    out = struct.pack("<I", 6) + text("WhisperSpec") + struct.pack("<2I", 3, len(shapes) + 2)
    for name, dims in sorted(shapes.items()):
        data = values(name, dims)
        out += text(name) + struct.pack(f"<B{len(dims)}IBI", len(dims), *dims, 0, len(data)) + data
    for side in ("encoder", "decoder"):
        out += text(side + "/num_heads") + struct.pack("<BBIh", 0, 2, 2, HEADS)
    return out + struct.pack("<I", 1) + text("decoder/projection/weight") + text("decoder/embeddings/weight")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    shapes = tensors()
    missing = {name: dims for name, dims in shapes.items() if not name.endswith("decoder.blocks.0.mlp.2.bias")}
    narrow = dict(shapes, **{"decoder.blocks.0.attn.out.weight": [WIDTH, WIDTH - 1]})
    whole = ggml(shapes)
    files = {
        "ggml": whole,
        "ggml_five_heads": whole[:16] + struct.pack("<i", 5) + whole[20:],
        "ggml_nan": whole[:-4] + NAN,
        "ctranslate2": ctranslate2(),
        "safetensors": safetensors(shapes, ""),
        "safetensors_prefix": safetensors(shapes, "model."),
        "safetensors_missing": safetensors(missing, ""),
        "safetensors_narrow": safetensors(narrow, ""),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()

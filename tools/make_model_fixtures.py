#!/usr/bin/env python3
"""Writes the small model files that tests read and fuzzers start from: fuzz/corpus/{ctranslate2,ggml,gguf,safetensors}.

A second, independent writer of the four formats: the tests that read these files would not notice a mistake that reader
and test share. Names that begin with "bad_" must be refused, all others accepted. Run it again after a change; the files
are kept in the repository so that tests need no Python.
"""

import json
import pathlib
import struct

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "fuzz" / "corpus"


def ramp(size):
    return bytes(i & 0xFF for i in range(size))


def product(dims):
    result = 1
    for dim in dims:
        result *= dim
    return result


# --- CTranslate2 -----------------------------------------------------------------------------------------------------

CT2_TYPES = {"f32": (0, 4), "i8": (1, 1), "i16": (2, 2), "i32": (3, 4), "f16": (4, 2), "bf16": (5, 2)}


def ct2_string(text):
    data = text.encode() + b"\0"
    return struct.pack("<H", len(data)) + data


def ct2_variable(name, dims, kind, size=None):
    code, width = CT2_TYPES[kind]
    size = product(dims) * width if size is None else size
    head = ct2_string(name) + struct.pack(f"<B{len(dims)}I", len(dims), *dims)
    return head + struct.pack("<BI", code, size) + ramp(size)


def ct2_file(variables, aliases=(), version=6, spec="WhisperSpec", count=None):
    count = len(variables) if count is None else count
    out = struct.pack("<I", version) + ct2_string(spec) + struct.pack("<II", 3, count) + b"".join(variables)
    return out + struct.pack("<I", len(aliases)) + b"".join(ct2_string(a) + ct2_string(t) for a, t in aliases)


def ctranslate2_files():
    half = [ct2_variable("encoder/conv1/weight", (2, 3, 3), "f16"), ct2_variable("encoder/num_heads", (), "i16"),
            ct2_variable("decoder/embeddings/weight", (4, 2), "f16")]
    int8 = [ct2_variable("w/weight", (3, 4), "i8"), ct2_variable("w/weight_scale", (3,), "f32"),
            ct2_variable("w/bias", (3,), "f32"), ct2_variable("n/gamma", (2,), "bf16"),
            ct2_variable("i", (2,), "i32")]
    yield "f16", ct2_file(half, [("decoder/projection/weight", "decoder/embeddings/weight")])
    yield "int8", ct2_file(int8, [("p/weight", "w/weight"), ("p/weight_scale", "w/weight_scale")])
    yield "no_variables", ct2_file([])
    yield "bad_count", ct2_file(half, count=0xFFFFFFFF)
    yield "bad_size", ct2_file([ct2_variable("x", (2, 2), "f32", size=12)])
    yield "bad_scales", ct2_file([ct2_variable("w", (3, 4), "i8"), ct2_variable("w_scale", (4,), "f32")])
    yield "bad_alias", ct2_file(half, [("a", "missing")])
    yield "bad_version", ct2_file(half, version=2)


# --- whisper.cpp ggml ------------------------------------------------------------------------------------------------

GGML_TYPES = {"f32": (0, 1, 4), "f16": (1, 1, 2), "q4_0": (2, 32, 18), "q4_1": (3, 32, 20), "q5_0": (6, 32, 22),
              "q5_1": (7, 32, 24), "q8_0": (8, 32, 34), "q4_k": (12, 256, 144), "q6_k": (14, 256, 210),
              "iq4_nl": (20, 32, 18), "bf16": (30, 1, 2), "mxfp4": (39, 32, 17)}


def ggml_size(dims, kind):
    _, block, width = GGML_TYPES[kind]
    return product(dims) // block * width


def ggml_tensor(name, dims, kind, size=None):
    data = name.encode()
    head = struct.pack("<iii", len(dims), len(data), GGML_TYPES[kind][0])
    size = ggml_size(dims, kind) if size is None else size
    return head + struct.pack(f"<{len(dims)}i", *reversed(dims)) + data + ramp(size)


def ggml_file(tensors, vocabulary=(b"a", b"", b"\xff\x00")):
    """A model with one encoder and one decoder layer, which has 50 tensors."""
    header = (10, 4, 2, 1, 1, 4, 2, 1, 1, 80, 1)
    out = struct.pack("<I11i", 0x67676D6C, *header) + struct.pack("<ii", 1, 2) + ramp(2 * 4)
    out += struct.pack("<i", len(vocabulary)) + b"".join(struct.pack("<I", len(v)) + v for v in vocabulary)
    return out + b"".join(tensors)


def ggml_files():
    kinds = [ggml_tensor(f"t.{kind}", (2, 32), kind) for kind in ("f32", "f16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0")]
    filler = [ggml_tensor(f"f.{i}", (1,), "f32") for i in range(50)]
    yield "all_types", ggml_file(kinds + filler)
    yield "bad_missing_tensors", ggml_file(filler[:49])
    yield "bad_block", ggml_file([ggml_tensor("t", (2, 48), "q4_0", 54)])
    yield "bad_vocabulary", ggml_file([], vocabulary=())[:-4] + struct.pack("<i", 0x7FFFFFFF) + bytes(32)
    yield "bad_type", ggml_file([ggml_tensor("t", (32,), "iq4_nl")] + filler)


# --- GGUF ------------------------------------------------------------------------------------------------------------

GGUF_SCALARS = {"u8": (0, "B"), "i8": (1, "b"), "u16": (2, "H"), "i16": (3, "h"), "u32": (4, "I"), "i32": (5, "i"),
                "f32": (6, "f"), "bool": (7, "?"), "u64": (10, "Q"), "i64": (11, "q"), "f64": (12, "d")}


def gguf_string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_payload(kind, value):
    """The value of `kind`; an array's kind is a tuple ("array", kind of its elements)."""
    if kind == "string":
        return gguf_string(value)
    if isinstance(kind, tuple):
        return struct.pack("<IQ", gguf_code(kind[1]), len(value)) + b"".join(gguf_payload(kind[1], v) for v in value)
    return struct.pack("<" + GGUF_SCALARS[kind][1], value)


def gguf_code(kind):
    return 9 if isinstance(kind, tuple) else 8 if kind == "string" else GGUF_SCALARS[kind][0]


def gguf_file(pairs, tensors, alignment=32, version=3, shift=0):
    """tensors: (name, dims, kind). `shift` moves every offset but the first, for files with wrong offsets."""
    out = struct.pack("<4sIQQ", b"GGUF", version, len(tensors), len(pairs))
    for key, kind, value in pairs:
        out += gguf_string(key) + struct.pack("<I", gguf_code(kind)) + gguf_payload(kind, value)
    data = b""
    for name, dims, kind in tensors:
        data += bytes(-len(data) % alignment)
        offset = len(data) + (shift if data else 0)
        out += gguf_string(name) + struct.pack(f"<I{len(dims)}Q", len(dims), *reversed(dims))
        out += struct.pack("<IQ", GGML_TYPES[kind][0], offset)
        data += ramp(ggml_size(dims, kind))
    return out + bytes(-len(out) % alignment) + data


def gguf_files():
    pairs = [("general.architecture", "string", "llama")]
    pairs += [(f"x.{kind}", kind, 1) for kind in GGUF_SCALARS]
    pairs += [("tokens", ("array", "string"), ["a", "b"]), ("scores", ("array", "f32"), [0.5, -1.0]),
              ("nested", ("array", ("array", "i32")), [[1, 2], [3]]), ("empty", ("array", "u8"), [])]
    tensors = [("a", (2, 3), "f32"), ("b", (2, 256), "q4_k"), ("c", (256,), "q6_k"), ("d", (64,), "mxfp4"),
               ("e", (3,), "bf16")]
    yield "v3", gguf_file(pairs, tensors)
    yield "v2", gguf_file(pairs[:1], tensors[:1], version=2)
    yield "aligned_64", gguf_file([("general.alignment", "u32", 64)], tensors, alignment=64)
    yield "empty", gguf_file([], [])
    yield "bad_alignment", gguf_file([("general.alignment", "u32", 24)], tensors)
    yield "bad_repeated", gguf_file([], tensors[:1] + tensors[:1])
    yield "bad_offset", gguf_file([], tensors, shift=4096)
    yield "bad_type", gguf_file([], [("t", (32,), "iq4_nl")])
    deep_kind, deep_value = "u8", 1
    for _ in range(5):
        deep_kind, deep_value = ("array", deep_kind), [deep_value]
    yield "bad_nesting", gguf_file([("k", deep_kind, deep_value)], [])


# --- safetensors -----------------------------------------------------------------------------------------------------


def safetensors_file(header, data_size):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + ramp(data_size)


def safetensors_entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_files():
    two = {"__metadata__": {"format": "pt"}, "a": safetensors_entry("F32", [2], 0, 8),
           "b": safetensors_entry("F16", [2, 3], 8, 20)}
    widths = {"F32": 4, "F16": 2, "BF16": 2, "F64": 8, "I8": 1, "I16": 2, "I32": 4, "I64": 8, "U8": 1, "BOOL": 1}
    every, at = {}, 0
    for name, width in widths.items():
        every[name.lower()] = safetensors_entry(name, [2, 1], at, at + 2 * width)
        at += 2 * width
    yield "two", safetensors_file(two, 20)
    yield "every_type", safetensors_file(every, at)
    yield "scalar_and_empty", safetensors_file(
        {"s": safetensors_entry("F32", [], 0, 4), "e": safetensors_entry("F32", [0], 4, 4)}, 4)
    yield "bad_gap", safetensors_file({"a": safetensors_entry("F32", [2], 4, 12)}, 12)
    yield "bad_overlap", safetensors_file(dict(two, b=safetensors_entry("F16", [2, 3], 4, 16)), 16)
    yield "bad_type", safetensors_file({"a": safetensors_entry("F8_E4M3", [2], 0, 2)}, 2)
    yield "bad_repeated", safetensors_file(
        b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1)
    yield "bad_deep", safetensors_file(b'{"a":' + b"[" * 200 + b"]" * 200 + b"}", 0)


def main():
    formats = {"ctranslate2": ctranslate2_files, "ggml": ggml_files, "gguf": gguf_files,
               "safetensors": safetensors_files}
    for name, files in formats.items():
        folder = CORPUS / name
        folder.mkdir(parents=True, exist_ok=True)
        for file_name, content in files():
            (folder / file_name).write_bytes(content)


if __name__ == "__main__":
    main()

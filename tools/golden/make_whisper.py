#!/usr/bin/env python3
"""Writes the golden data of src/whisper: what independent programs compute from real Whisper weights.

Two witnesses: CTranslate2 (float32) gives the encoder output and the logits; a float64 forward pass in numpy below gives
the values between the layers and the attention of the alignment heads. The script stops if they disagree. The input is
the JFK clip as faster-whisper's features, rounded to 8 bits so that the file is small and every reader has the same bits.

Usage: make_whisper.py --models FOLDER --out src/whisper/testdata
FOLDER holds tiny.en/, base/ (CTranslate2) and jfk.wav. Needs numpy, safetensors, soundfile, ctranslate2, faster-whisper.
"""

import argparse
import json
import math
import pathlib
import re
import struct

import ctranslate2
import numpy as np
import soundfile
from faster_whisper.feature_extractor import FeatureExtractor
from safetensors.numpy import save_file

FRAMES = 3000
KEPT_FRAMES = 1104  # The clip ends at frame 1100; what follows repeats the last row
ROWS = [0, 137, 549, 1100, 1499]
SHORT_POSITIONS = 600
SHORT_ROWS = [0, 299, 549, 599]
LOGIT_STRIDE = 128
SOURCE_STRIDE = 10
PROMPTS = {"tiny.en": [50257, 50362], "base": [50258, 50259, 50359, 50363]}
DTYPES = {0: "<f4", 1: "<i1", 2: "<i2", 3: "<i4", 4: "<f2"}


def read_ctranslate2(path):
    data = path.read_bytes()
    at = 0

    def take(form):
        nonlocal at
        value = struct.unpack_from("<" + form, data, at)[0]
        at += struct.calcsize("<" + form)
        return value

    def text():
        nonlocal at
        size = take("H")
        at += size
        return data[at - size : at - 1].decode()

    if take("I") != 6 or text() != "WhisperSpec":
        raise SystemExit(f"{path}: not a Whisper model of binary version 6")
    take("I")
    out = {}
    for _ in range(take("I")):
        name = text()
        dims = [take("I") for _ in range(take("B"))]
        dtype = np.dtype(DTYPES[take("B")])
        size = take("I")
        values = np.frombuffer(data, dtype, size // dtype.itemsize, at).reshape(dims)
        out[name] = values.astype(np.float64) if dtype.kind == "f" else values
        at += size
    return out


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


class Forward:
    """Whisper in float64, straight from the paper; CTranslate2's tensor names."""

    def __init__(self, weights):
        self.w = weights
        self.heads = int(weights["encoder/num_heads"])
        self.layers = {
            side: sum(re.fullmatch(rf"{side}/layer_\d+/ffn/linear_0/weight", name) is not None for name in weights)
            for side in ("encoder", "decoder")
        }

    def linear(self, x, name):
        return x @ self.w[name + "/weight"].T + self.w[name + "/bias"]

    def norm(self, x, name):
        centred = x - x.mean(axis=-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5) * self.w[name + "/gamma"] + self.w[name + "/beta"]

    @staticmethod
    def gelu(x):
        return 0.5 * x * (1 + erf(x / math.sqrt(2)))

    def conv(self, x, name, stride):
        kernel = self.w[name + "/weight"]
        padded = np.pad(x, ((1, 1), (0, 0)))
        taps = [padded[k : k + len(x) : stride] @ kernel[:, :, k].T for k in range(3)]
        return self.gelu(sum(taps) + self.w[name + "/bias"])

    def attend(self, q, k, v, mask=None):
        def split(x):
            return x.reshape(len(x), self.heads, -1).transpose(1, 0, 2)

        q, k, v = split(q), split(k), split(v)
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        p = np.exp(scores - scores.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        return (p @ v).transpose(1, 0, 2).reshape(q.shape[1], -1), p

    def self_attention(self, x, layer, mask):
        q, k, v = np.split(self.linear(self.norm(x, layer + "/self_attention/layer_norm"), layer + "/self_attention/linear_0"), 3, axis=-1)
        return x + self.linear(self.attend(q, k, v, mask)[0], layer + "/self_attention/linear_1")

    def mlp(self, x, layer):
        hidden = self.gelu(self.linear(self.norm(x, layer + "/ffn/layer_norm"), layer + "/ffn/linear_0"))
        return x + self.linear(hidden, layer + "/ffn/linear_1")

    def encode(self, mel):
        """mel [2 t, n_mels] -> the final norm applied after 0, 1, ... all layers, each [t, d]."""
        x = self.conv(self.conv(mel, "encoder/conv1", 1), "encoder/conv2", 2)
        x += self.w["encoder/position_encodings/encodings"][: len(x)]
        out = [self.norm(x, "encoder/layer_norm")]
        for i in range(self.layers["encoder"]):
            layer = f"encoder/layer_{i}"
            x = self.mlp(self.self_attention(x, layer, None), layer)
            out.append(self.norm(x, "encoder/layer_norm"))
        return out

    def decode(self, tokens, encoded):
        """-> logits after 0, 1, ... all layers, each [n, vocabulary], and cross attention [layers][heads, n, t]."""
        table = self.w["decoder/embeddings/weight"]
        x = table[tokens] + self.w["decoder/position_encodings/encodings"][: len(tokens)]
        mask = np.tril(np.ones((len(tokens), len(tokens)), bool))
        hidden, attention = [x], []
        for i in range(self.layers["decoder"]):
            layer = f"decoder/layer_{i}"
            x = self.self_attention(x, layer, mask)
            q = self.linear(self.norm(x, layer + "/attention/layer_norm"), layer + "/attention/linear_0")
            k, v = np.split(self.linear(encoded, layer + "/attention/linear_1"), 2, axis=-1)
            context, p = self.attend(q, k, v)
            x = self.mlp(x + self.linear(context, layer + "/attention/linear_2"), layer)
            hidden.append(x)
            attention.append(p)
        return [self.norm(h, "decoder/layer_norm") @ table.T for h in hidden], attention


def rounded_features(wav):
    samples, rate = soundfile.read(wav, dtype="float32")
    if rate != 16000 or samples.ndim != 1:
        raise SystemExit(f"{wav}: expected 16 kHz mono")
    features = FeatureExtractor()(np.pad(samples, (0, 480000 - len(samples))))[:, :FRAMES].T
    low, step = float(features.min()), float(np.ptp(features)) / 255
    codes = np.rint((features - low) / step).astype(np.uint8, order="C")
    if np.any(codes[KEPT_FRAMES - 1 :] != codes[KEPT_FRAMES - 1]):
        raise SystemExit(f"{wav}: speech beyond frame {KEPT_FRAMES}; raise KEPT_FRAMES")
    scale = np.array([low, step], np.float32)
    values = scale[0] + codes.astype(np.float32) * scale[1]
    return values, {"codes": codes[:KEPT_FRAMES], "low_and_step": scale}


def check(what, a, b, limit=0.999999):
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    cosine = a @ b / np.sqrt((a @ a) * (b @ b))
    print(f"  {what}: numpy against CTranslate2 cosine {cosine:.9f}, largest difference {np.abs(a - b).max():.2e}")
    if cosine < limit:
        raise SystemExit("the two witnesses disagree")


def make(folder, mel, prompt):
    forward = Forward(read_ctranslate2(folder / "model.bin"))
    peer = ctranslate2.models.Whisper(str(folder), compute_type="float32")

    def peer_encode(frames):
        view = ctranslate2.StorageView.from_array(np.ascontiguousarray(mel[None, :frames].transpose(0, 2, 1)))
        return peer.encode(view)

    encoded = peer_encode(FRAMES)
    by_layer = forward.encode(mel.astype(np.float64))
    output = np.array(encoded)[0]
    check("encoder", by_layer[-1], output)
    short = np.array(peer_encode(2 * SHORT_POSITIONS))[0]
    check("encoder, short context", forward.encode(mel[: 2 * SHORT_POSITIONS].astype(np.float64))[-1], short)

    # Without suppression and with <|notimestamps|> CTranslate2 applies no rule to the logits: plain greedy search.
    result = peer.generate(encoded, [prompt], beam_size=1, suppress_tokens=[], suppress_blank=False,
                           return_logits_vocab=True, return_scores=True)[0]
    tokens = prompt + list(result.sequences_ids[0])
    peer_logits = np.stack([np.array(row) for row in result.logits[0]])  # One more: the end of text
    logits, attention = forward.decode(tokens, by_layer[-1])
    first = len(prompt) - 1
    check("logits", logits[-1][first:], peer_logits)
    print(f"  {len(result.sequences_ids[0])} tokens")

    heads = json.loads((folder / "config.json").read_text())["alignment_heads"]
    f32 = np.float32
    return {
        "encoder_rows": np.array(ROWS, np.int32),
        "encoder_by_layer": np.stack([x[ROWS] for x in by_layer]).astype(f32),
        "encoder_output": output[ROWS].astype(f32),
        "encoder_row_norms": np.linalg.norm(output.astype(np.float64), axis=1).astype(f32),
        "short_positions": np.array([SHORT_POSITIONS], np.int32),
        "short_rows": np.array(SHORT_ROWS, np.int32),
        "short_output": short[SHORT_ROWS].astype(f32),
        "tokens": np.array(tokens, np.int32),
        "prompt_length": np.array([len(prompt)], np.int32),
        "logit_stride": np.array([LOGIT_STRIDE], np.int32),
        "logits": np.ascontiguousarray(peer_logits[:, ::LOGIT_STRIDE]).astype(f32),
        "logits_by_layer": np.stack([x[-1, ::LOGIT_STRIDE] for x in logits]).astype(f32),
        "alignment_heads": np.array(heads, np.int32),
        "source_stride": np.array([SOURCE_STRIDE], np.int32),
        "alignment_last_row": np.stack([attention[l][h][-1, ::SOURCE_STRIDE] for l, h in heads]).astype(f32),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    mel, stored = rounded_features(args.models / "jfk.wav")
    save_file(stored, args.out / "jfk_mel.safetensors")
    for name, prompt in PROMPTS.items():
        print(name)
        save_file(make(args.models / name, mel, prompt), args.out / f"golden_{name}.safetensors")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes src/vad/testdata/vad_golden.inc: speech probabilities and spans by independent programs.

    make_vad.py --weights silero_vad_16k.safetensors --jfk jfk.wav --silero-package DIR > src/vad/testdata/vad_golden.inc

DIR: the unpacked silero-vad wheel. Probabilities come from the network's definition, written out below in numpy in
double precision. (The ONNX files of that package hold weights of another training run than its safetensors file.
--check-onnx FILE puts the weights of such a file, e.g. silero_vad_16k_op15.onnx, into the definition and compares it with
onnxruntime, which proves the definition; needs the packages onnx and onnxruntime.)
Spans come from silero_vad and faster_whisper over made-up probabilities.
"""

import argparse
import sys
import types
import unittest.mock
import wave

import numpy as np

CHUNK, CONTEXT, HIDDEN = 512, 64, 128


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def conv(x, weight, bias, stride, padding):
    x = np.pad(x, ((0, 0), (padding, padding)))
    columns = range(0, x.shape[1] - weight.shape[2] + 1, stride)
    return np.stack([np.einsum("oik,ik->o", weight, x[:, t:t + weight.shape[2]]) for t in columns], 1) + bias[:, None]


def probabilities(samples, weights):
    h, c, context, result = np.zeros(HIDDEN), np.zeros(HIDDEN), np.zeros(CONTEXT), []
    samples = np.pad(samples.astype(np.float64), (0, -len(samples) % CHUNK))
    for chunk in samples.reshape(-1, CHUNK):
        x = np.pad(np.concatenate([context, chunk]), (0, 64), mode="reflect")[None]
        context = chunk[-CONTEXT:]
        x = conv(x, weights["stft_conv.weight"], np.zeros(258), 128, 0)
        x = np.sqrt(x[:129] ** 2 + x[129:] ** 2)
        for layer, stride in enumerate((1, 2, 2, 1), 1):
            x = np.maximum(conv(x, weights[f"conv{layer}.weight"], weights[f"conv{layer}.bias"], stride, 1), 0)
        gates = weights["lstm_cell.weight_ih"] @ x[:, 0] + weights["lstm_cell.bias_ih"]
        gates = gates + weights["lstm_cell.weight_hh"] @ h + weights["lstm_cell.bias_hh"]
        i, f, g, o = np.split(gates, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        result.append(sigmoid(weights["final_conv.weight"][0, :, 0] @ np.maximum(h, 0) + weights["final_conv.bias"][0]))
    return np.array(result)


def onnx_weights(path):
    import onnx
    found = {}

    def walk(graph):
        found.update((i.name, onnx.numpy_helper.to_array(i)) for i in graph.initializer)
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    walk(attribute.g)

    walk(onnx.load(path).graph)
    names = {"stft_conv.weight": "model.stft.forward_basis_buffer", "final_conv.weight": "model.decoder.decoder.2.weight",
             "final_conv.bias": "model.decoder.decoder.2.bias"}
    for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        names[f"lstm_cell.{kind}"] = f"model.decoder.rnn.{kind}"
    for layer in range(4):
        for kind in ("weight", "bias"):
            names[f"conv{layer + 1}.{kind}"] = f"model.encoder.{layer}.reparam_conv.{kind}"
    return {ours: found[theirs].astype(np.float64) for ours, theirs in names.items()}


def check_onnx(path, samples):
    import onnxruntime
    session = onnxruntime.InferenceSession(path)
    state, context, theirs = np.zeros((2, 1, HIDDEN), np.float32), np.zeros((1, CONTEXT), np.float32), []
    for chunk in np.pad(samples, (0, -len(samples) % CHUNK)).reshape(-1, 1, CHUNK):
        inputs = {"input": np.concatenate([context, chunk], 1), "state": state, "sr": np.array(16000)}
        out, state = session.run(None, inputs)
        context = chunk[:, -CONTEXT:]
        theirs.append(out[0, 0])
    difference = np.abs(probabilities(samples, onnx_weights(path)) - theirs).max()
    print(f"definition against onnxruntime: {difference:.2g}", file=sys.stderr)
    assert difference < 1e-4


class Lcg:
    """The generator that speech_spans_test.cc repeats."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 1664525 + 1013904223) & 0xFFFFFFFF
        return (self.state >> 8) % n


def made_up_probabilities(seed, chunks):
    levels, lcg, result = (0.02, 0.2, 0.4, 0.45, 0.55, 0.6, 0.95), Lcg(seed), []
    while len(result) < chunks:
        level = levels[lcg.below(len(levels))]
        result += [level] * (1 + lcg.below((3, 12, 80)[lcg.below(3)]))
    return result[:chunks]


def spans_by_silero(package, probs, samples, options, longest):
    sys.modules.setdefault("torch", unittest.mock.MagicMock())   # this function needs none of it
    source = types.ModuleType("silero_utils")
    with open(package + "/silero_vad/utils_vad.py") as file:
        exec(compile(file.read(), "utils_vad.py", "exec"), source.__dict__)
    return source.get_speech_timestamps_from_probs(probs, audio_length_samples=samples,
                                                   use_max_poss_sil_at_max_speech=longest, **options)


def spans_by_faster_whisper(probs, samples, options):
    from faster_whisper import vad
    vad.get_vad_model = lambda: lambda audio: probs
    return vad.get_speech_timestamps(np.zeros(samples, np.float32), vad.VadOptions(**options))


def write_spans(package):
    print("const SpanCase kSpanCases[] = {")
    base = {"threshold": 0.5, "min_speech_duration_ms": 250, "min_silence_duration_ms": 100, "speech_pad_ms": 30}
    variants = [base, {**base, "max_speech_duration_s": 5}, {**base, "max_speech_duration_s": 2, "min_silence_duration_ms": 500},
                {**base, "min_speech_duration_ms": 0, "min_silence_duration_ms": 2000, "speech_pad_ms": 400},
                {**base, "min_silence_duration_ms": 2000, "speech_pad_ms": 400, "max_speech_duration_s": 8},
                {**base, "threshold": 0.42, "min_silence_duration_ms": 300, "max_speech_duration_s": 3.3, "speech_pad_ms": 77}]
    for seed in range(1, 19):
        options = variants[seed % len(variants)]
        chunks = 700
        samples = chunks * CHUNK - 100
        probs = made_up_probabilities(seed, chunks)
        for longest in (False, True):
            spans = spans_by_silero(package, probs, samples, options, longest)
            if not longest:
                assert spans == spans_by_faster_whisper(probs, samples, options), seed
            limit = options.get("max_speech_duration_s", 0)
            print(f"    {{{seed}, {options['threshold']}f, {options['min_speech_duration_ms']},"
                  f" {options['min_silence_duration_ms']}, {limit}, {options['speech_pad_ms']}, {str(longest).lower()},")
            numbers = [f"{{{s['start']}, {s['end']}}}" for s in spans]
            lines = [", ".join(numbers[k:k + 6]) for k in range(0, len(numbers), 6)]
            print("     {" + ",\n      ".join(lines) + "}},")
    print("};")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--jfk", required=True)
    parser.add_argument("--silero-package", required=True)
    parser.add_argument("--check-onnx")
    args = parser.parse_args()
    from safetensors.numpy import load_file
    weights = {name: value.astype(np.float64) for name, value in load_file(args.weights).items()}
    with wave.open(args.jfk) as file:
        jfk = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
    if args.check_onnx:
        check_onnx(args.check_onnx, jfk)
    print("// Written by tools/golden/make_vad.py.")
    lcg = Lcg(1)
    noise = np.array([(lcg.below(20001) - 10000) / 1e5 for _ in range(len(jfk))], np.float32)
    for name, samples in {"Jfk": jfk, "QuietJfk": jfk * np.float32(1 / 32), "NoisyJfk": jfk * np.float32(0.5) + noise}.items():
        values = [f"{p:.6f}f" for p in probabilities(samples, weights)]
        print(f"const float k{name}[] = {{")
        for k in range(0, len(values), 10):
            print("    " + ", ".join(values[k:k + 10]) + ",")
        print("};")
    write_spans(args.silero_package)


if __name__ == "__main__":
    main()

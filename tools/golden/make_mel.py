#!/usr/bin/env python3
"""Writes src/audio/testdata/mel_golden.inc: log-mel features by Whisper's published formula in double precision.

    make_mel.py --jfk jfk.wav --openai-filters mel_filters.npz > src/audio/testdata/mel_golden.inc

jfk.wav: 16 kHz, 16 bit, mono. mel_filters.npz: from the openai-whisper source distribution (whisper/assets), of which
an excerpt is written so that our computed filters are checked against OpenAI's. With --check-faster-whisper the
features are first compared with those of the faster_whisper package.
"""

import argparse
import wave

import numpy as np

N_FFT, HOP, RATE = 400, 160, 16000
SYNTHETIC_SAMPLES = 20000


def synthetic():
    """Two tones, one of them switched, and noise; mel_golden_test.cc writes the same signal."""
    i = np.arange(SYNTHETIC_SAMPLES, dtype=np.float64)
    state, noise = 1, np.empty(SYNTHETIC_SAMPLES)
    for k in range(SYNTHETIC_SAMPLES):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        noise[k] = (state >> 8) / 2.0**23 - 1.0
    tones = 0.3 * np.sin(2 * np.pi * 440 * i / RATE)
    tones += np.where(i % 8000 < 4000, 0.2 * np.sin(2 * np.pi * 1234.5 * i / RATE + 1), 0)
    return (tones + 0.01 * noise).astype(np.float32)


def read_wav(path):
    with wave.open(path) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2), path
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768


def filters(n_mels):
    def hz(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp(np.log(6.4) / 27 * (mel - 15)))

    top = 15 + np.log(8) / (np.log(6.4) / 27)
    edges = hz(np.linspace(0, top, n_mels + 2))
    bins = np.arange(N_FFT // 2 + 1) * RATE / N_FFT
    low, peak, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    return np.maximum(0, np.minimum((bins - low) / (peak - low), (high - bins) / (high - peak))) * 2 / (high - low)


def log_mel(samples, n_mels):
    """[frames, n_mels] of the recording followed by 30 s of zeros, the last frame dropped as Whisper does."""
    padded = np.concatenate([samples.astype(np.float64), np.zeros(30 * RATE)])
    padded = np.pad(padded, N_FFT // 2, mode="reflect")
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(N_FFT) / N_FFT)
    count = (len(padded) - N_FFT) // HOP
    frames = np.lib.stride_tricks.sliding_window_view(padded, N_FFT)[::HOP][:count]
    power = np.abs(np.fft.rfft(frames * window)) ** 2
    log = np.log10(np.maximum(power @ filters(n_mels).T, 1e-10))
    return (np.maximum(log, log.max() - 8) + 4) / 4


def emit(name, rows):
    print(f"const float {name}[] = {{")
    for row in np.atleast_2d(rows):
        numbers = [f"{x:.7g}" for x in row]
        numbers = [x + ("f" if "." in x or "e" in x else ".0f") for x in numbers]
        for k in range(0, len(numbers), 10):
            print("    " + ", ".join(numbers[k:k + 10]) + ",")
    print("};")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jfk", required=True)
    parser.add_argument("--openai-filters", required=True)
    parser.add_argument("--check-faster-whisper", action="store_true")
    args = parser.parse_args()
    signals = {"Synthetic": (synthetic(), [0, 1, 2, 60, 123, 124, 125, 126]),
               "Jfk": (read_wav(args.jfk), [0, 1, 300, 777, 1098, 1099, 1100, 1101])}
    print("// Written by tools/golden/make_mel.py. Rows of normalised features [frames listed, n_mels].")
    for name, (samples, frames) in signals.items():
        print(f"const int k{name}Frames[] = {{{', '.join(map(str, frames))}}};")
        for n_mels in (80, 128):
            mel = log_mel(samples, n_mels)
            if args.check_faster_whisper:
                from faster_whisper.feature_extractor import FeatureExtractor
                content = len(samples) // HOP
                other = FeatureExtractor(feature_size=n_mels)(samples).T[:content]
                difference = np.abs(mel[:content] - other).max()
                assert difference < 1e-4, difference
            emit(f"k{name}{n_mels}", mel[frames])
    openai = np.load(args.openai_filters)
    print("// Rows 0, 1, 20, 79 and 0, 1, 64, 127 of OpenAI's filter banks, where they are not zero: first bin, then values.")
    for n_mels, rows in ((80, (0, 1, 20, 79)), (128, (0, 1, 64, 127))):
        table = openai[f"mel_{n_mels}"]
        assert np.abs(table - filters(n_mels)).max() < 1e-6
        print(f"const FilterRow kOpenAi{n_mels}[] = {{")
        for row in rows:
            used = np.flatnonzero(table[row])
            values = ", ".join(f"{x:.9g}f" for x in table[row][used[0]:used[-1] + 1])
            print(f"    {{{row}, {used[0]}, {{{values}}}}},")
        print("};")


if __name__ == "__main__":
    main()

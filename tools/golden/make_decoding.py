#!/usr/bin/env python3
"""Writes src/whisper/testdata/decoding_golden.json: what faster-whisper makes of a recording, for whisper's model tests.

Needs faster-whisper 1.2.1 (float32 on the CPU). Usage: make_decoding.py MODELS_FOLDER RECORDING > OUT
MODELS_FOLDER holds tiny.en and base in CTranslate2 form.
"""

import json
import pathlib
import sys

from faster_whisper import WhisperModel

CASES = [
    # model, options of transcribe()
    ("tiny.en", {"beam_size": 1}),
    ("tiny.en", {"beam_size": 5}),
    ("tiny.en", {"beam_size": 5, "word_timestamps": True}),
    ("base", {"beam_size": 1}),
    ("base", {"beam_size": 5}),
    ("base", {"beam_size": 5, "patience": 2.0}),
    ("base", {"beam_size": 5, "without_timestamps": True}),
    ("base", {"beam_size": 5, "word_timestamps": True}),
    ("base", {"beam_size": 5, "language": "de"}),
    ("base", {"beam_size": 5, "language": "de", "task": "translate"}),
    ("base", {"beam_size": 5, "language": "en", "initial_prompt": "ASK NOT, MY FELLOW AMERICANS"}),
    ("base", {"beam_size": 5, "language": "en", "hotwords": "Amerikans kuntry"}),
    ("base", {"beam_size": 5, "language": "en", "prefix": "So"}),
    ("base", {"beam_size": 1, "language": "en", "repetition_penalty": 1.5}),
    ("base", {"beam_size": 1, "language": "en", "no_repeat_ngram_size": 3}),
    ("base", {"beam_size": 5, "language": "en", "clip_timestamps": "3,8"}),
]


def describe(segment):
    result = {
        "seek": segment.seek,
        "start": round(segment.start, 3),
        "end": round(segment.end, 3),
        "text": segment.text,
        "tokens": segment.tokens,
        "avg_logprob": round(segment.avg_logprob, 5),
        "compression_ratio": round(segment.compression_ratio, 5),
        "no_speech_prob": round(segment.no_speech_prob, 6),
    }
    if segment.words:
        result["words"] = [[w.word, round(float(w.start), 3), round(float(w.end), 3), round(float(w.probability), 4)]
                           for w in segment.words]
    return result


def main():
    models, recording = pathlib.Path(sys.argv[1]), sys.argv[2]
    loaded = {}
    out = []
    for name, options in CASES:
        if name not in loaded:
            loaded[name] = WhisperModel(str(models / name), device="cpu", compute_type="float32", cpu_threads=2)
        segments, info = loaded[name].transcribe(recording, temperature=0.0, **options)
        out.append({
            "model": name,
            "options": options,
            "language": info.language,
            "language_probability": round(info.language_probability, 5),
            "segments": [describe(s) for s in segments],
        })
    print("[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in out) + "\n]")


if __name__ == "__main__":
    main()

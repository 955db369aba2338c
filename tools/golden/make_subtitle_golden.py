#!/usr/bin/env python3
"""Writes src/transcript/testdata/golden_srt.json: transcripts with word times, line rules, and the srt that
openai-whisper's writer makes of them.

usage: make_subtitle_golden.py WHISPER   (folder of the openai-whisper package: the one with utils.py)
"""

import importlib.util
import io
import json
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORDS = [" the", " a", " Hello", ",", " world", ".", " straße", " naïve", "日本", "語", " extraordinarily", " 42", "!",
         " it", "'s", " I", " café", " supercalifragilisticexpialidocious", "🎉", " of", " <b>", " &"]
OPTIONS = [
    {},
    {"max_line_width": 20},
    {"max_line_width": 1},
    {"max_line_count": 2},
    {"max_line_width": 16, "max_line_count": 1},
    {"max_line_width": 24, "max_line_count": 2},
    {"max_words_per_line": 3},
    {"max_words_per_line": 1},
    {"max_line_width": 12, "max_words_per_line": 5},
    {"highlight_words": True},
    {"highlight_words": True, "max_line_width": 18, "max_line_count": 2},
    {"highlight_words": True, "max_words_per_line": 4},
]


def make_segments(chance):
    segments, now = [], 0.0
    for _ in range(chance.randint(1, 4)):
        words = []
        for _ in range(chance.randint(1, 12)):
            now = round(now + chance.choice([0, 0, 0.08, 0.5, 4.0]), 3)
            end = round(now + chance.choice([0.06, 0.25, 0.7]), 3)
            words.append({"word": chance.choice(WORDS), "start": now, "end": end})
            now = end
        text = "".join(word["word"] for word in words)
        segments.append({"start": words[0]["start"], "end": now, "text": text, "words": words})
    return segments


def main():
    spec = importlib.util.spec_from_file_location("whisper_utils", pathlib.Path(sys.argv[1]) / "utils.py")
    utils = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(utils)
    chance = random.Random(2024)
    cases = []
    for round_number in range(3):
        for options in OPTIONS:
            segments = make_segments(chance)
            out = io.StringIO()
            utils.WriteSRT(".").write_result({"segments": segments}, out, options)
            cases.append({"options": options, "segments": segments, "srt": out.getvalue()})
    lines = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases)
    path = ROOT / "src/transcript/testdata/golden_srt.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()

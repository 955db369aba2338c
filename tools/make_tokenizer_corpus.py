#!/usr/bin/env python3
"""Writes fuzz/corpus/tokenizer_json: small files like Hugging Face's tokenizer.json, whole and broken."""

import json
import pathlib

OUT = pathlib.Path(__file__).resolve().parent.parent / "fuzz/corpus/tokenizer_json"
PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]


def alphabet():
    """GPT-2's character for each byte."""
    others = [byte for byte in range(256) if byte not in PRINTABLE]
    return [chr(byte) if byte in PRINTABLE else chr(0x100 + others.index(byte)) for byte in range(256)]


def tokenizer(**changes):
    vocabulary = {character: byte for byte, character in enumerate(alphabet())}
    vocabulary |= {"Ġt": 256, "Ġth": 257, "æĹ": 258, "æĹ¥": 259}
    root = {
        "added_tokens": [{"id": 260, "content": "<|endoftext|>", "special": True}],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "model": {"type": "BPE", "vocab": vocabulary, "merges": ["Ġ t", "Ġt h", "æ Ĺ", "æĹ ¥"]},
    }
    root["model"] |= changes.pop("model", {})
    return root | changes


def main():
    specials = [{"id": 50258, "content": "<|startoftranscript|>"}, {"id": 50363, "content": "<|notimestamps|>"}]
    cases = {
        "whole": tokenizer(),
        "pairs": tokenizer(model={"merges": [["Ġ", "t"], ["Ġt", "h"]]}),
        "whisper_specials": tokenizer(added_tokens=specials),
        "huge_id": tokenizer(added_tokens=[{"id": 2**63, "content": "x"}]),
        "no_bytes": tokenizer(model={"vocab": {"a": 0}}),
        "unigram": tokenizer(model={"type": "Unigram"}),
        "wrong_types": {"model": {"vocab": [], "merges": {}}, "added_tokens": 1},
    }
    OUT.mkdir(parents=True, exist_ok=True)
    for name, case in cases.items():
        (OUT / f"{name}.json").write_text(json.dumps(case, ensure_ascii=False, separators=(",", ":")))
    (OUT / "nested.json").write_text("[" * 2000)
    (OUT / "cut.json").write_text(json.dumps(cases["whole"], ensure_ascii=False)[:1500])


if __name__ == "__main__":
    main()

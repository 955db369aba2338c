#!/usr/bin/env python3
"""Writes seeds for the fuzzer of Wyoming connections: make_wyoming_corpus.py fuzz/corpus/wyoming"""

import json
import pathlib
import sys


def event(kind, data=None, payload=b""):
    line = {"type": kind, "version": "1.9.0"}
    body = json.dumps(data).encode() if data else b""
    if body:
        line["data_length"] = len(body)
    if payload:
        line["payload_length"] = len(payload)
    return json.dumps(line).encode() + b"\n" + body + payload


FORMAT = {"rate": 16000, "width": 2, "channels": 1}
SEEDS = {
    "utterance": event("describe") + event("transcribe", {"language": "en", "transcript_terms": ["lamp"]})
    + event("audio-start", FORMAT) + event("audio-chunk", FORMAT, b"\0\1\2\3") + event("audio-stop"),
    "inline_data": b'{"type":"ping","data":{"text":"x"}}\n',
    "bad_length": b'{"type":"audio-chunk","data_length":99999999}\n',
    "bad_json": b"{\n",
    "bad_format": event("audio-start", {"rate": -1, "width": 9, "channels": 1}),
}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (folder / name).write_bytes(content)

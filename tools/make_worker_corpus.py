#!/usr/bin/env python3
"""Writes seeds for the fuzzer of the worker's messages: make_worker_corpus.py fuzz/corpus/worker_messages

A seed is the message's type (one byte) and its body, as src/worker/wire.h has it.
"""

import pathlib
import struct
import sys


def text(value):
    return struct.pack("<Q", len(value)) + value


def segment():
    token = struct.pack("<i", 50) + text(b"\xc3") + struct.pack("<ddff", 0, 1, 0.5, -0.7)
    word = text(b" a") + struct.pack("<ddf", 0, 1, 0.5)
    return (struct.pack("<iidd", 0, 0, 0.0, 1.0) + text(b" a") + struct.pack("<Q", 1) + token
            + struct.pack("<Q", 1) + word + text(b"") + text(b"de") + struct.pack("<4f", 0, -0.2, 1.1, 0.01))


SEEDS = {
    "load": b"\0" + text(b"/models/base") + text(b"auto") + text(b"bf16") + struct.pack("<i", 2) + text(b"auto"),
    "load_reply": b"\1" + struct.pack("<i", 2) + text(b"not found") + b"\1" + bytes(44) + text(b"cpu"),
    "stop": b"\3" + struct.pack("<I", 7),
    "audio": b"\5" + struct.pack("<Id", 7, 11.0),
    "language": b"\6" + struct.pack("<I", 7) + text(b"en") + struct.pack("<f", 0.9),
    "segment": b"\7" + struct.pack("<I", 7) + segment(),
    "progress": b"\x08" + struct.pack("<Idd", 7, 1.0, float("nan")),
    "bad_count": b"\0" + struct.pack("<Q", 2**63) + b"x",
    "bad_type": b"\x40",
}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (folder / name).write_bytes(content)

#!/usr/bin/env python3
"""Writes seeds for the fuzzer of multipart bodies: make_multipart_corpus.py fuzz/corpus/multipart"""

import pathlib
import sys

# The first byte says where the body is cut in two; the boundary is "b".
FIELD = b'--b\r\nContent-Disposition: form-data; name="language"\r\n\r\nen\r\n'
FILE = (b'--b\r\nContent-Disposition: form-data; name="file"; filename="a \\"b\\".wav"\r\n'
        b"Content-Type: audio/wav\r\n\r\nRIFF\r\n--\r\n-b\0\1\r\n")
SEEDS = {
    "whole": b"\x20" + FIELD + FILE + b"--b--\r\n",
    "members": b"\x05" + FIELD.replace(b'"language"', b'"chunking_strategy[type]"')
    + FIELD.replace(b'"language"', b'"languages[]"') + b"--b--",
    "object": b"\x00" + FIELD.replace(b'"language"', b'"chunking_strategy"').replace(b"en", b'{"type":"server_vad"}')
    + b"--b--",
    "preamble": b"\x09preamble\r\n" + FILE + b"--b-- epilogue",
    "cut": b"\xff" + FIELD + FILE[:-7],
    "no_name": b"\x01--b\r\n\r\nx\r\n--b--",
    "padding": b"\x02--b  \t\r\n" + FIELD[5:] + b"--b--",
}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (folder / name).write_bytes(content)

#!/usr/bin/env python3
"""Writes fuzz/corpus/registry: one small text for each parser of src/models/registry, the first byte says which."""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUM = "0123456789abcdef" * 4


def texts():
    file = {"name": "m.gguf", "path": "sub/m.gguf", "bytes": 5, "sha256": SUM, "optional": True}
    part = {"package": "p", "version": "1.0", "member": "p/m.part1"}
    yield "catalogue", "c" + json.dumps({"models": [
        {"name": "m:1b", "kind": "llm", "aliases": ["mm"], "description": "d", "licence": "MIT", "rank": 1,
         "sources": [{"hub": "o/m", "revision": "main", "files": [file]},
                     {"url": "https://example.org/m", "files": [file]},
                     {"pypi": True, "files": [{**file, "parts": [part, part]}]}]}]})
    yield "catalogue_bad_source", "c" + json.dumps({"models": [{"name": "m", "kind": "vad", "sources": [{}]}]})
    yield "manifest", "m" + json.dumps({
        "name": "m", "kind": "whisper", "description": "", "licence": "MIT", "source": "hub o/m",
        "pulled_at": "2026-01-01T00:00:00Z",
        "files": [{"name": "model.bin", "bytes": 5, "sha256": SUM, "hash_from": "hub"}]})
    yield "manifest_bad_name", "m" + json.dumps({
        "name": "m", "kind": "llm", "files": [{"name": "../x", "bytes": 5, "sha256": SUM}]})
    yield "listing_ctranslate2", "l" + json.dumps({"siblings": [
        {"rfilename": "model.bin", "size": 5, "lfs": {"sha256": SUM, "size": 5}}, {"rfilename": "config.json"}]})
    yield "listing_gguf", "l" + json.dumps({"siblings": [
        {"rfilename": "a-Q2_K.gguf"}, {"rfilename": "a-Q4_K_M.gguf"}, {"rfilename": "sub/b.gguf"}]})
    yield "listing_shards", "l" + json.dumps({"siblings": [
        {"rfilename": "model-00001-of-00002.safetensors"}, {"rfilename": "model.safetensors.index.json"}]})
    yield "headers", ("hHTTP/1.1 302 Found\r\nX-Linked-Etag: \"" + SUM + "\"\r\nX-Linked-Size: 5\r\n\r\n"
                      "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 1000-1004/1005\r\nContent-Length: 5\r\n"
                      "Retry-After: 7\r\n\r\n")
    yield "aliases", "a# mine\nfast = base\ncourt=/srv/models/court\n"
    yield "aliases_bad", "afast\n"
    yield "name", "nSystran/faster-whisper-Large_v3:turbo-ct2.bin"


def main():
    folder = ROOT / "fuzz/corpus/registry"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts():
        (folder / name).write_bytes(text.encode())


if __name__ == "__main__":
    main()

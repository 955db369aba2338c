#!/usr/bin/env python3
"""Writes src/whisper/config_alignment_heads.h from the table in openai-whisper's whisper/__init__.py.

There each checkpoint has a base85 text of a gzipped array of bool [decoder layers, heads]; the sdist of openai-whisper on
PyPI holds the file. Usage: make_alignment_heads.py path/to/whisper/__init__.py > src/whisper/config_alignment_heads.h
"""

import ast
import base64
import gzip
import re
import sys

# Checkpoints by what their weights show: encoder layers, decoder layers, heads, vocabulary. large-v1 looks like
# large-v2, which replaced it.
GEOMETRY = {
    "tiny.en": (4, 4, 6, 51864),
    "tiny": (4, 4, 6, 51865),
    "base.en": (6, 6, 8, 51864),
    "base": (6, 6, 8, 51865),
    "small.en": (12, 12, 12, 51864),
    "small": (12, 12, 12, 51865),
    "medium.en": (24, 24, 16, 51864),
    "medium": (24, 24, 16, 51865),
    "large-v2": (32, 32, 20, 51865),
    "large-v3": (32, 32, 20, 51866),
    "large-v3-turbo": (32, 4, 20, 51866),
}
HEADER = """\
// Cross-attention heads that follow the speech in OpenAI's checkpoints. Written by tools/golden/make_alignment_heads.py.
// Source: the table of openai/whisper, whisper/__init__.py.
#ifndef SOTTO_WHISPER_CONFIG_ALIGNMENT_HEADS_H_
#define SOTTO_WHISPER_CONFIG_ALIGNMENT_HEADS_H_

#include <array>
#include <string_view>

namespace sotto::whisper {

struct KnownHeads {
  std::string_view checkpoint;
  int encoder_layers, decoder_layers, heads, vocabulary;  ///< What tells the checkpoints apart
  int count;
  std::array<std::array<int, 2>, %d> list;  ///< (decoder layer, head)
};

// clang-format off
inline constexpr std::array<KnownHeads, %d> kKnownHeads = {{
"""
FOOTER = """\
}};
// clang-format on

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_CONFIG_ALIGNMENT_HEADS_H_
"""


def main():
    source = open(sys.argv[1], encoding="utf-8").read()
    table = ast.literal_eval(re.search(r"_ALIGNMENT_HEADS = (\{.*?\n\})", source, re.S).group(1))
    rows = {}
    for name, (_, layers, heads, _) in GEOMETRY.items():
        mask = gzip.decompress(base64.b85decode(table[name]))
        if len(mask) != layers * heads:
            sys.exit(f"{name}: {len(mask)} flags, expected {layers} layers of {heads} heads")
        rows[name] = [divmod(i, heads) for i, flag in enumerate(mask) if flag]
    print(HEADER % (max(map(len, rows.values())), len(rows)), end="")
    for name, row in rows.items():
        encoder, decoder, heads, vocabulary = GEOMETRY[name]
        print(f'    {{"{name}", {encoder}, {decoder}, {heads}, {vocabulary}, {len(row)},')
        items = [f"{{{layer}, {head}}}" for layer, head in row]
        for first in range(0, len(items), 8):
            start = "     {{" if first == 0 else "       "
            end = "}}}," if first + 8 >= len(items) else ","
            print(start + ", ".join(items[first : first + 8]) + end)
    print(FOOTER, end="")


if __name__ == "__main__":
    main()

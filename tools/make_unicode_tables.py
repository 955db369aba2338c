#!/usr/bin/env python3
"""Writes src/tokenizer/unicode_tables.h: the code point ranges of Unicode letters (L*) and numbers (N*).

The version of Unicode is that of the Python that runs this (unicodedata.unidata_version); the header names it.
"""

import pathlib
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = 100


def ranges_of(major_category):
    """Inclusive ranges of code points whose general category starts with `major_category`."""
    ranges = []
    for code in range(sys.maxunicode + 1):
        if not unicodedata.category(chr(code)).startswith(major_category):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return ranges


def table(name, what, ranges):
    lines = [f"/// {what}", f"inline constexpr CodeRange {name}[] = {{"]
    line = "   "
    for first, last in ranges:
        item = f" {{0x{first:X}, 0x{last:X}}},"
        if len(line) + len(item) > COLUMNS:
            lines.append(line)
            line = "   "
        line += item
    return lines + [line, "};", ""]


def main():
    letters, numbers = ranges_of("L"), ranges_of("N")
    lines = [
        f"// Unicode {unicodedata.unidata_version} letters and numbers. Made by tools/make_unicode_tables.py; do not edit.",
        "#ifndef SOTTO_TOKENIZER_UNICODE_TABLES_H_",
        "#define SOTTO_TOKENIZER_UNICODE_TABLES_H_",
        "",
        "namespace sotto::tokenizer {",
        "",
        "struct CodeRange {",
        "  char32_t first, last;  ///< Inclusive",
        "};",
        "",
        "// clang-format off",
        *table("kLetterRanges", "General category L*, ascending.", letters),
        *table("kNumberRanges", "General category N*, ascending.", numbers),
        "// clang-format on",
        "",
        "}  // namespace sotto::tokenizer",
        "",
        "#endif  // SOTTO_TOKENIZER_UNICODE_TABLES_H_",
    ]
    (ROOT / "src/tokenizer/unicode_tables.h").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

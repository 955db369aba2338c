#!/usr/bin/env python3
"""Writes src/tokenizer/load/testdata/golden_ids.json for the vocabularies of Whisper tiny.en and base.

Token ids of awkward texts come from OpenAI's tiktoken, fed as openai-whisper feeds it (ids are ranks), and must agree
with Hugging Face's tokenizers. The tokenizer.json of multilingual models lacks the first merge, " t", which OpenAI's
vocabulary has; it is put back for the comparison. The non-speech tokens come from faster-whisper.

usage: make_tokenizer_golden.py MODELS   (a folder with tiny.en/tokenizer.json and base/tokenizer.json)
needs: pip install tiktoken tokenizers faster-whisper
"""

import json
import pathlib
import random
import sys

import faster_whisper.tokenizer
import tiktoken
import tokenizers

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

TEXTS = [
    "",
    " ",
    "Hello, world!",
    " And so my fellow Americans, ask not what your country can do for you.",
    "I'm sure they've said we'll, you'd, it's, don't, we're. I'M SURE IT'S",
    "''s '' 's ' s",
    "a  b   c    d",
    " leading",
    "trailing ",
    "trailing   ",
    "\n\n\nlines\n\n  \tand\ttabs \r\n end",
    "tab\t\tword\u00a0nbsp\u00a0\u00a0two\u3000ideographic\u2003em\u2028line\u0085nel",
    "no\u200bbreak\u180ehere\ufeff",
    "3.14159 12,000 1st 2nd ½ ² Ⅷ ٣٤٥ १२३ 一二三 x2y",
    "snake_case camelCase UPPER-lower a.b.c https://example.org/?q=1&r=%20#x",
    "!?!?... -- --- (( )) [[x]] {{y}} <<z>> @#$%^&*~`|\\",
    "♪♪♪ ♩♫♬♭♮♯ ♪ la la ♪",
    "Zażółć gęślą jaźń. Příliš žluťoučký kůň. Ærø, naïve façade, Straße",
    "cafe\u0301 na\u0308ive A\u030a",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία",
    "いろはにほへと ちりぬるを。日本語の文字起こしです、よろしくお願いします。",
    "カタカナとﾊﾝｶｸと漢字",
    "你好，世界！這是繁體中文。这是简体中文。",
    "안녕하세요, 만나서 반갑습니다. ㄱㄴㄷ",
    "مرحبا بالعالم، كيف حالك؟ ١٢٣",
    "שלום עולם, מה שלומך?",
    "हिन्दी में लिखा हुआ वाक्य।",
    "தமிழ் எழுத்து ภาษาไทยไม่มีช่องว่าง ພາສາລາວ မြန်မာဘာသာ ខ្មែរ",
    "ქართული ენა Հայերեն አማርኛ བོད་ཡིག",
    "🎉🎊 party 👩‍🚀👨‍👩‍👧‍👦 🏳️‍🌈 ❤️ 🇺🇦 👍🏽 ⚒️",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 𒀀 𓀀 𠜎",
    "mixed:日本x語y🎉z1é2",
    "supercalifragilisticexpialidocious antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "                                                                          x",
    "------------------------------------------------------------------======================",
    "\x00\x01\x1f\x7f control\x1c\x1d\x1e\x1fchars",
]


def random_texts(count):
    """Random strings over a few scripts: what no hand-made list thinks of."""
    chance = random.Random(20250101)
    pools = ["abcdefgh ABC", " \t\n\u00a0", "0123456789½٣", "'sdmtrevl", "éßñçøÅ", "日本語漢字かなカナ", "абвгд",
             "🎉❤️👍", ".,;:!?-()[]\"♪", "اردوعرب", "हिन्दी"]
    texts = []
    for _ in range(count):
        weights = [chance.random() ** 3 for _ in pools]
        length = chance.randint(1, 40)
        texts.append("".join(chance.choice(chance.choices(pools, weights)[0]) for _ in range(length)))
    return texts


PATTERN = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def byte_of_character():
    """GPT-2's byte alphabet."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


def reference_ids(root, texts):
    alphabet = byte_of_character()
    vocabulary = root["model"]["vocab"]
    ranks = {bytes(alphabet[c] for c in token): rank for token, rank in vocabulary.items() if not token.startswith("<|endof")}
    encoding = tiktoken.Encoding(name="whisper", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
    merges = root["model"]["merges"]
    if "Ġ t" not in merges:
        merges.insert(0, "Ġ t")
    other = tokenizers.Tokenizer.from_str(json.dumps(root))
    all_ids = []
    for text in texts:
        ids = encoding.encode(text)
        if ids != other.encode(text, add_special_tokens=False).ids:
            sys.exit(f"tiktoken and tokenizers disagree on {text!r}")
        all_ids.append(ids)
    return all_ids


def main():
    models = pathlib.Path(sys.argv[1])
    texts = TEXTS + random_texts(80)
    versions = f"tiktoken {tiktoken.__version__}, tokenizers {tokenizers.__version__}"
    lines = [f'"made_with": "{versions}, faster-whisper {faster_whisper.__version__}"']
    for name in ("tiny.en", "base"):
        source = (models / name / "tokenizer.json").read_text()
        whisper = faster_whisper.tokenizer.Tokenizer(
            tokenizers.Tokenizer.from_str(source), name == "base", "transcribe", "en")
        suppressed = json.dumps(whisper.non_speech_tokens, separators=(",", ":"))
        rows = [json.dumps({"text": text, "ids": ids}, ensure_ascii=False, separators=(",", ":"))
                for text, ids in zip(texts, reference_ids(json.loads(source), texts))]
        lines.append(f'"{name}": {{"non_speech": {suppressed},\n"texts": [\n' + ",\n".join(rows) + "]}")
    (ROOT / "src/tokenizer/load/testdata/golden_ids.json").write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()

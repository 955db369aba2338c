"""The basic normaliser of the Whisper paper (appendix C), for every language but English."""

import re
import unicodedata

# Letters that NFKD does not take apart, in the Latin forms that people write them with.
LETTERS = str.maketrans({"œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "ß": "ss", "ẞ": "SS", "đ": "d",
                         "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "th", "ł": "l", "Ł": "L"})


def without_brackets(text):
    """Drops what stands in square, pointed or round brackets: labels such as [Music] or (laughs)."""
    text = re.sub(r"[<\[][^>\]]*[>\]]", "", text)
    return re.sub(r"\([^)]+?\)", "", text)


def without_symbols(text, keep="", keep_diacritics=True):
    """Marks, symbols and punctuation become spaces, but for the characters of `keep`.

    Without keep_diacritics, accents are taken off their letters instead."""
    out = []
    for char in unicodedata.normalize("NFKC" if keep_diacritics else "NFKD", text):
        category = unicodedata.category(char)
        if char in keep:
            out.append(char)
        elif not keep_diacritics and category == "Mn":
            continue
        elif category[0] in "MSP":
            out.append(" ")
        else:
            out.append(char if keep_diacritics else char.translate(LETTERS))
    return "".join(out)


def normalise_basic(text):
    text = without_symbols(without_brackets(text.lower()))
    return " ".join(text.lower().split())

"""Spoken English numbers, amounts and ordinals to digits: "twenty five dollars" -> "$25".

The rules are those the Whisper paper describes and its normaliser shows: digits said one by one are joined ("one oh
one" is 101), tens after a number too ("nineteen eighty four" is 1984), "double" and "triple" repeat a digit, currencies
and percent stand at the number, a lone "one" stays a word.
"""

import re
from fractions import Fraction

_UNITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
          "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_POWERS = ["thousand", "million", "billion", "trillion", "quadrillion", "quintillion", "sextillion", "septillion",
           "octillion", "nonillion", "decillion"]

ZEROS = {"o", "oh", "zero"}
UNITS = {name: value for value, name in enumerate(_UNITS, 1)}
TENS = {name: 10 * value for value, name in enumerate(_TENS, 2)}
MULTIPLIERS = {"hundred": 100} | {name: 1000 ** power for power, name in enumerate(_POWERS, 1)}
PRECEDERS = {"minus": "-", "negative": "-", "plus": "+", "positive": "+"}
CURRENCIES = {"pound": "£", "pounds": "£", "euro": "€", "euros": "€", "dollar": "$", "dollars": "$", "cent": "¢",
              "cents": "¢"}
SYMBOLS = "-+£€$¢"
SPECIALS = {"and", "double", "triple", "point"}


def _with_endings():
    """Each number word with an ending, as (table of its kind, value, what is written after the digits)."""
    words = {"zeroth": (UNITS, 0, "th"), "first": (UNITS, 1, "st"), "second": (UNITS, 2, "nd"), "third": (UNITS, 3, "rd"),
             "fifth": (UNITS, 5, "th"), "eighth": (UNITS, 8, "th"), "ninth": (UNITS, 9, "th"),
             "twelfth": (UNITS, 12, "th")}
    for name, value in UNITS.items():
        words["sixes" if name == "six" else name + "s"] = (UNITS, value, "s")
        if value > 3 and value not in (5, 8, 9, 12):
            words[name + "th"] = (UNITS, value, "th")
    for name, value in TENS.items():
        words[name[:-1] + "ies"] = (TENS, value, "s")
        words[name[:-1] + "ieth"] = (TENS, value, "th")
    for name, value in MULTIPLIERS.items():
        words[name + "s"] = (MULTIPLIERS, value, "s")
        words[name + "th"] = (MULTIPLIERS, value, "th")
    return words


ENDED = _with_endings()
DIGIT_WORDS = ZEROS | set(UNITS) | set(TENS)  # may follow "point"
NUMBER_WORDS = DIGIT_WORDS | set(MULTIPLIERS)
DIGITS = re.compile(r"\d+(\.\d+)?")


def _bare(word):
    """A word without the sign or currency before it."""
    return word[1:] if word and word[0] in SYMBOLS else word


def _is_digits(word):
    return word is not None and DIGITS.fullmatch(_bare(word)) is not None


def _begins_number(word):
    return word in NUMBER_WORDS or word in ENDED or _is_digits(word)


class _Reader:
    """Walks over the words of a sentence with one number in the making.

    `value` is None, an int that may still grow ("two" -> "two hundred"), or the str of digits said one by one."""

    def __init__(self, words):
        self.words = words
        self.out = []
        self.value = None
        self.prefix = ""

    def emit(self, item):
        self.out.append(self.prefix + str(item))
        self.prefix = ""
        self.value = None

    def finish_number(self):
        if self.value is not None:
            self.emit(self.value)

    def run(self):
        skip = False
        for i, word in enumerate(self.words):
            if skip:
                skip = False
                continue
            previous = self.words[i - 1] if i > 0 else None
            following = self.words[i + 1] if i + 1 < len(self.words) else None
            skip = self.take(word, previous, following)
        self.finish_number()
        return self.out

    def take(self, word, previous, following):
        """One word; True when it used the following one, too."""
        if _is_digits(word):
            self.take_digits(word)
        elif word in ZEROS:
            self.value = str("" if self.value is None else self.value) + "0"
        elif word in UNITS:
            self.add_unit(UNITS[word], previous)
        elif word in TENS:
            self.add_tens(TENS[word])
        elif word in MULTIPLIERS:
            self.multiply(MULTIPLIERS[word])
        elif word in ENDED:
            self.take_ended(word, previous)
        elif word in PRECEDERS:
            self.take_sign(word, following)
        elif word in CURRENCIES and self.value is not None:
            self.prefix = CURRENCIES[word]
            self.emit(self.value)
        elif word in ("percent", "per") and self.value is not None:
            return self.take_percent(word, following)
        elif word in SPECIALS:
            return self.take_special(word, previous, following)
        else:
            self.finish_number()
            self.emit(word)
        return False

    def take_digits(self, word):
        bare = _bare(word)
        sign = word[: len(word) - len(bare)]
        if isinstance(self.value, str) and self.value.endswith("."):
            self.value += bare  # "three point 5"
            return
        self.finish_number()
        self.prefix = sign or self.prefix
        self.value = int(bare) if Fraction(bare).denominator == 1 else bare

    def add_unit(self, unit, previous):
        """1 to 19 after what was said so far."""
        value = self.value
        if value is None:
            self.value = unit
        elif isinstance(value, str) or previous in UNITS:
            if previous in TENS and unit < 10:
                self.value = str(value)[:-1] + str(unit)  # "nineteen eighty four"
            else:
                self.value = str(value) + str(unit)
        else:
            fits = value % (10 if unit < 10 else 100) == 0
            self.value = value + unit if fits else str(value) + str(unit)

    def add_tens(self, tens):
        if self.value is None:
            self.value = tens
        elif isinstance(self.value, str):
            self.value += str(tens)
        else:
            self.value = self.value + tens if self.value % 100 == 0 else str(self.value) + str(tens)

    def multiply(self, factor):
        value = self.value
        if value is None:
            self.value = factor
        elif isinstance(value, str) or value == 0:
            product = Fraction(value) * factor if re.fullmatch(r"\d+(\.\d+)?", str(value)) else None
            if product is not None and product.denominator == 1:
                self.value = int(product)  # "1.5 million"
            else:
                self.finish_number()
                self.value = factor
        else:
            self.value = value // 1000 * 1000 + value % 1000 * factor

    def take_ended(self, word, previous):
        table, number, ending = ENDED[word]
        if table is MULTIPLIERS:
            self.multiply(number)
        elif table is TENS:
            self.add_tens(number)
        else:
            self.add_unit(number, previous)
        self.emit(str(self.value) + ending)

    def take_sign(self, word, following):
        self.finish_number()
        if _begins_number(following):
            self.prefix = PRECEDERS[word]
        else:
            self.emit(word)

    def take_percent(self, word, following):
        if word == "percent" or following == "cent":
            self.emit(str(self.value) + "%")
            return word == "per"
        self.finish_number()
        self.emit(word)
        return False

    def take_special(self, word, previous, following):
        if word == "and" and previous in MULTIPLIERS and _begins_number(following):
            return False  # "a hundred and five"
        if word in ("double", "triple") and (following in UNITS or following in ZEROS) and UNITS.get(following, 0) < 10:
            times = 2 if word == "double" else 3
            digits = str(UNITS.get(following, 0)) * times
            self.value = str("" if self.value is None else self.value) + digits
            return True
        if word == "point" and (following in DIGIT_WORDS or _is_digits(following)):
            self.value = str("" if self.value is None else self.value) + "."
            return False
        self.finish_number()
        self.emit(word)
        return False


def _split_tokens(text):
    """Halves are said as ".5", digits and letters stand apart, but endings stay at their digits."""
    parts = re.split(r"\band\s+a\s+half\b", text)
    joined = parts[0]
    for part in parts[1:]:
        words = joined.rsplit(maxsplit=1)
        last = words[-1] if words else ""
        number = last in NUMBER_WORDS or _is_digits(last)
        joined += (" point five " if number else " and a half ") + part
    text = re.sub(r"([a-z])([0-9])", r"\1 \2", joined)
    text = re.sub(r"([0-9])([a-z])", r"\1 \2", text)
    return re.sub(r"([0-9])\s+(st|nd|rd|th|s)\b", r"\1\2", text)


def _join_cents(text):
    def dollars_and_cents(match):
        return f"{match[1]}{match[2]}.{int(match[3]):02d}"

    text = re.sub(r"([€£$])([0-9]+) (?:and )?¢([0-9]{1,2})\b", dollars_and_cents, text)
    return re.sub(r"[€£$]0\.([0-9]{1,2})\b", lambda match: f"¢{int(match[1])}", text)


def spoken_numbers_to_digits(text):
    """`text`: lower case, words apart by spaces."""
    text = " ".join(_Reader(_split_tokens(text).split()).run())
    text = _join_cents(text)
    return re.sub(r"\b1(s?)\b", r"one\1", text)

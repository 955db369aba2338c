"""Error rates of one text against another, in the unit that its language asks for."""

from .basic_text import normalise_basic
from .chinese import simplified
from .english_text import normalise_english
from .errors import Errors, count_errors, distance
from .numbers import UNITS, ZEROS

CHARACTER_LANGUAGES = {"zh", "ja", "ko", "yue"}


def normalise(text, language):
    """Whisper's English normaliser for English and for recordings without a language, else its basic one."""
    if language in (None, "en"):
        return normalise_english(text)
    text = normalise_basic(text)
    return simplified(text) if language in ("zh", "yue") else text


def unit_of(language, wer_unit=None):
    if wer_unit == "digits only":
        return "digits"
    return "characters" if language in CHARACTER_LANGUAGES else "words"


def items_of(text, language, unit):
    """What is compared: words or characters of the normalised text, or the digits said, in words or as digits."""
    if unit == "digits":
        return digits_of(text)
    text = normalise(text, language)
    return text.split() if unit == "words" else list(text.replace(" ", ""))


def digits_of(text):
    words = normalise_basic(text).split()
    spoken = ["0" if word in ZEROS else str(UNITS.get(word, word)) for word in words]
    return [char for word in spoken for char in word if char.isdigit()]


def compare(reference, hypothesis, language, unit):
    return count_errors(items_of(reference, language, unit), items_of(hypothesis, language, unit))


def character_errors(reference, hypothesis, language):
    """Characters, spaces between words included but in the languages that have none; as (errors, length)."""
    texts = [normalise(text, language) for text in (reference, hypothesis)]
    if language in CHARACTER_LANGUAGES:
        texts = [text.replace(" ", "") for text in texts]
    return distance(texts[0], texts[1]), len(texts[0])


def total(errors):
    return sum(errors, Errors())

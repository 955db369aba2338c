"""The English normaliser of the Whisper paper (appendix C): what counts as the same words for its error rates."""

import re

from .basic_text import without_brackets, without_symbols
from .numbers import spoken_numbers_to_digits
from .spelling import american_spelling

_FILLERS = re.compile(r"\b(hmm|mm|mhm|mmm|uh|um)\b")

# Whole words first, then titles, then endings; order matters where one holds another.
_WORDS = {"won't": "will not", "can't": "can not", "let's": "let us", "ain't": "aint", "y'all": "you all",
          "wanna": "want to", "gotta": "got to", "gonna": "going to", "i'ma": "i am going to", "imma": "i am going to",
          "woulda": "would have", "coulda": "could have", "shoulda": "should have", "ma'am": "madam"}
_TITLES = {"mr": "mister", "mrs": "missus", "st": "saint", "dr": "doctor", "prof": "professor", "capt": "captain",
           "gov": "governor", "ald": "alderman", "gen": "general", "sen": "senator", "rep": "representative",
           "pres": "president", "rev": "reverend", "hon": "honorable", "asst": "assistant", "assoc": "associate",
           "lt": "lieutenant", "col": "colonel", "jr": "junior", "sr": "senior", "esq": "esquire"}
_PERFECT = {"'d been": " had been", "'s been": " has been", "'d gone": " had gone", "'s gone": " has gone",
            "'d done": " had done", "'s got": " has got"}
_ENDINGS = {"n't": " not", "'re": " are", "'s": " is", "'d": " would", "'ll": " will", "'t": " not", "'ve": " have",
            "'m": " am"}

_REPLACEMENTS = (
    [(re.compile(rf"\b{word}\b"), full) for word, full in _WORDS.items()]
    + [(re.compile(rf"\b{word}\b"), full + " ") for word, full in _TITLES.items()]
    + [(re.compile(rf"{ending}\b"), full) for ending, full in (_PERFECT | _ENDINGS).items()]
)


def normalise_english(text):
    text = without_brackets(text.lower().replace("’", "'").replace("…", " "))
    text = _FILLERS.sub("", text)
    text = re.sub(r"\s+'", "'", text)
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    text = re.sub(r"(\d),(\d)", r"\1\2", text)
    text = re.sub(r"\.([^0-9]|$)", r" \1", text)
    text = without_symbols(text, keep=".%$¢€£", keep_diacritics=False)
    text = american_spelling(spoken_numbers_to_digits(text))
    # Signs that turned out to belong to no number.
    text = re.sub(r"[.$¢€£]([^0-9])", r" \1", text)
    text = re.sub(r"([^0-9])%", r"\1 ", text)
    return " ".join(text.split())

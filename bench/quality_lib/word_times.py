"""How far the times of words are from those of a reference."""

from .errors import align
from .measure import normalise


def _spread(values):
    if not values:
        return {"mean": None, "median": None, "p95": None}
    ordered = sorted(values)
    return {"mean": round(sum(values) / len(values), 4), "median": round(ordered[len(ordered) // 2], 4),
            "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 4)}


def word_time_errors(reference, words, language):
    """Absolute differences in seconds of the words that both have in the same place.

    Both are lists of {"word", "start", "end"}. Words that normalise to nothing (punctuation) are left out."""
    def prepared(items):
        pairs = [(normalise(item["word"], language), item) for item in items]
        return [pair for pair in pairs if pair[0]]

    wanted, got = prepared(reference), prepared(words)
    matched = [(wanted[i][1], got[j][1]) for i, j in align([w for w, _ in wanted], [w for w, _ in got])
               if i is not None and j is not None and wanted[i][0] == got[j][0]]
    return {"words": len(wanted), "matched": len(matched),
            "start": _spread([abs(a["start"] - b["start"]) for a, b in matched]),
            "end": _spread([abs(a["end"] - b["end"]) for a, b in matched])}

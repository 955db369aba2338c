"""Edit distance between sequences of words or characters."""

from dataclasses import dataclass


@dataclass
class Errors:
    """Counts of one or more comparisons; `length` is that of the references."""

    length: int = 0
    substitutions: int = 0
    deletions: int = 0
    insertions: int = 0

    @property
    def total(self):
        return self.substitutions + self.deletions + self.insertions

    @property
    def rate(self):
        """Errors per reference item; None without reference items."""
        return self.total / self.length if self.length else None

    def __add__(self, other):
        return Errors(self.length + other.length, self.substitutions + other.substitutions,
                      self.deletions + other.deletions, self.insertions + other.insertions)


def align(reference, hypothesis):
    """The cheapest edit script as (reference index or None, hypothesis index or None), in order."""
    columns = len(hypothesis) + 1
    rows = [list(range(columns))]
    for i, wanted in enumerate(reference, 1):
        above = rows[-1]
        row = [i] + [0] * (columns - 1)
        for j, got in enumerate(hypothesis, 1):
            row[j] = above[j - 1] if wanted == got else 1 + min(above[j - 1], above[j], row[j - 1])
        rows.append(row)
    pairs = []
    i, j = len(reference), len(hypothesis)
    while i or j:
        if i and j and (reference[i - 1] == hypothesis[j - 1] or rows[i][j] == rows[i - 1][j - 1] + 1):
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif i and rows[i][j] == rows[i - 1][j] + 1:
            i -= 1
            pairs.append((i, None))
        else:
            j -= 1
            pairs.append((None, j))
    return pairs[::-1]


def count_errors(reference, hypothesis):
    errors = Errors(length=len(reference))
    for i, j in align(reference, hypothesis):
        if i is None:
            errors.insertions += 1
        elif j is None:
            errors.deletions += 1
        elif reference[i] != hypothesis[j]:
            errors.substitutions += 1
    return errors


def distance(reference, hypothesis):
    """Edit distance alone, by bit-parallel columns (Myers 1999, in Hyyro's form): fast enough for long texts."""
    if not reference:
        return len(hypothesis)
    full = (1 << len(reference)) - 1
    last = 1 << (len(reference) - 1)
    positions = {}
    for i, item in enumerate(reference):
        positions[item] = positions.get(item, 0) | 1 << i
    plus, minus, score = full, 0, len(reference)
    for item in hypothesis:
        equal = positions.get(item, 0)
        diagonal = ((((equal & plus) + plus) ^ plus) | equal | minus) & full
        up = minus | (full & ~(diagonal | plus))
        down = plus & diagonal
        score += bool(up & last) - bool(down & last)
        up = ((up << 1) | 1) & full
        down = (down << 1) & full
        plus = (down | (full & ~(diagonal | up))) & full
        minus = up & diagonal
    return score

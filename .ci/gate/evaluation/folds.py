"""The fold of each row, by a hash of what the row is. See crates/evaluation/src/cutoffs/folds.rs."""

from collections import Counter

import numpy as np

FOLDS = 5
WORD = (1 << 64) - 1


def folds(probability, came_true, is_stated=None):
    """The fold of each row; `is_stated` leaves out rows without a probability."""
    seen = Counter()
    fold = []
    for place, (millionths, is_true) in enumerate(zip(probability.tolist(), came_true.tolist())):
        known = is_stated is None or is_stated[place]
        code = millionths * 2 + is_true if known else (1 << 32) - 1
        fold.append(mixed(code << 32 | seen[code]) % FOLDS)
        seen[code] += 1
    return np.array(fold, dtype=int)


def of_yes(rows):
    return folds(rows.yes, rows.is_yes)


def of_confidence(rows):
    return folds(rows.confidence, rows.right, rows.answered)


def mixed(code):
    """The finalizer of SplitMix64."""
    code = (code ^ code >> 30) * 0xBF58476D1CE4E5B9 & WORD
    code = (code ^ code >> 27) * 0x94D049BB133111EB & WORD
    return code ^ code >> 31

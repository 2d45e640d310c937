"""Certified cutoffs, searched row by row with numpy and SciPy. See check.py."""

import numpy as np
from scipy.special import bdtr
from scipy.stats import beta, binom

from folds import FOLDS, of_confidence, of_yes

ONE = 1_000_000
PERCENT = ONE // 100
MOST_MARKS = 20_000


def binomial(case):
    wrong, of, error = case["wrong"], case["of"], case["error"]
    return {
        "at_most": float(binom.cdf(wrong, of, error)),
        "upper_bound": upper_bound(wrong, of, case["level"]),
    }


def upper_bound(wrong, of, level):
    """Clopper and Pearson's, by the quantile of the beta distribution."""
    return 1.0 if wrong >= of else float(beta.ppf(1 - level, wrong + 1, of - wrong))


def at_most(wrong, of, error):
    return 1.0 if wrong >= of else float(bdtr(wrong, of, error))


class Marks:
    """Wrong and all answers that are no below each percent, and yes (or automatic) from it on."""

    def __init__(self, rows, mask):
        if rows.type == "yes_no":
            percent = rows.yes[mask] // PERCENT
            is_no = percent < 50
            is_wrong = np.where(is_no, rows.is_yes[mask], ~rows.is_yes[mask])
        else:
            answered = mask & rows.answered
            percent = rows.confidence[answered] // PERCENT
            is_no = np.zeros(len(percent), dtype=bool)
            is_wrong = ~rows.right[answered]
        steps = np.arange(102)
        no = is_no & (percent < steps[:, None])
        yes = ~is_no & (percent >= steps[:, None])
        self.no = list(zip((no & is_wrong).sum(axis=1).tolist(), no.sum(axis=1).tolist()))
        self.yes = list(zip((yes & is_wrong).sum(axis=1).tolist(), yes.sum(axis=1).tolist()))

    def count(self, no_below, yes_from):
        """Wrong and all automatic answers; nothing is below 0, or from 101 on."""
        no, yes = self.no[no_below], self.yes[yes_from]
        return no[0] + yes[0], no[1] + yes[1]


def beside(marks, wider, within):
    """The answers that are in the first of the wider regions with 20 more answers, and not within."""
    inside = marks.count(*within)
    outside = (0, 0)
    for region in wider:
        counted = marks.count(*region)
        outside = counted[0] - inside[0], counted[1] - inside[1]
        if outside[1] >= 20:
            break
    return outside


def regions(rows, marks):
    """Each region's cutoffs, its wrong answers and its answers, and those beside it."""
    if rows.type != "yes_no":
        for c in range(101):
            outside = beside(marks, [(0, wider) for wider in range(c - 1, -1, -1)], (0, c))
            yield (0, c), marks.count(0, c), outside
        return
    no_below, yes_from = 50, 50
    while True:
        of_no = beside(marks, [(a, 101) for a in range(no_below + 1, 51)], (no_below, 101))
        of_yes = beside(marks, [(0, b) for b in range(yes_from - 1, 49, -1)], (0, yes_from))
        both = of_no[0] + of_yes[0], of_no[1] + of_yes[1]
        yield (no_below, yes_from), marks.count(no_below, yes_from), both
        if (no_below, yes_from) == (1, 100):
            return
        one, other = (of_no[0] + 1) * (of_yes[1] + 2), (of_yes[0] + 1) * (of_no[1] + 2)
        shrinks_no = one > other or (one == other and 50 - no_below <= yes_from - 50)
        if no_below > 1 and (shrinks_no or yes_from == 100):
            no_below -= 1
        else:
            yes_from += 1


def search(listed, error, level, scale=lambda wrong, of: (wrong, of)):
    left, last, listed_before = level, None, None
    for cutoffs, (wrong, of), (wrong_beside, of_beside) in listed:
        wrong, of = scale(wrong, of)
        is_next_step = listed_before is not None and of * 10 > listed_before * 9
        listed_before = of
        if last is not None and of * 10 > last * 9:
            continue
        if at_most(0, of, error) > left:
            return None
        is_last = at_most(0, of, error) > left / 3
        if not is_last and is_next_step and of_beside >= 10 and wrong_beside > 2 * error * of_beside:
            continue
        spent = left if is_last else left / 3
        if at_most(wrong, of, error) <= spent:
            return cutoffs, wrong, of, spent
        left, last = left - spent, of
    return None


def more_marks(listed, rows, error, level):
    if rows == 0:
        return next(of for of in range(1, MOST_MARKS) if at_most(0, of, error) <= level)
    widest = listed[0][1][1]
    telling = [region for region in listed if region[1][1] >= min(10, widest)]
    more = 10
    while rows + more <= MOST_MARKS:
        total = rows + more
        if search(telling, error, level, lambda wrong, of: (-(-wrong * total // rows), of * total // rows)):
            return more
        more += 10 + more // 20 // 10 * 10
    return None


def certificate(rows, error, sure):
    level = 1 - sure
    everything = np.ones(rows.count, dtype=bool)
    marks = Marks(rows, everything)
    listed = list(regions(rows, marks))
    found = search(listed, error, level)
    result = {"marks": rows.count, "held_out": held_out(rows, error, level)}
    if found is None:
        names = ["no_below", "yes_from", "wrong", "error_at_most"]
        return result | dict.fromkeys(names) | {"more_marks": more_marks(listed, rows.count, error, level)}
    (no_below, yes_from), wrong, of, spent = found
    return result | {
        "no_below": no_below if rows.type == "yes_no" else None,
        "yes_from": yes_from,
        "wrong": [wrong, of],
        "error_at_most": upper_bound(wrong, of, spent),
        "more_marks": 0,
    }


def held_out(rows, error, level):
    """The right and the automatic answers of the folds that did not choose the cutoffs, and all rows."""
    fold = of_yes(rows) if rows.type == "yes_no" else of_confidence(rows)
    right = automatic = 0
    for number in range(FOLDS):
        found = search(regions(rows, Marks(rows, fold != number)), error, level)
        if found:
            held = Marks(rows, fold == number)
            wrong, of = held.count(*found[0])
            right, automatic = right + of - wrong, automatic + of
    return [right, automatic, rows.count]

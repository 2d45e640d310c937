"""The drift of a question between two windows, as SciPy computes it. See check.py."""

from collections import Counter
from decimal import Decimal

import numpy as np
from expected import millionths, outcomes_of, wilson
from scipy.spatial.distance import jensenshannon
from scipy.stats import chi2, chi2_contingency, hypergeom

PERCENT = 10_000
# the fewest answers that each window is expected to have in a group
EXPECTED = 10
SMOOTHING = 0.5


def drift(case):
    now, before = len(case["now"]), len(case["before"])
    return {
        "now": now,
        "before": before,
        "shares": shares(case),
        "probabilities": probabilities(case) if now and before else None,
    }


def shares(case):
    windows = [Counter(outcome(case, answer) for answer in case[name]) for name in ("now", "before")]
    sizes = [len(case["now"]), len(case["before"])]
    return [share(key, [window[key] for window in windows], sizes) for key in listed(case)]


def listed(case):
    if case["question"]["type"] != "yes_no":
        return outcomes_of(case["question"])
    no_below, yes_from = cutoffs(case)
    return ["yes", "unsure", "no"] if yes_from > no_below else ["yes", "no"]


def cutoffs(case):
    no_below = 0.5 if case["no_below"] is None else case["no_below"]
    yes_from = no_below if case["yes_from"] is None else case["yes_from"]
    return Decimal(str(no_below)) * 100, Decimal(str(yes_from)) * 100


def outcome(case, answer):
    if answer["type"] != "yes_no":
        return answer["value" if answer["type"] == "choice" else "level"]
    no_below, yes_from = cutoffs(case)
    percent = millionths(answer["probability"]) // PERCENT
    return "no" if percent < no_below else "yes" if percent >= yes_from else "unsure"


def share(key, counts, sizes):
    now, before = zip(counts, sizes)
    both = sizes[0] and sizes[1]
    return {
        "outcome": key,
        "now": list(now),
        "before": list(before),
        "difference": now[0] / now[1] - before[0] / before[1] if both else None,
        "difference_interval": newcombe(now, before) if both else None,
        "p": fisher(now, before) if both else 1.0,
    }


def newcombe(now, before):
    """Method 10: by Wilson's interval of each share."""
    (low, high), (low_before, high_before) = wilson(*now), wilson(*before)
    share, share_before = now[0] / now[1], before[0] / before[1]
    difference = share - share_before
    down = np.sqrt((share - low) ** 2 + (high_before - share_before) ** 2)
    up = np.sqrt((high - share) ** 2 + (share_before - low_before) ** 2)
    return [float(difference - down), float(difference + up)]


def fisher(now, before):
    """Twice the tail on the side of the difference."""
    chance = hypergeom(now[1] + before[1], now[0] + before[0], now[1])
    is_more = now[0] * before[1] >= before[0] * now[1]
    return min(1.0, 2 * float(chance.sf(now[0] - 1) if is_more else chance.cdf(now[0])))


def probabilities(case):
    table = np.array(groups(case), dtype=float)
    now, before = table.sum(axis=0)
    degrees = len(table) - 1
    p, q = ((table + SMOOTHING) / (table + SMOOTHING).sum(axis=0)).T
    chance = float(chi2.isf(0.05, degrees) * (1 / now + 1 / before)) if degrees else 0.0
    return {
        "psi": float(((p - q) * np.log(p / q)).sum()),
        "js_squared": float(jensenshannon(*table.T, 2)) ** 2,
        "psi_by_chance": chance,
        "js_by_chance": float(np.sqrt(min(1.0, chance / (8 * np.log(2))))),
        "p": float(chi2_contingency(table, correction=False).pvalue) if degrees else 1.0,
    }


def groups(case):
    """Answers of both windows by outcome and tenth of its probability; small groups are merged."""
    cells = {}
    for place, name in enumerate(("now", "before")):
        for answer in case[name]:
            cells.setdefault(cell(answer), [0, 0])[place] += 1
    sizes = [len(case["now"]), len(case["before"])]
    by_size = sorted((cells[key] for key in sorted(cells)), key=sum)
    kept, merged = [], [0, 0]
    for group in by_size:
        if is_large(group, sizes) and (is_large(merged, sizes) or merged == [0, 0]):
            kept.append(group)
        else:
            merged = [merged[0] + group[0], merged[1] + group[1]]
    return kept + [merged] * (merged != [0, 0])


def is_large(group, sizes):
    return sum(group) * min(sizes) / sum(sizes) >= EXPECTED


def cell(answer):
    """The outcome, none before all others, and the tenth of its probability."""
    if answer["type"] == "yes_no":
        return "", min(9, millionths(answer["probability"]) // (10 * PERCENT))
    key = answer["value" if answer["type"] == "choice" else "level"]
    probability = 0 if key is None else answer["probabilities"].get(key, 0)
    return key or "", min(9, millionths(probability) // (10 * PERCENT))

"""The drift of a question between two windows, as SciPy computes it. See check.py."""

from collections import Counter
from decimal import Decimal
from itertools import groupby

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
    """Of the ways to group answers, the one that sets the windows further apart."""
    ways = groupings(case)
    return max((of_groups(groups, len(ways)) for groups in ways), key=lambda it: it["psi"], default=None)


def of_groups(groups, ways):
    table = np.array(groups, dtype=float)
    now, before = table.sum(axis=0)
    degrees = len(table) - 1
    p, q = ((table + SMOOTHING) / (table + SMOOTHING).sum(axis=0)).T
    chance = float(chi2.isf(0.05 / ways, degrees) * (1 / now + 1 / before)) if degrees else 0.0
    return {
        "psi": float(((p - q) * np.log(p / q)).sum()),
        "js_squared": float(jensenshannon(*table.T, 2)) ** 2,
        "psi_by_chance": chance,
        "js_by_chance": float(np.sqrt(min(1.0, chance / (8 * np.log(2))))),
        "p": min(1.0, ways * p_of(groups, [int(now), int(before)])),
    }


def p_of(groups, sizes):
    """Pearson's test, or Fisher's if one of two groups is small."""
    if len(groups) == 1:
        return 1.0
    small = [group for group in groups if not is_large(group, sizes)]
    if small:
        return fisher(*zip(small[0], sizes))
    return float(chi2_contingency(np.array(groups), correction=False).pvalue)


def groupings(case):
    """The answers of both windows by outcome and tenth of its probability. Small groups are pooled
    with those of their outcome, or with those of their tenth."""
    cells = {}
    for place, name in enumerate(("now", "before")):
        for answer in case[name]:
            cells.setdefault(cell(answer), [0, 0])[place] += 1
    sizes = [len(case["now"]), len(case["before"])]
    ways = [pooled(cells, sizes, part) for part in (0, 1)]
    ways = ways[:1] if ways[0] == ways[1] else ways
    return [groups for groups in ways if len(groups) > 1 or len(cells) == 1]


def pooled(cells, sizes, part):
    """Small groups are pooled with those that have this part of the key in common, then with all."""
    in_order = sorted(cells, key=lambda key: (key[part], key))
    groups = [cells[key] for key in in_order if is_large(cells[key], sizes)]
    small = [key for key in in_order if not is_large(cells[key], sizes)]
    left = []
    for _, keys in groupby(small, key=lambda key: key[part]):
        left += pool([cells[key] for key in keys], sizes, groups)
    rest = pool(left, sizes, groups)
    if len(groups) < 2 and len(small) == len(cells) and is_large(sizes, sizes):
        groups = halves([cells[key] for key in in_order], sizes)
    elif rest:
        groups.sort(key=sum)
        last = [groups.pop(0)] if len(groups) > 1 else []
        groups.append(summed(rest + last))
    return sorted(groups)


def halves(groups, sizes):
    """The groups whose middle is in the first half of all answers, and the others."""
    ends = np.cumsum([sum(group) for group in groups])
    first = sum(2 * int(end) - sum(group) <= sum(sizes) for end, group in zip(ends, groups))
    return [summed(groups[:first]), summed(groups[first:])]


def pool(small, sizes, groups):
    """Adds pools of neighbours to the groups, and gives those that are left."""
    left = []
    for group in small:
        left.append(group)
        if is_large(summed(left), sizes):
            groups.append(summed(left))
            left = []
    return left


def summed(groups):
    return [sum(counts) for counts in zip(*groups)]


def is_large(group, sizes):
    return sum(group) * min(sizes) / sum(sizes) >= EXPECTED


def cell(answer):
    """The outcome, none before all others, and the tenth of its probability."""
    if answer["type"] == "yes_no":
        return "", min(9, millionths(answer["probability"]) // (10 * PERCENT))
    key = answer["value" if answer["type"] == "choice" else "level"]
    probability = 0 if key is None else answer["probabilities"].get(key, 0)
    return key or "", min(9, millionths(probability) // (10 * PERCENT))

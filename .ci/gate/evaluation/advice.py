"""Thresholds and cutoffs, chosen and held out row by row with numpy. See check.py."""

from fractions import Fraction

import numpy as np

from folds import FOLDS, of_confidence, of_yes

ONE = 1_000_000
PERCENT = ONE // 100


def raised(wanted):
    """The wanted share, then higher ones by whole percents, 1 at last."""
    target = Fraction(round(Fraction(str(wanted)) * ONE), ONE)
    while target < 1:
        yield target
        target += Fraction(1, 100)
    yield Fraction(1)


def reaches(count, of, target):
    return of > 0 and Fraction(int(count), int(of)) >= target


def held_out(fold, choose):
    """Each fold's rows, with what `choose` names from the other folds' rows."""
    for number in range(FOLDS):
        yield fold == number, choose(fold != number)


def automation(rows, wanted):
    steps = np.arange(101) * PERCENT
    covers = rows.answered[:, None] & (rows.confidence[:, None] >= steps)
    right = covers & rows.right[:, None]
    tables = {}

    def choose(mask, target):
        name = mask.tobytes()
        if name not in tables:
            tables[name] = covers[mask].sum(axis=0), right[mask].sum(axis=0)
        covered, of_them = tables[name]
        return next((c for c in range(101) if reaches(of_them[c], covered[c], target)), None)

    def measured(mask, percent):
        if percent is None:
            return np.array([0, mask.sum(), 0, 0])
        covered = mask & covers[:, percent]
        return np.array([covered.sum(), mask.sum(), (covered & rows.right).sum(), covered.sum()])

    fold = of_confidence(rows)
    targets = list(raised(wanted))
    for target in targets:
        pooled = sum(measured(mask, percent) for mask, percent in held_out(fold, lambda m: choose(m, target)))
        if not reaches(pooled[2], pooled[3], targets[0]):
            continue
        everything = np.ones(rows.count, dtype=bool)
        percent = choose(everything, target)
        if percent is None:
            return None
        return {
            "confidence": percent / 100,
            "all": proportions(measured(everything, percent)),
            "held_out": proportions(pooled),
        }
    return None


def proportions(counts):
    covered, rows, right, of = (int(count) for count in counts)
    return {"coverage": [covered, rows], "accuracy": [right, of]}


def share(percent):
    return None if percent is None else percent / 100


def better(one, other):
    """Whether a cutoff is at least as precise and finds at least as much, and one of them more."""
    if one[1] == 0 or other[1] == 0:
        return False
    precise = Fraction(*one) - Fraction(*other)
    return one[0] >= other[0] and precise >= 0 and (one[0] > other[0] or precise > 0)


def cutoffs(rows, goal):
    if rows.type != "yes_no":
        return None
    return Cutoffs(rows).for_goal(*goal)


class Cutoffs:
    def __init__(self, rows):
        self.rows = rows
        no_below, yes_from = rows.cutoffs
        no_below = 0.5 if no_below is None else no_below
        self.now = no_below, no_below if yes_from is None else yes_from
        steps = np.arange(101) * PERCENT
        self.above = rows.yes[:, None] >= steps
        self.everything = np.ones(rows.count, dtype=bool)
        self.fold = of_yes(rows)
        self.tables = {}

    def table(self, mask):
        """For each percent: rows at or above, those of them marked yes, rows below, those marked no."""
        name = mask.tobytes()
        if name not in self.tables:
            above, yes = self.above[mask], self.rows.is_yes[mask][:, None]
            counted = [above, above & yes, ~above, ~above & ~yes]
            self.tables[name] = [part.sum(axis=0) for part in counted]
        return self.tables[name]

    def for_goal(self, kind, *numbers):
        if int(self.rows.is_yes.sum()) in (0, self.rows.count):
            nothing = (None, None)
            return self.advice(nothing, 0, self.tried(lambda mask: nothing))
        return getattr(self, kind)(*numbers)

    def precision(self, wanted):
        def yes_from(mask, target):
            if target is None:
                return None
            above, yes, _, _ = self.table(mask)
            return self.best(yes, above, range(1, 101), target)

        def no_below(mask, target, highest):
            _, _, below, no = self.table(mask)
            highest = 99 if highest is None else min(highest, 99)
            percent = self.best(no, below, range(1, highest + 1), target)
            if highest < 100 and percent is not None and limit(mask, highest, percent, below, no):
                return highest
            return percent

        def limit(mask, highest, percent, below, no):
            """Whether no ends where yes begins: nothing lies between."""
            return highest == yes_from_of(mask) and (below[highest], no[highest]) == (below[percent], no[percent])

        def yes_from_of(mask):
            return kept[0] if kept else yes_from(mask, yes_target)

        kept = []

        wanted = list(raised(wanted))
        yes_target = self.first(wanted, lambda m, t: (None, yes_from(m, t)), "precision")
        if yes_target is not None and yes_from(self.everything, yes_target) is None:
            yes_target = None

        def both(mask, target):
            yes = yes_from(mask, yes_target)
            return (None if target is None else no_below(mask, target, yes)), yes

        no_target = self.first(wanted, both, "no_precision")
        if no_target is not None and both(self.everything, no_target)[0] is None:
            no_target = None
        chosen = both(self.everything, no_target)
        behind = 0 if chosen[1] is None else int(self.above[:, chosen[1]].sum())
        held = self.tried(lambda m: both(m, no_target))
        no, yes = share(chosen[0]), share(chosen[1])
        if yes is not None and better(self.found_yes(self.now[1]), self.found_yes(yes)):
            yes = self.now[1]
            kept.append(int(yes * 100))
            no = share(None if no_target is None else no_below(self.everything, no_target, kept[0]))
        fits = yes is None or self.now[0] <= yes
        if no is not None and fits and better(self.found_no(self.now[0]), self.found_no(no)):
            no = self.now[0]
        return self.advice((no, yes), behind, held)

    def best(self, right, of, percents, target):
        """Of the percents that reach the target the one that finds most, then the most precise, then the middle."""
        reached = [c for c in percents if reaches(right[c], of[c], target)]
        if not reached:
            return None
        most = max((right[c], -of[c]) for c in reached)
        gap = [c for c in reached if (right[c], -of[c]) == most]
        return (gap[0] + gap[-1]) // 2

    def found_yes(self, cutoff):
        said = self.rows.yes >= Fraction(str(cutoff)) * ONE
        return int((said & self.rows.is_yes).sum()), int(said.sum())

    def found_no(self, cutoff):
        said = self.rows.yes < Fraction(str(cutoff)) * ONE
        return int((said & ~self.rows.is_yes).sum()), int(said.sum())

    def recall(self, wanted):
        def choose(mask, target):
            if target is None:
                return None, None
            above, yes, _, _ = self.table(mask)
            reached = [c for c in range(1, 100) if reaches(yes[c], yes[0], target)]
            if not reached:
                return None, None
            precision = lambda c: Fraction(int(yes[c]), int(above[c])) if above[c] else Fraction(-1)
            most = max((precision(c), yes[c]) for c in reached)
            gap = [c for c in reached if (precision(c), yes[c]) == most]
            percent = (gap[0] + gap[-1]) // 2
            return percent, percent

        target = self.first(list(raised(wanted)), choose, "recall")
        if target is not None and choose(self.everything, target)[0] is None:
            target = None
        behind = int(self.rows.is_yes.sum())
        cutoff = share(choose(self.everything, target)[1])
        if cutoff is not None and better(self.found_yes(self.now[1]), self.found_yes(cutoff)):
            cutoff = self.now[1]
        return self.advice((cutoff, cutoff), behind, self.tried(lambda m: choose(m, target)))

    def costs(self, wrong_yes, wrong_no):
        def choose(mask):
            if not mask.any():
                return None, None
            above, yes, below, no = self.table(mask)
            wrong = [(int(above[c] - yes[c]), int(below[c] - no[c])) for c in range(1, 100)]
            costs = [(cost(*of_both), sum(of_both)) for of_both in wrong]
            first = costs.index(min(costs))
            gap = [c for c in range(1, 100) if above[c] == above[first + 1]]
            percent = (gap[0] + gap[-1]) // 2
            return percent, percent

        def cost(of_yes, of_no):
            return Fraction(wrong_yes) * of_yes + Fraction(wrong_no) * of_no

        held = self.tried(choose)
        said_yes, said_no = held["precision"], held["no_precision"]
        answered = held["coverage"][0]
        if answered:
            wrong = wrong_yes * (said_yes[1] - said_yes[0]) + wrong_no * (said_no[1] - said_no[0])
            held["cost"] = float(wrong / answered)
        yes = int(self.rows.is_yes.sum())
        of_cutoff = lambda right, of: cost(of - right, yes - right)
        cutoff = share(choose(self.everything)[1])
        if cutoff is not None and of_cutoff(*self.found_yes(self.now[1])) < of_cutoff(*self.found_yes(cutoff)):
            cutoff = self.now[1]
        return self.advice((cutoff, cutoff), min(yes, self.rows.count - yes), held)

    def first(self, targets, choose, measure):
        """The first target with which the wanted share holds on held-out rows."""
        for target in targets:
            if reaches(*self.tried(lambda mask: choose(mask, target))[measure], targets[0]):
                return target
        return None

    def tried(self, choose):
        """What the cutoffs that the other folds name say of each row."""
        said = np.full(self.rows.count, "unsure", dtype=object)
        for mask, (no_below, yes_from) in held_out(self.fold, choose):
            if yes_from is not None:
                said[mask & (self.rows.yes >= yes_from * PERCENT)] = "yes"
            if no_below is not None:
                said[mask & (self.rows.yes < no_below * PERCENT)] = "no"
        yes, no, is_yes = said == "yes", said == "no", self.rows.is_yes
        return {
            "precision": [int((yes & is_yes).sum()), int(yes.sum())],
            "recall": [int((yes & is_yes).sum()), int(is_yes.sum())],
            "coverage": [int((yes | no).sum()), self.rows.count],
            "no_precision": [int((no & ~is_yes).sum()), int(no.sum())],
            "cost": None,
        }

    def advice(self, chosen, behind, held):
        return {
            "no_below": chosen[0],
            "yes_from": chosen[1],
            "marks": self.rows.count,
            "marked_yes": int(self.rows.is_yes.sum()),
            "behind": behind,
            "held_out": held,
        }

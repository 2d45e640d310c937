"""The measures as scikit-learn, SciPy and numpy compute them. See check.py."""

from decimal import Decimal
from itertools import combinations

import krippendorff
import numpy as np
from scipy.stats import binom, binomtest, multinomial
from sklearn import metrics

import calibration

ONE = 1_000_000


class Rows:
    """The rows of a case, taken apart."""

    def __init__(self, case):
        self.type = case["versions"][0]["type"]
        versions = [outcomes_of(version) for version in case["versions"]]
        self.outcomes = list(versions[0])
        self.marked, self.predicted, self.marked_level, self.predicted_level = [], [], [], []
        self.distributions = []
        for version, answer, mark in case["rows"]:
            predicted = prediction(case, answer)
            self.marked.append(mark)
            self.predicted.append(predicted)
            if self.type == "scale":
                self.marked_level.append(versions[version].index(mark) + 1)
                self.predicted_level.append(versions[version].index(predicted) + 1)
            if self.type == "yes_no":
                p = millionths(answer["probability"])
                self.distributions.append({"yes": p, "no": ONE - p})
            else:
                self.distributions.append({key: millionths(p) for key, p in answer["probabilities"].items()})
            for key in (mark, predicted):
                if key is not None and key not in self.outcomes:
                    self.outcomes.append(key)
        # outcomes that only have probabilities are listed nowhere, but belong to the scores
        stated = {key for distribution in self.distributions for key in distribution}
        self.scored = self.outcomes + sorted(stated - set(self.outcomes))
        self.count = len(self.marked)
        self.cutoffs = case["no_below"], case["yes_from"]
        self.answered = np.array([key is not None for key in self.predicted], dtype=bool)
        self.right = np.array([m == p for m, p in zip(self.marked, self.predicted)], dtype=bool)
        # the probability of the predicted outcome, and of yes, in millionths
        self.probability = np.array(
            [d.get(p, 0) if p is not None else -1 for d, p in zip(self.distributions, self.predicted)], dtype=int
        )
        known = [len(versions[version]) for version, _, _ in case["rows"]]
        self.confidence = np.array([confidence(p, k) for p, k in zip(self.probability, known)], dtype=int)
        self.yes = np.array([d.get("yes", 0) for d in self.distributions], dtype=int)
        self.is_yes = np.array([mark == "yes" for mark in self.marked], dtype=bool)


def outcomes_of(question):
    if question["type"] == "yes_no":
        return ["yes", "no"]
    own = [outcome["key"] for outcome in question.get("options", []) + question.get("levels", [])]
    return own + (["other", "insufficient_information"] if question["type"] == "choice" else [])


def confidence(probability, outcomes):
    """Refract's own confidence in millionths: 0 is a guess among the outcomes; -1 is no answer."""
    if probability < 0:
        return -1
    guess = 1 / outcomes
    share = (int(probability) / ONE - guess) / (1 - guess)
    return int(np.floor(min(max(share, 0), 1) * ONE + 0.5))


def millionths(probability):
    return round(Decimal(str(probability)) * ONE)


def prediction(case, answer):
    if answer["type"] == "choice":
        return answer["value"]
    if answer["type"] == "scale":
        return answer["level"]
    probability = Decimal(str(answer["probability"]))
    no_below = Decimal("0.5") if case["no_below"] is None else Decimal(str(case["no_below"]))
    yes_from = no_below if case["yes_from"] is None else Decimal(str(case["yes_from"]))
    if probability < no_below:
        return "no"
    return "yes" if probability >= yes_from else None


def measures(rows):
    marked = [key for key, answered in zip(rows.marked, rows.answered) if answered]
    predicted = [key for key in rows.predicted if key is not None]
    answered = len(predicted)
    right = int(rows.right.sum())
    result = {
        "marks": rows.count,
        "answered": answered,
        "accuracy": float(metrics.accuracy_score(marked, predicted)) if answered else None,
        "accuracy_interval": wilson(right, answered),
        "majority": float(max(marked.count(key) for key in marked) / answered) if answered else None,
        "auc": auc(rows),
        "brier": brier(rows),
        "log_loss": log_loss(rows, 1e-6),
        "floored_log_loss": log_loss(rows, floor(rows) / ONE if rows.count else None),
        "log_loss_floor": floor(rows) if rows.count else None,
        "scale": scale(rows) if rows.type == "scale" else None,
    }
    return result | outcomes(rows, marked, predicted) | reliability(rows) | coverage(rows)


def wilson(count, of):
    if of == 0:
        return None
    interval = binomtest(count, of).proportion_ci(0.95, method="wilson")
    return [float(interval.low), float(interval.high)]


def outcomes(rows, marked, predicted):
    keys = rows.outcomes
    if not predicted:
        none = {"marked": 0, "predicted": 0, "precision": None, "recall": None, "f1": None}
        return {"outcomes": [{"key": key} | none for key in keys], "macro": [None] * 3, "confusion": []}
    table = metrics.confusion_matrix(marked, predicted, labels=keys)
    each = metrics.precision_recall_fscore_support(marked, predicted, labels=keys, zero_division=np.nan)
    macro = metrics.precision_recall_fscore_support(marked, predicted, average="macro", zero_division=0)
    return {
        "outcomes": [
            {
                "key": key,
                "marked": int(table[place].sum()),
                "predicted": int(table[:, place].sum()),
                "precision": defined(each[0][place]),
                "recall": defined(each[1][place]),
                "f1": defined(each[2][place]),
            }
            for place, key in enumerate(keys)
        ],
        "macro": [float(mean) for mean in macro[:3]],
        "confusion": [
            [keys[row], keys[column], int(table[row, column])] for row, column in zip(*np.nonzero(table))
        ],
    }


def defined(number):
    return None if np.isnan(number) else float(number)


def matrix(rows):
    """Probabilities by row and outcome, which scikit-learn sorts."""
    return np.array([[d.get(key, 0) / ONE for key in sorted(rows.scored)] for d in rows.distributions])


def sum_to_one(rows):
    return all(sum(distribution.values()) == ONE for distribution in rows.distributions)


def auc(rows):
    """The mean over the outcomes of which some rows, but not all, are marked."""
    areas = []
    for key in ["yes"] if rows.type == "yes_no" else rows.outcomes:
        is_marked = np.array([mark == key for mark in rows.marked], dtype=bool)
        if is_marked.any() and not is_marked.all():
            probability = [d.get(key, 0) for d in rows.distributions]
            areas.append(float(metrics.roc_auc_score(is_marked, probability)))
    return float(np.mean(areas)) if areas else None


def floor(rows):
    """Half of the step to which the server rounds, in millionths, if enough rows show one; else 1."""
    if rows.type == "yes_no":
        stored = set(rows.yes.tolist())
    else:
        stored = {p for distribution in rows.distributions for p in distribution.values()}
    between = {p for p in stored if 0 < p < ONE}
    if rows.count < 30 or len(between) < 5:
        return 1
    for step in (100_000, 10_000, 1_000, 100, 10):
        if all(p % step == 0 for p in stored):
            return step // 2
    return 1


def brier(rows):
    if not rows.count:
        return None
    if rows.type == "yes_no":
        return float(metrics.brier_score_loss(rows.is_yes, rows.yes / ONE, pos_label=True))
    if sum_to_one(rows):
        labels = sorted(rows.scored)
        return float(metrics.brier_score_loss(rows.marked, matrix(rows), labels=labels, scale_by_half=False))
    is_mark = np.array([[key == mark for key in sorted(rows.scored)] for mark in rows.marked])
    return float(((matrix(rows) - is_mark) ** 2).sum(axis=1).mean())


def log_loss(rows, least):
    if not rows.count:
        return None
    marked = np.array([d.get(mark, 0) for d, mark in zip(rows.distributions, rows.marked)]) / ONE
    if sum_to_one(rows) and marked.min() >= 1e-6 and matrix(rows).min() >= 1e-6:
        return float(metrics.log_loss(rows.marked, matrix(rows), labels=sorted(rows.scored)))
    return float(-np.log(np.maximum(marked, least)).mean())


def scale(rows):
    if not rows.count:
        return dict.fromkeys(["mean_absolute_error", "within_one", "quadratic_kappa"])
    marked, predicted = np.array(rows.marked_level), np.array(rows.predicted_level)
    kappa = metrics.cohen_kappa_score(marked, predicted, labels=range(1, 11), weights="quadratic")
    return {
        "mean_absolute_error": float(metrics.mean_absolute_error(marked, predicted)),
        "within_one": float((abs(marked - predicted) <= 1).mean()),
        "quadratic_kappa": defined(kappa),
    }


def reliability(rows):
    if rows.type == "yes_no":
        probability, right = rows.yes, rows.is_yes
    else:
        probability, right = rows.probability[rows.answered], rows.right[rows.answered]
    order = np.argsort(probability, kind="stable")
    # a bin ends at the first change of probability at or after its share of the rows
    ends, end = [], 0
    for share in np.cumsum([len(part) for part in np.array_split(order, 15)]):
        end = max(end, share)
        while 0 < end < len(order) and probability[order[end - 1]] == probability[order[end]]:
            end += 1
        ends.append(end)
    bins = [part for part in np.split(order, ends) if len(part)]
    listed = [
        {
            "from": int(probability[part].min()),
            "to": int(probability[part].max()),
            "count": len(part),
            "mean_probability": float((probability[part] / ONE).mean()),
            "share_right": float(right[part].mean()),
        }
        for part in bins
    ]
    gaps = [abs(bin["mean_probability"] - bin["share_right"]) for bin in listed]
    counts = [bin["count"] for bin in listed]
    ece = calibration.ece(listed)
    if ece is None and listed:
        ece = float(np.average(gaps, weights=counts))
    return {"reliability": listed, "ece": ece}


def coverage(rows):
    points, before = [], None
    for percent in range(101):
        covered = rows.answered & (rows.confidence >= percent * ONE // 100)
        if covered.any() and (before is None or (covered != before).any()):
            points.append([percent / 100, float(covered.mean()), float(rows.right[covered].mean())])
            before = covered
    if not points:
        return {"coverage": [], "coverage_area": None}
    covered = [rows.confidence >= c for c in np.unique(rows.confidence[rows.answered])[::-1]]
    x = [float(rows_covered.mean()) for rows_covered in covered]
    y = [float(rows.right[rows_covered].mean()) for rows_covered in covered]
    area = metrics.auc([0.0, *x], [y[0], *y]) / x[-1]
    return {"coverage": points, "coverage_area": float(area)}


def paired(case):
    both, a, b, neither = (case[key] for key in ("both_right", "only_a_right", "only_b_right", "both_wrong"))
    rows = both + a + b + neither
    return {
        "rows": rows,
        "a": [both + a, rows],
        "b": [both + b, rows],
        "difference": (b - a) / rows if rows else None,
        "only_a_right": a,
        "only_b_right": b,
        "mcnemar_p": float(binomtest(min(a, b), a + b, 0.5).pvalue) if a + b else 1.0,
    }


def interval_fault(case, interval):
    """What is wrong with the bootstrap interval, if anything."""
    a, b = case["only_a_right"], case["only_b_right"]
    rows = a + b + case["both_right"] + case["both_wrong"]
    if rows == 0:
        return None if interval is None else "an interval of no rows"
    for end, quantile in zip(interval, (0.025, 0.975)):
        total = round(end * rows)
        if abs(total / rows - end) > 1e-9:
            return f"the interval's end {end} is no sum of {rows} rows"
        at, below = distribution(total, rows, b, a), distribution(total - 1, rows, b, a)
        if at < quantile - 1e-9 or below >= quantile + 1e-9:
            return f"the distribution is {below} before and {at} at the end {end} for {quantile}"
    return None


def distribution(total, rows, ups, downs):
    """The probability that a draw's sum is at most `total`."""
    if rows <= 30:
        counts = [(u, d) for u in range(rows + 1) for d in range(rows + 1 - u) if u - d <= total]
        if not counts:
            return 0.0
        points = [[u, d, rows - u - d] for u, d in counts]
        shares = [ups / rows, downs / rows, (rows - ups - downs) / rows]
        return float(multinomial.pmf(points, rows, shares).sum())
    # so many rows differ, and so many of those go up
    differ = ups + downs
    if differ == 0:
        return float(total >= 0)
    middle, spread = differ, 12 * np.sqrt(rows * differ / rows * (1 - differ / rows)) + 60
    drawn = np.arange(max(0, int(middle - spread)), min(rows, int(middle + spread)) + 1)
    up_at_most = np.floor((total + drawn) / 2)
    return float((binom.pmf(drawn, rows, differ / rows) * binom.cdf(up_at_most, drawn, ups / differ)).sum())


def orders(case):
    flips, variations = 0, []
    for first, other in case["pairs"]:
        if first["type"] == "yes_no":
            one, two = first["probability"], other["probability"]
            flips += (one >= 0.5) != (two >= 0.5)
            variations.append(abs(one - two))
            continue
        name = "value" if first["type"] == "choice" else "level"
        flips += first[name] != other[name]
        keys = first["probabilities"].keys() | other["probabilities"].keys()
        gaps = [abs(first["probabilities"].get(key, 0) - other["probabilities"].get(key, 0)) for key in keys]
        variations.append(sum(gaps) / 2)
    pairs = len(variations)
    return {
        "comparisons": pairs,
        "flip_rate": [flips, pairs],
        "mean_total_variation": float(np.mean(variations)) if pairs else None,
        "largest_total_variation": float(max(variations)) if pairs else None,
    }


def agreement(case):
    texts = {}
    for text, person, outcome in case["marks"]:
        texts.setdefault(text, {})[person] = outcome
    texts = [marks for marks in texts.values() if len(marks) > 1]
    people = sorted({person for marks in texts for person in marks})
    pairs = [(one, other) for marks in texts for one, other in combinations(marks.values(), 2)]
    is_alike = len({outcome for marks in texts for outcome in marks.values()}) < 2
    is_scale = case["question"]["type"] == "scale"
    found = {
        "people": len(people),
        "texts": len(texts),
        "pairs": [sum(one == other for one, other in pairs), len(pairs)],
        "kappa": None,
        "quadratic_kappa": None,
        "alpha": None,
    }
    if is_alike:
        return found
    # the places of levels, in their order
    keys = [level["key"] for level in case["question"].get("levels", [])]
    keys = keys or sorted({outcome for marks in texts for outcome in marks.values()})
    place = {key: number for number, key in enumerate(keys)}
    table = [[place.get(marks.get(person), np.nan) for marks in texts] for person in people]
    level = "ordinal" if is_scale else "nominal"
    found["alpha"] = float(krippendorff.alpha(reliability_data=table, level_of_measurement=level))
    if len(people) == 2:
        found["kappa"] = float(metrics.cohen_kappa_score(*table))
        if is_scale:
            found["quadratic_kappa"] = float(metrics.cohen_kappa_score(*table, weights="quadratic", labels=range(len(keys))))
    return found

"""Cases for the example program `measures`: random ones from a seed, and edge cases. See check.py."""

import numpy as np

ONE = 1_000_000
BUILT_IN = ["other", "insufficient_information"]
CUTOFFS = [(None, None), (0.3, None), (None, 0.8), (0.4, 0.6), (0.07, 0.93), (0.5, 1.0), (0.000001, 0.999999)]
ACCURACIES = [0.0, 0.5, 0.8, 0.9, 0.95, 0.999, 1.0]
GOALS = [
    ["precision", 0.0],
    ["precision", 0.6],
    ["precision", 0.9],
    ["precision", 0.955],
    ["precision", 1.0],
    ["recall", 0.0],
    ["recall", 0.5],
    ["recall", 0.9],
    ["recall", 0.985],
    ["recall", 1.0],
    ["costs", 1, 1],
    ["costs", 5, 1],
    ["costs", 0.25, 3],
    ["costs", 0, 0],
]
PROMISES = [[0.05, 0.95], [0.2, 0.9], [0.5, 0.5]]


def all_cases(seed):
    random = np.random.default_rng(seed)
    yield from random_cases(random)
    yield from edge_cases(random)
    yield from paired_cases(random)
    yield from order_cases(random)
    yield from binomial_cases(random)
    yield from drift_cases(random)
    yield from agreement_cases(random)


def random_cases(random):
    for number in range(70):
        rows = int(random.choice([3, 7, 14, 15, 16, 29, 44, 100, 301, 800]))
        options = int(random.choice([2, 3, 5, 12, 40]))
        yield choice(f"random choice {number}", random, rows, options, coarse=number % 4 == 0)
    for number in range(70):
        rows = int(random.choice([3, 7, 14, 15, 16, 31, 60, 250, 1000]))
        cutoffs = CUTOFFS[number % len(CUTOFFS)]
        yield yes_no(f"random yes/no {number}", random, rows, cutoffs, coarse=number % 3 == 0)
    for number in range(60):
        rows = int(random.choice([3, 7, 14, 15, 16, 40, 200, 700]))
        levels = 2 + number % 9
        yield scale(f"random scale {number}", random, rows, levels, coarse=number % 4 == 0)


def edge_cases(random):
    for name in ("choice", "yes_no", "scale"):
        for rows in (0, 1, 2, 4, 5):
            yield of_type(name, f"{name} of {rows} rows", random, rows)
        yield marked_by(f"{name}, all right", of_type(name, "", random, 50), lambda answer, keys: predicted(answer))
        yield marked_by(f"{name}, all wrong", of_type(name, "", random, 50), other_than_predicted)
        yield marked_by(f"{name}, one class marked", of_type(name, "", random, 50), lambda answer, keys: keys[0])
        yield marked_by(f"{name}, last class marked", of_type(name, "", random, 50), lambda answer, keys: keys[-1])
        tied = of_type(name, f"{name}, ties everywhere", random, 47)
        tied["rows"] = [[row[0], tied["rows"][0][1], row[2]] for row in tied["rows"]]
        yield tied
        yield with_certain(f"{name}, probabilities 0 and 1", of_type(name, "", random, 60), random)
    yield choice("255 outcomes", random, 600, 253)
    yield choice("255 outcomes, few rows", random, 20, 253)
    nulls = choice("only null values", random, 25, 4)
    for row in nulls["rows"]:
        row[1]["value"] = None
    yield nulls
    unnormalised = choice("probabilities that do not sum to 1", random, 80, 4)
    for row in unnormalised["rows"]:
        row[1]["probabilities"] = {key: p / 2 for key, p in halves(row[1]["probabilities"]).items()}
    yield unnormalised
    zeros = choice("all probabilities 0", random, 20, 3)
    for row in zeros["rows"]:
        row[1]["probabilities"] = dict.fromkeys(row[1]["probabilities"], 0.0)
    yield zeros
    yield from scale_edges(random)
    yield from yes_no_edges(random)
    yield from rounded_cases(random)


def rounded_cases(random):
    """Servers that round, of which some probabilities are 0; few rows or probabilities show no step."""
    for name in ("choice", "yes_no", "scale"):
        for decimals in (1, 2, 3, 4, 5):
            for rows in (29, 30, 90):
                rounded = of_type(name, f"{name} of {rows} rows with {decimals} decimals", random, rows)
                yield with_decimals(rounded, decimals, random)
        of_one_more = with_decimals(of_type(name, f"{name}, one row more exact", random, 60), 2, random)
        of_one_more["rows"][17:18] = with_decimals(of_type(name, "", random, 1), 4, random)["rows"]
        yield of_one_more
    for different in (4, 5):
        few = yes_no(f"{different} different probabilities", random, 50, (None, None))
        for place, row in enumerate(few["rows"]):
            row[1]["probability"] = ([0.0, 1.0] + [0.11, 0.3, 0.5, 0.77, 0.9][:different])[place % (different + 2)]
        yield few


def scale_edges(random):
    one_level = scale("a scale that is only answered with one level", random, 30, 5)
    for row in one_level["rows"]:
        row[1] = {"type": "scale", "level": "l2", "probabilities": {f"l{n}": float(n == 2) for n in range(5)}}
    yield one_level
    agreed = marked_by("a scale with one level everywhere", one_level, lambda answer, keys: "l2")
    yield agreed
    gaps = scale("a scale without its middle levels", random, 60, 7)
    ends = ["l0", "l1", "l6"]
    for place, row in enumerate(gaps["rows"]):
        row[0], row[2] = 0, ends[place % 3]
        level = ends[place // 2 % 3]
        row[1] = {"type": "scale", "level": level, "probabilities": {f"l{n}": float(f"l{n}" == level) for n in range(7)}}
    yield gaps


def yes_no_edges(random):
    unsure = yes_no("all unsure", random, 40, (0.01, 1.0))
    for row in unsure["rows"]:
        row[1]["probability"] = float(random.integers(10_000, ONE)) / ONE
    yield unsure
    for name, mark in (("no positives", "no"), ("only positives", "yes")):
        yield marked_by(f"{name}, mixed probabilities", yes_no("", random, 90, (None, None)), lambda answer, keys: mark)
    percents = yes_no("probabilities at and beside whole percents", random, 303, (0.3, 0.7))
    for place, row in enumerate(percents["rows"]):
        value = place // 3 * 10_000 + place % 3 - 1
        row[1]["probability"] = min(max(value, 0), ONE) / ONE
    yield percents
    sure = yes_no("only a probability of 1 is right", random, 100, (None, None))
    for place, row in enumerate(sure["rows"]):
        row[1]["probability"], row[2] = (1.0, "yes") if place % 3 else (0.995, "no")
    yield sure
    backwards = yes_no("answers that say the opposite", random, 200, (None, None))
    for row in backwards["rows"]:
        row[2] = "no" if row[1]["probability"] >= 0.5 else "yes"
    yield backwards
    parted = yes_no("fully parted answers", random, 200, (0.4, 0.6))
    for row in parted["rows"]:
        row[2] = "yes" if row[1]["probability"] >= 0.37 else "no"
    yield parted
    for number in range(12):
        low = round(float(random.uniform(0.2, 0.6)), 4)
        cutoffs = (low, round(low + 0.1234, 4)) if number % 2 else (low, None)
        yield yes_no(f"cutoffs between percents {number}", random, 60 + 20 * number, cutoffs)


def shuffled(case, seed):
    order = np.random.default_rng(seed).permutation(len(case["rows"]))
    return case | {"name": case["name"] + ", shuffled", "rows": [case["rows"][place] for place in order]}


def case(name, versions, rows, cutoffs=(None, None)):
    goals = GOALS if versions[0]["type"] == "yes_no" else GOALS[:1]
    return {
        "kind": "question",
        "name": name,
        "versions": versions,
        "no_below": cutoffs[0],
        "yes_from": cutoffs[1],
        "rows": rows,
        "accuracies": ACCURACIES,
        "goals": goals,
        "promises": PROMISES,
    }


def of_type(name, title, random, rows):
    if name == "choice":
        return choice(title, random, rows, 4)
    return yes_no(title, random, rows, (0.4, 0.6)) if name == "yes_no" else scale(title, random, rows, 5)


def choice(name, random, rows, options, coarse=False):
    """Rows of two versions: the older one has an option that the latest lacks, and another order."""
    keys = [f"o{number}" for number in range(options)]
    older = ["gone", *reversed(keys[:-1])]
    versions = [question("choice", "options", keys), question("choice", "options", older)]
    made = []
    for _ in range(rows):
        version = int(random.random() < 0.2)
        outcomes = (keys, older)[version] + BUILT_IN
        counts = shares(random, len(outcomes), coarse)
        value, mark = named_and_marked(random, outcomes, counts)
        if random.random() < 0.05:
            value = None
        answer = {
            "type": "choice",
            "value": value,
            "probabilities": {key: int(count) / ONE for key, count in zip(outcomes, counts)},
            "confidence": 0.5,
        }
        made.append([version, answer, mark])
    return case(name, versions, made)


def scale(name, random, rows, levels, coarse=False):
    """Rows of two versions: the older one lists the levels the other way round."""
    keys = [f"l{number}" for number in range(levels)]
    versions = [question("scale", "levels", keys), question("scale", "levels", keys[::-1])]
    made = []
    for _ in range(rows):
        version = int(random.random() < 0.2)
        outcomes = (keys, keys[::-1])[version]
        counts = shares(random, levels, coarse)
        _, mark = named_and_marked(random, outcomes, counts)
        answer = {
            "type": "scale",
            "level": outcomes[int(np.argmax(counts))],
            "probabilities": {key: int(count) / ONE for key, count in zip(outcomes, counts)},
        }
        made.append([version, answer, mark])
    return case(name, versions, made)


def yes_no(name, random, rows, cutoffs, coarse=False):
    made = []
    a, b = random.choice([0.3, 1.0, 3.0], 2)
    for _ in range(rows):
        probability = random.beta(a, b)
        millionths = round(probability * 20) * 50_000 if coarse else round(probability * ONE)
        mark = "yes" if random.random() < probability**1.5 else "no"
        made.append([0, {"type": "yes_no", "probability": millionths / ONE}, mark])
    return case(name, [{"key": "q", "type": "yes_no", "text": "?"}], made, cutoffs)


def question(of_type, outcomes, keys):
    return {"key": "q", "type": of_type, "text": "?", outcomes: [{"key": key, "label": key} for key in keys]}


def shares(random, outcomes, coarse):
    """Whole millionths that sum to one; coarse ones are tenths, so that many are equal."""
    if coarse:
        return random.multinomial(10, random.dirichlet(np.full(outcomes, 0.5))) * (ONE // 10)
    alpha = random.choice([0.1, 0.5, 2.0])
    shares = np.floor(random.dirichlet(np.full(outcomes, alpha)) * ONE).astype(int)
    shares[random.integers(outcomes)] += ONE - shares.sum()
    return shares


def named_and_marked(random, outcomes, counts):
    """What a model names, mostly the most probable outcome, and what people mark."""
    best = int(np.argmax(counts))
    named = best if random.random() < 0.95 else int(random.integers(len(outcomes)))
    marked = best if random.random() < 0.3 else int(random.choice(len(outcomes), p=counts / ONE))
    return outcomes[named], outcomes[marked]


def outcomes(case, row):
    version = case["versions"][row[0]]
    if version["type"] == "yes_no":
        return ["yes", "no"]
    own = [outcome["key"] for outcome in version.get("options", []) + version.get("levels", [])]
    return own + (BUILT_IN if version["type"] == "choice" else [])


def marked_by(name, of, mark):
    rows = [[row[0], row[1], mark(row[1], outcomes(of, row))] for row in of["rows"]]
    return of | {"name": name, "rows": rows}


def predicted(answer):
    if answer["type"] == "yes_no":
        return "yes" if answer["probability"] >= 0.5 else "no"
    named = answer["value"] if answer["type"] == "choice" else answer["level"]
    return "other" if named is None else named


def other_than_predicted(answer, keys):
    return next(key for key in keys if key != predicted(answer))


def with_certain(name, of, random):
    """Probabilities 0 and 1 only; some are wrong."""
    rows = []
    for version, answer, mark in of["rows"]:
        keys = outcomes(of, [version])
        sure = mark if random.random() < 0.8 else keys[int(random.integers(len(keys)))]
        answer = dict(answer)
        if answer["type"] == "yes_no":
            answer["probability"] = float(sure == "yes")
        else:
            answer["probabilities"] = {key: float(key == sure) for key in keys}
            answer["value" if answer["type"] == "choice" else "level"] = sure
        rows.append([version, answer, mark])
    return of | {"name": name, "rows": rows}


def with_decimals(of, decimals, random):
    """Probabilities as a server with so many decimals sends them: they need not sum to one."""
    for _, answer, _ in of["rows"]:
        if answer["type"] == "yes_no":
            # many are rounded to 0 and 1
            answer["probability"] = round(float(random.beta(0.2, 0.2)), decimals)
        else:
            answer["probabilities"] = {key: round(p, decimals) for key, p in answer["probabilities"].items()}
    return of


def halves(probabilities):
    """Probabilities that are whole even millionths."""
    return {key: round(p * ONE) // 2 * 2 / ONE for key, p in probabilities.items()}


def paired_cases(random):
    fixed = [
        (0, 0, 0, 0),
        (1, 0, 0, 0),
        (0, 1, 0, 0),
        (0, 0, 1, 0),
        (0, 0, 0, 1),
        (0, 1, 1, 0),
        (3, 0, 5, 2),
        (0, 30, 0, 0),
        (0, 0, 31, 0),
        (0, 20, 20, 0),
        (10, 21, 20, 0),
        (500, 1, 0, 499),
        (0, 500, 500, 0),
        (100_000, 3_000, 3_300, 2_000),
        (0, 500_000, 500_000, 0),
        (0, 499_000, 501_000, 0),
        (0, 400_000, 600_000, 0),
        (900_000, 1, 2, 99_997),
    ]
    for counts in fixed:
        yield pairs(f"rows {counts}", counts)
    for number in range(60):
        rows = int(random.choice([5, 12, 30, 31, 100, 1_000, 20_000]))
        counts = random.multinomial(rows, random.dirichlet([4, 0.7, 0.7, 2]))
        yield pairs(f"random rows {number}", [int(count) for count in counts])


def pairs(name, counts):
    both, a, b, neither = counts
    return {"kind": "paired", "name": name, "both_right": both, "only_a_right": a, "only_b_right": b, "both_wrong": neither}


def order_cases(random):
    yield {"kind": "orders", "name": "no pairs", "pairs": []}
    for name in ("choice", "yes_no", "scale"):
        made = of_type(name, "", random, 61)
        answers = [row[1] for row in made["rows"]]
        yield {"kind": "orders", "name": f"orders of {name}", "pairs": list(zip(answers, answers[1:]))}
        yield {"kind": "orders", "name": f"one answer of {name} twice", "pairs": [[answers[0], answers[0]]]}


def binomial_cases(random):
    edges = [(0, 0), (0, 1), (1, 1), (0, 59), (59, 59), (3, 100_000), (99_999, 100_000)]
    drawn = [(int(of * random.random()), of) for of in (2, 10, 59, 93, 400, 5_000, 100_000) for _ in range(12)]
    near = [(round(of * error), of) for of in (30, 300, 3_000, 30_000) for error in (0.01, 0.05, 0.2, 0.5)]
    for wrong, of in edges + drawn + near:
        error = float(random.choice([0.0, 1e-6, 0.01, 0.05, 0.2, 0.5, 0.9, 1.0]))
        level = float(random.choice([1e-6, 0.001, 0.05, 0.1, 0.5]))
        name = f"{wrong} of {of} wrong, {error} at {level}"
        yield {"kind": "binomial", "name": name, "wrong": wrong, "of": of, "error": error, "level": level}


def drift_cases(random):
    cutoffs = [(None, None), (0.3, None), (0.4, 0.6), (0.07, 0.93), (0.5, 1.0)]
    sizes = [(0, 0), (0, 9), (7, 0), (1, 1), (3, 40), (60, 60), (250, 900), (900, 250), (1500, 1500)]
    for number in range(72):
        name = ("choice", "yes_no", "scale")[number % 3]
        now, before = sizes[number // 3 % len(sizes)]
        window = of_type(name, "", random, now + before)
        answers = [row[1] for row in window["rows"]]
        if number % 2:
            # the window before has other answers, not only other texts
            answers.sort(key=lambda answer: sureness(answer) + random.normal() / 2)
        no_below, yes_from = cutoffs[number % len(cutoffs)] if name == "yes_no" else (None, None)
        yield {
            "kind": "drift",
            "name": f"drift of {name} {number}",
            "question": window["versions"][0],
            "no_below": no_below,
            "yes_from": yes_from,
            "now": answers[:now],
            "before": answers[now:],
        }


def sureness(answer):
    return answer["probability"] if answer["type"] == "yes_no" else max(answer["probabilities"].values())


def agreement_cases(random):
    for number in range(90):
        name = ("choice", "yes_no", "scale")[number % 3]
        asked = of_type(name, "", random, 0)["versions"][0]
        keys = [it["key"] for it in asked.get("options", asked.get("levels", []))] or ["yes", "no"]
        people, texts = int(random.choice([1, 2, 2, 3, 5])), int(random.choice([0, 1, 2, 9, 60, 400]))
        careless, gaps = random.random(), random.choice([0.0, 0.3])
        # now and then everybody says one and the same
        keys = keys[:1] if number % 10 == 9 else keys
        marks = []
        for text in range(texts):
            right = random.choice(keys)
            for person in range(people):
                if random.random() >= gaps:
                    marked = random.choice(keys) if random.random() < careless else right
                    marks.append([text, person, str(marked)])
        random.shuffle(marks)
        yield {"kind": "agreement", "name": f"agreement of {people} about {name} {number}", "question": asked, "marks": marks}

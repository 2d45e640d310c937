"""Compares the measures of crates/evaluation with scikit-learn and SciPy. See .ci/gate/check-evaluation."""

import argparse
import json
import subprocess
import sys
import warnings
from collections import Counter

import advice
import cases
import certified
import drift
import expected

TOLERANCE = 1e-9


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("measures", help="the built example `measures`")
    arguments.add_argument("--seed", type=int, default=17, help="what the random cases grow from")
    arguments = arguments.parse_args()
    # scikit-learn warns of what is not defined, which is what the edge cases are for
    warnings.simplefilter("ignore")

    made = list(cases.all_cases(arguments.seed))
    shuffled = [cases.shuffled(case, arguments.seed) for case in made if case["kind"] == "question"]
    lines = "".join(json.dumps(case) + "\n" for case in made + shuffled)
    program = subprocess.run([arguments.measures], input=lines, stdout=subprocess.PIPE, text=True)
    if program.returncode != 0:
        sys.exit(f"check-evaluation: the program ended with {program.returncode}")
    measured = [json.loads(line) for line in program.stdout.splitlines()]
    if len(measured) != len(made + shuffled):
        sys.exit(f"check-evaluation: {len(made)} cases gave {len(measured)} answers")

    numbers = Counter()
    for case, got in zip(made, measured):
        wanted = EXPECTED[case["kind"]](case)
        for path, want, have in differences(wanted, got, numbers, case["kind"]):
            sys.exit(f"check-evaluation: case `{case['name']}`: {path} is {have!r}, and should be {want!r}")
        if case["kind"] == "paired":
            fault = expected.interval_fault(case, got["interval"])
            if fault:
                sys.exit(f"check-evaluation: case `{case['name']}`: {fault}")
    in_order = [got for case, got in zip(made, measured) if case["kind"] == "question"]
    for case, want, have in zip(shuffled, in_order, measured[len(made) :]):
        if of_no_order(want) != of_no_order(have):
            sys.exit(f"check-evaluation: case `{case['name']}`: the order of its rows changes a measure")
    assert all(numbers[kind] > 0 for kind in EXPECTED), numbers
    print(f"{len(made)} cases, {sum(numbers.values())} numbers: all are those of scikit-learn and SciPy")


def of_no_order(got):
    """What no order of the rows changes, bit for bit: all but the order of two lists."""
    lists = ("outcomes", "confusion")
    return got | {key: sorted(got[key], key=json.dumps) for key in lists}


def question(case):
    rows = expected.Rows(case)
    return expected.measures(rows) | {
        "automation": [advice.automation(rows, wanted) for wanted in case["accuracies"]],
        "cutoffs": [advice.cutoffs(rows, goal) for goal in case["goals"]],
        "certified": [certified.certificate(rows, *promise) for promise in case["promises"]],
    }


EXPECTED = {
    "question": question,
    "paired": expected.paired,
    "orders": expected.orders,
    "binomial": certified.binomial,
    "drift": drift.drift,
    "agreement": expected.agreement,
}


def differences(want, have, numbers, kind, path=""):
    """Yields every difference between what is wanted and what the program said."""
    if isinstance(want, dict) and isinstance(have, dict):
        if want.keys() != have.keys() - {"interval"}:
            yield f"{path} (its members)", sorted(want), sorted(have)
            return
        for key in want:
            yield from differences(want[key], have[key], numbers, kind, f"{path}.{key}".lstrip("."))
    elif isinstance(want, (list, tuple)) and isinstance(have, list):
        if len(want) != len(have):
            yield f"{path} (its length)", len(want), len(have)
            return
        for place, (one, other) in enumerate(zip(want, have)):
            yield from differences(one, other, numbers, kind, f"{path}[{place}]")
    elif isinstance(want, float) and isinstance(have, (int, float)):
        numbers[kind] += 1
        # a number that is not one differs from all
        if not abs(want - have) <= TOLERANCE:
            yield path, want, have
    else:
        numbers[kind] += isinstance(want, int)
        if want != have:
            yield path, want, have


if __name__ == "__main__":
    main()

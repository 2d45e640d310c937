#!/bin/sh
# Two libraries that measure agreement sort the levels of a scale as text, so that 10 comes between 1 and 2. For
# iaa-kit's weighted kappa so do numbers: two people who differ by one level at most have 0.79 on levels 1 to 9, and
# 0.61 if the same marks are 2 to 10. agreement does so where marks are text, as numpy makes them in one array with
# texts' references, the form in its manual; levels that are handed to it as `values` in their order are sorted again.
# Levels such as low, medium and high are sorted too; no error, no warning. Most would expect 10 to be one level above
# 9: a scale up to 10 is common, and at 0.61 a question is rewritten that people agree on. Neither manual mentions it.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet iaa-kit==0.1.2 agreement==0.1.2 numpy==2.4.6 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(agreement|iaa-kit) '
echo "expected: the same weighted kappa for marks from 1 to 9 as for those from 2 to 10"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import numpy
from agreement.metrics import cohens_kappa
from agreement.utils.kernels import linear_kernel
from agreement.utils.transform import pivot_table_frequency
from iaa_kit import weighted_kappa

ann = [1 + number % 9 for number in range(90)]
bob = [min(9, max(1, mark + number // 9 % 3 - 1)) for number, mark in enumerate(ann)]


def by_agreement(ann, bob, texts, **levels):
    rows = [(text, person, mark) for person, marks in enumerate((ann, bob)) for text, mark in zip(texts, marks)]
    table = numpy.array(rows)
    answers = pivot_table_frequency(table[:, 0], table[:, 2], **levels)
    return cohens_kappa(answers, pivot_table_frequency(table[:, 1], table[:, 2], **levels), linear_kernel)


found = []
for added in (0, 1):
    a, b = [mark + added for mark in ann], [mark + added for mark in bob]
    levels = numpy.array([str(level) for level in range(1 + added, 10 + added)])
    named = [f"M-{number}" for number in range(90)]
    kappas = {
        "iaa-kit": weighted_kappa(a, b),
        "agreement, texts by number": by_agreement(a, b, range(90)),
        "agreement, texts by reference": by_agreement(a, b, named),
        "the same, with the levels": by_agreement(a, b, named, values=levels),
    }
    kappas = {name: round(float(kappa), 2) for name, kappa in kappas.items()}
    print(f"marks from {1 + added} to {9 + added}: {kappas}")
    found.append(list(kappas.values()))
sys.exit(0 if found == [[0.79, 0.79, 0.79, 0.79], [0.61, 0.79, 0.61, 0.61]] else 1)
PYTHON

#!/bin/sh
# krippendorff's alpha is wrong if the marks are unsigned integers, as polars numbers the levels of a scale and as a
# Parquet column may hold them: level 1 minus level 2 wraps around to 255, without an error or a warning. On an
# interval scale, the default, two people who differ by one level at most get 0.5 instead of 0.9; nominal and ordinal
# scales are right. Most would expect one alpha for the same marks, whatever integers hold them: at 0.5 a question is
# dropped or rewritten, at 0.9 it is kept.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet krippendorff==0.9.0 numpy==1.26.4 polars==2.1.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(krippendorff|numpy|polars) '
echo "expected: the same alpha in each line of a scale"
"$folder/venv/bin/python" - <<'PYTHON'
import random, sys, warnings

import krippendorff
import polars

warnings.simplefilter("error")
LEVELS = ["none", "low", "medium", "high", "urgent"]
random.seed(0)
ada = [random.randrange(5) for _ in range(100)]
olga = [min(4, max(0, level + random.choice([-1, 0, 0, 1]))) for level in ada]
marks = polars.DataFrame(
    {"ada": [LEVELS[level] for level in ada], "olga": [LEVELS[level] for level in olga]},
    schema=dict.fromkeys(["ada", "olga"], polars.Enum(LEVELS)),
)
unsigned = marks.select(polars.all().to_physical()).to_numpy().T
assert unsigned.tolist() == [ada, olga]
alphas = {}
for scale in ("nominal", "ordinal", "interval"):
    for numbers in (unsigned, unsigned.astype("int64")):
        alphas[scale, numbers.dtype.name] = alpha = krippendorff.alpha(numbers, level_of_measurement=scale)
        print(f"{scale}, {numbers.dtype}: {alpha:.3f}")
agree = all(abs(alphas[scale, "uint8"] - alphas[scale, "int64"]) < 1e-9 for scale in ("nominal", "ordinal"))
sys.exit(0 if agree and alphas["interval", "int64"] - alphas["interval", "uint8"] > 0.2 else 1)
PYTHON

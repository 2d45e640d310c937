#!/bin/sh
# junitparser counts the test cases of nested suites twice when it adds one suite to another of the same name. A CI run
# that asks three questions of two models writes a suite `answers` with one suite in it for each question, as PHPUnit
# and others nest them; the suites of two runs with 6 cases and 2 failures each become one with 18 cases and 6 failures,
# all of them in the XML that is written. `+` and `+=` do the same; no error, no warning. Adding the whole reports, as
# its command `merge` does, has 12 cases and 4 failures, with the second run's cases moved out of their questions'
# suites. Most would expect 12 and 4 by both: cases of nested suites are added once as cases of the outer suite and once
# more with their own. The manual adds reports only, and says that duplicates in them are not looked for; public issues
# have the merging of other kinds.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet junitparser==5.0.3 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^junitparser '
echo "expected: 12 test cases and 4 failures of two runs with 6 and 2 each"
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import sys
import xml.etree.ElementTree as xml

from junitparser import JUnitXml, TestSuite

QUESTIONS = ["topic", "urgency", "angry"]


def report(run):
    suites = "".join(
        f'<testsuite name="{question}">'
        f'<testcase name="{run} small {question}" classname="answers"/>'
        f'<testcase name="{run} large {question}" classname="answers">'
        + ('<failure message="below 0.8"/>' if question != "topic" else "")
        + "</testcase></testsuite>"
        for question in QUESTIONS
    )
    return JUnitXml.fromstring(f'<testsuites><testsuite name="answers">{suites}</testsuite></testsuites>')


def counts(result):
    result.update_statistics()
    written = xml.fromstring(result.tostring())
    return result.tests, result.failures, len(written.findall(".//testcase")), len(written.findall(".//failure"))


def suite(run):
    return next(iter(report(run)))


one = counts(report("monday"))
reports = counts(report("monday") + report("tuesday"))
added = suite("monday") + suite("tuesday")
assert isinstance(added, TestSuite)
in_place = suite("monday")
in_place += suite("tuesday")
for name, found in (("one run", one), ("reports added", reports), ("suites added", counts(added)),
                    ("suites added in place", counts(in_place))):
    print(f"{name}: {found[0]} cases, {found[1]} failures; written: {found[2]} and {found[3]}")
is_so = one == (6, 2, 6, 2) and reports == (12, 4, 12, 4)
sys.exit(0 if is_so and counts(added) == counts(in_place) and counts(added) == (18, 6, 18, 6) else 1)
PYTHON

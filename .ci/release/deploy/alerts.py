#!/usr/bin/env python3
"""Checks that each alert is explained and tested, and that Kubernetes has a copy of the alerts.

    alerts.py FOLDER              FOLDER is docs/deploy; it needs PyYAML
    alerts.py FOLDER --write      writes the copy

Each alert says what it means and what to do, has a test in which it fires, and a test in which it does
not. The copy is the object of the Prometheus Operator, up to its line `groups:` written in its own file.
"""

import sys
import textwrap
from pathlib import Path

import yaml

COPIED = ["refract", "refract-kubernetes"]
ANNOTATIONS = {"summary", "description", "action"}


def main():
    folder, *options = sys.argv[1:]
    alerts = Path(folder) / "prometheus" / "alerts.yml"
    copy = Path(folder) / "kubernetes" / "components" / "monitoring" / "alerts.yaml"
    text = with_groups(copy.read_text(encoding="utf-8"), alerts.read_text(encoding="utf-8"))
    if options == ["--write"]:
        copy.write_text(text, encoding="utf-8")
    tests = yaml.safe_load(alerts.with_suffix(".test.yml").read_text(encoding="utf-8"))
    wrong = explained_and_tested(yaml.safe_load(alerts.read_text(encoding="utf-8")), tests)
    if copy.read_text(encoding="utf-8") != text:
        wrong.append(f"{copy} is no copy of {alerts}: run .ci/release/deploy/alerts.py {folder} --write")
    if wrong:
        raise SystemExit("\n".join(wrong))


def with_groups(copy, alerts):
    """The copy with the groups that the alerts have now."""
    head, line, _ = copy.partition("  groups:\n")
    assert line, "the copy has no line `groups:`"
    _, *groups = alerts.split("\n  - name: ")
    texts = {group.partition("\n")[0]: f"  - name: {group.strip()}\n" for group in groups}
    copied = "\n".join(texts[name] for name in COPIED)
    return head + line + textwrap.indent(copied, "  ")


def explained_and_tested(alerts, tests):
    """The alerts without an annotation or a test."""
    asked = [case for test in tests["tests"] for case in test["alert_rule_test"]]
    firing = {case["alertname"] for case in asked if case.get("exp_alerts")}
    quiet = {case["alertname"] for case in asked if not case.get("exp_alerts")}
    wrong = []
    for rule in (rule for group in alerts["groups"] for rule in group["rules"]):
        name = rule["alert"]
        wrong += [f"{name} has no {missing}" for missing in sorted(ANNOTATIONS - rule["annotations"].keys())]
        wrong += [f"{name} fires in no test"] * (name not in firing)
        wrong += [f"{name} is quiet in no test"] * (name not in quiet)
    return wrong


if __name__ == "__main__":
    main()

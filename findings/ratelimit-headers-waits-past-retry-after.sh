#!/bin/sh
# ratelimit-headers makes one form of the headers that name a server's limits, and leaves out `Retry-After` as soon as
# there is a header of the X-RateLimit kind. GitHub and others send both: the hourly limit is far from used up and ends
# in 50 minutes, and too many calls at once were to wait a minute. `retry_after` is None, and the package's own command
# `wait` is about to sleep 50 minutes; with `--max 300` it gives up. The other way round, `Retry-After: 3600` beside a
# limit that ends in 5 seconds, it sleeps 5 seconds. With the headers of the IETF's drafts instead, which it reads in
# another part, `Retry-After` wins. No error, no warning. Most would expect it to win here too: GitHub's documents say
# so, and the result has a field for it. The manual lists which headers it reads by service, and has nothing of one that
# is left out; its list of known faults has not this.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ratelimit-headers==0.1.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^ratelimit-headers '
echo "expected: 60 seconds to wait in each of the first two lines, 3600 in the third"
"$folder/venv/bin/python" - <<'PYTHON'
import contextlib
import io
import sys
import time
from datetime import datetime, timezone

import ratelimit_headers.__main__ as command
from ratelimit_headers import parse

slept = []
time.sleep = slept.append  # so that the command says how long it would sleep, and does not


def waits(reset, retry_after, ietf=False):
    prefix, moment = ("RateLimit-", reset) if ietf else ("X-RateLimit-", int(time.time()) + reset)
    headers = {f"{prefix}Limit": "5000", f"{prefix}Remaining": "4990", f"{prefix}Reset": str(moment)}
    headers["Retry-After"] = str(retry_after)
    state = parse(response_headers=headers)
    sys.stdin = io.StringIO("".join(f"{name}: {value}\n" for name, value in headers.items()))
    with contextlib.redirect_stderr(io.StringIO()):
        command.main(["wait"])
    seconds = round((state.reset - datetime.now(timezone.utc)).total_seconds())
    print(f"{state.source}: retry_after {state.retry_after}, reset in {seconds}; `wait` sleeps {slept[-1]}")
    return state.retry_after, slept[-1]


drafts = waits(3000, 60, ietf=True)
longer = waits(3000, 60)
shorter = waits(5, 3600)
is_so = drafts == (60, 60) and longer[0] is None and shorter[0] is None
sys.exit(0 if is_so and 2990 <= longer[1] <= 3000 and shorter[1] <= 5 else 1)
PYTHON

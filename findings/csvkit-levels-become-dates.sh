#!/bin/sh
# csvkit takes the levels "today", "this week" and "next week" for dates, counted from the year 1: csvsort, csvjoin and
# csvjson write 0001-01-01, 0001-01-05 and 0001-01-08 in their place, without a warning, and the levels are lost. Levels
# such as "5 min" become durations. Which columns it happens to depends on the answers: with one "later" among them, all
# levels stay as they are, so that a command that kept them last week loses them this week. Most would expect to get
# the levels that were written. Public issues have named some of it since 2017; `--help` has an option against it,
# `--no-inference`, and does not say what it is good for.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet csvkit==2.2.0 agate==1.14.2 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(agate|csvkit) '
cd "$folder"
printf 'ref,urgency,handling\nM-1,today,5 min\nM-2,this week,1 hour\nM-3,next week,5 min\n' >first.csv
printf 'ref,urgency,handling\nM-4,today,5 min\nM-5,later,1 hour\nM-6,next week,some days\n' >second.csv
printf 'ref,customer\nM-1,17\nM-2,18\nM-3,19\n' >customers.csv
echo "expected: today, this week, next week, later, 5 min, 1 hour and some days, in each line"
changed=0
check() {
    echo "$1:"
    sed 's/^/    /' out
    printf '%s\n' "$2" | cmp -s - out || changed=1
}
"$folder/venv/bin/csvsort" -c ref first.csv >out
check "csvsort, first week" 'ref,urgency,handling
M-1,0001-01-01,0:05:00
M-2,0001-01-05,1:00:00
M-3,0001-01-08,0:05:00'
"$folder/venv/bin/csvjoin" -c ref customers.csv first.csv >out
check "csvjoin, first week" 'ref,customer,urgency,handling
M-1,17,0001-01-01,0:05:00
M-2,18,0001-01-05,1:00:00
M-3,19,0001-01-08,0:05:00'
"$folder/venv/bin/csvsort" -c ref second.csv >out
check "csvsort, second week" "$(cat second.csv)"
exit "$changed"

#!/bin/sh
# sqlite-utils makes one reference of five. A CSV file with references of 22 digits, as tracking and case numbers have
# them, becomes a table whose references are all 9.4001118992231e+21: each column whose cells are all digits is made one
# of integers, and SQLite has larger ones as numbers of 15 digits. Answers by reference, and a join with another table,
# then give the answers of other texts; the references cannot be had back. `insert` and `memory` do so, no error, no
# warning; with one letter in any of the cells, all stay as they are. Most would expect the texts of the file, or texts
# where a number does not hold them. The manual names the detection of types, leading zeros and an option for a column's
# type; public issues have long numbers in JSON, which are an error, and none has these.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sqlite-utils==4.2.1 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^sqlite-utils '
cd "$folder"
{
    echo "ref,topic,probability"
    echo "9400111899223100001234,billing,0.91"
    echo "9400111899223100001241,refund,0.84"
    echo "9400111899223100001258,billing,0.77"
    echo "9400111899223100001265,login,0.95"
    echo "9400111899223100001272,refund,0.62"
} >answers.csv
{ cat answers.csv; echo "A400111899223100001289,login,0.7"; } >letter.csv
echo "expected: five references of the file, as texts or whole numbers"
run() { "$folder/venv/bin/sqlite-utils" "$@"; }
run insert answers.db answers answers.csv --csv --silent
run insert answers.db letter letter.csv --csv --silent
run rows answers.db answers --csv | tr -d '\r' | tee rows.csv
different=$(run answers.db "select count(distinct ref) from answers" --raw)
memory=$(run memory answers.csv "select count(distinct ref) from answers" --raw)
letter=$(run answers.db "select count(distinct ref) from letter where ref in
    ('9400111899223100001234', '9400111899223100001272', 'A400111899223100001289')" --raw)
echo "different references: $different after insert, $memory with memory; with a letter in a row, $letter of 3 found"
references=$(sed 1d rows.csv | cut -d, -f1 | sort -u)
[ "$different" = 1 ] && [ "$memory" = 1 ] && [ "$letter" = 3 ] && [ "$references" = 9.4001118992231e+21 ]

#!/bin/sh
# fastparquet reads lists of texts as None from some row on: wherever a Parquet file has them plainly written instead of
# by a dictionary. pyarrow and DuckDB write so by themselves where there are many different texts: of 80,000 rows with
# two references each, pyarrow turns to plain pages after a megabyte of them, and the last 17,440 are None; DuckDB has
# no dictionary for them, and every list is None. Maps from options to probabilities likewise, by their keys. Lists of
# numbers and single texts are right; no error, no warning. A test with few rows, or with few options, passes. Most
# would expect the lists, as pyarrow reads them, or an error: a column of labels counts as not answered. The manual
# names plain encoding as supported, and has nothing of it.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet fastparquet==2026.9.0 pyarrow==26.0.1 duckdb==2.0.1 pandas==3.1.1 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(duckdb|fastparquet|pandas|pyarrow) '
cd "$folder"
echo "expected: the lists and maps that were written"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import duckdb
import fastparquet
import pyarrow
import pyarrow.parquet

ROWS = 80_000
COLUMNS = ["ref", "few", "many", "scores", "by_few", "by_many"]


def value(number):
    near = f"message {number}", f"message {number + 1}"
    share = number / ROWS
    options = ("yes", "no"), near
    maps = [{key: part for key, part in zip(keys, (share, 1 - share))} for keys in options]
    return [f"M-{number}", ["yes", "no"], list(near), [share, 1 - share], *maps]


def table(rows):
    columns = zip(*(value(number) for number in range(rows)))
    texts, mapped = pyarrow.list_(pyarrow.string()), pyarrow.map_(pyarrow.string(), pyarrow.float64())
    types = [pyarrow.string(), texts, texts, pyarrow.list_(pyarrow.float64()), mapped, mapped]
    arrays = []
    for column, kind in zip(columns, types):
        as_written = [list(it.items()) for it in column] if kind == mapped else column
        arrays.append(pyarrow.array(as_written, kind))
    return pyarrow.table(arrays, names=COLUMNS)


def missing(name, rows):
    """How many of each column's values are None, and whether the others are as written."""
    frame = fastparquet.ParquetFile(name).to_pandas()
    found, all_right = {}, True
    for place, column in enumerate(COLUMNS):
        values = list(frame[column])
        found[column] = sum(it is None for it in values)
        all_right &= all(it is None or it == value(number)[place] for number, it in enumerate(values))
    return found, all_right and len(frame) == rows


found, is_so = {}, True
for rows in (1000, ROWS):
    written = table(rows)
    pyarrow.parquet.write_table(written, "pyarrow.parquet")
    duckdb.sql("copy written to 'duckdb.parquet' (format parquet)")
    for name in ("pyarrow", "duckdb"):
        assert pyarrow.parquet.read_table(f"{name}.parquet").to_pylist() == written.to_pylist()
        found[name, rows], right = missing(f"{name}.parquet", rows)
        print(f"{rows} rows by {name}: None in {found[name, rows]}, the others right: {right}")
        is_so &= right and all(found[name, rows][it] == 0 for it in ("ref", "few", "scores", "by_few"))
for column in ("many", "by_many"):
    short, by_duckdb = found["pyarrow", 1000][column], found["duckdb", 1000][column]
    is_so &= short == 0 and by_duckdb == 1000 and found["duckdb", ROWS][column] == ROWS
    is_so &= 0 < found["pyarrow", ROWS][column] < ROWS
sys.exit(0 if is_so else 1)
PYTHON

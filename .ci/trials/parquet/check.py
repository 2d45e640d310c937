"""Compares exported Parquet, as pyarrow, polars and DuckDB read it, with exported JSON Lines.

Takes the path of the program. Answers texts with the built-in scorer, marks some results, and exports
all outputs of a lens.
"""

import json
import os
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

import duckdb
import polars
import pyarrow
import pyarrow.parquet

ROWS = 3_000
TEXTS = ["", "Where is my order?", "=1+1", "two\nlines", "Füße, 漢字, 🚲", "x" * 30_000]

PRISM = {
    "name": "Columns",
    "fields": [{"key": "text", "label": "Text"}],
    "questions": [
        {
            "key": "topic",
            "type": "choice",
            "text": "What is it about?",
            "options": [{"key": "order", "label": "Order"}, {"key": "bill", "label": "Bill"}],
        },
        {"key": "angry", "type": "yes_no", "text": "Is the writer angry?"},
        {
            "key": "urgency",
            "type": "scale",
            "text": "How urgent is it?",
            "levels": [{"key": "low", "label": "Low"}, {"key": "high", "label": "High"}],
        },
    ],
}
OUTPUTS = {
    "topic": ["top", "probability", "all"],
    "angry": ["label", "probability"],
    "urgency": ["level", "number", "average", "probability", "all"],
}
LENS = {
    "columns": [
        {"name": f"{question}_{output}", "question": question, "output": output}
        for question, outputs in OUTPUTS.items()
        for output in outputs
    ]
}
MARKED = ["topic_marked", "angry_marked", "urgency_marked"]

DOUBLES = ["topic_probability", "angry_probability", "urgency_average", "urgency_probability"]
INTEGERS = ["version", "urgency_number"]
MAPS = ["topic_all", "urgency_all"]


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="refract-parquet-") as folder:
        parquet, expected = export(program, Path(folder))
        for reader in (by_pyarrow, by_polars, by_duckdb):
            compare(reader.__name__, reader(parquet), expected)
    columns = len(expected[0])
    print(f"{len(expected)} rows of {columns} columns are the same in pyarrow, polars and DuckDB.")


def export(program, folder):
    """The path of the Parquet file, and the rows of JSON Lines."""
    environment = {
        "DATABASE_URL": f"sqlite://{folder}/refract.db",
        "REFRACT_MODEL_URL": "builtin:lexical",
        "PATH": os.environ.get("PATH", ""),
    }

    def refract(*arguments):
        done = subprocess.run([program, *arguments], env=environment, capture_output=True)
        if done.returncode != 0:
            sys.exit(f"check-parquet: refract {arguments[0]}: {done.stderr.decode()}")

    (folder / "prism.json").write_text(json.dumps(PRISM))
    (folder / "lens.json").write_text(json.dumps(LENS))
    rows = [
        {"text": f"{TEXTS[number % len(TEXTS)]} {number % 7}", "ref": f"r{number}" if number % 3 else None}
        for number in range(ROWS)
    ]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    marks = [{"ref": "r1", "topic": "bill", "angry": "no"}, {"ref": "r2", "urgency": "high"}]
    (folder / "marks.jsonl").write_text("".join(json.dumps(mark) + "\n" for mark in marks))
    refract("prism", "create", str(folder / "prism.json"))
    refract("lens", "set", "columns", str(folder / "lens.json"))
    refract("run", "columns", str(folder / "in.jsonl"), "--output", str(folder / "run.csv"))
    refract("marks", "import", "columns", str(folder / "marks.jsonl"))
    for name in ("all.parquet", "all.jsonl"):
        refract("results", "export", "columns", "--marks", "--output", str(folder / name))
    lines = (folder / "all.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == ROWS, len(lines)
    return folder / "all.parquet", [json.loads(line) for line in lines]


def by_pyarrow(path):
    table = pyarrow.parquet.read_table(path)
    schema = table.schema
    for name in DOUBLES:
        assert schema.field(name).type == pyarrow.float64(), schema
    for name in INTEGERS:
        assert schema.field(name).type == pyarrow.int32(), schema
    for name in MAPS:
        kind = schema.field(name).type
        assert pyarrow.types.is_map(kind), schema
        assert (kind.key_type, kind.item_type) == (pyarrow.string(), pyarrow.float64()), schema
    assert schema.field("created_at").type == pyarrow.timestamp("ms", tz="UTC"), schema
    assert schema.field("text").type == pyarrow.string(), schema
    return table.to_pylist()


def by_polars(path):
    table = polars.read_parquet(path)
    assert table.schema["created_at"] == polars.Datetime("ms", "UTC"), table.schema
    assert table.schema["topic_probability"] == polars.Float64, table.schema
    assert table.schema["version"] == polars.Int32, table.schema
    return table.to_dicts()


def by_duckdb(path):
    connection = duckdb.connect()
    described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)])
    types = {column[0]: column[1] for column in described.fetchall()}
    assert types["created_at"] == "TIMESTAMP WITH TIME ZONE", types
    assert types["topic_all"] == "MAP(VARCHAR, DOUBLE)", types
    assert types["topic_probability"] == "DOUBLE", types
    assert types["version"] == "INTEGER", types
    # as a number, since a moment with a time zone needs an extension that DuckDB downloads
    found = connection.execute(
        "SELECT * REPLACE (epoch_ms(created_at) AS created_at) FROM read_parquet(?)", [str(path)]
    )
    names = [column[0] for column in found.description]
    rows = [dict(zip(names, row)) for row in found.fetchall()]
    for row in rows:
        row["created_at"] = datetime.fromtimestamp(row["created_at"] / 1000, timezone.utc)
    return rows


def compare(reader, rows, expected):
    if len(rows) != len(expected):
        sys.exit(f"check-parquet: {reader} reads {len(rows)} rows of {len(expected)}")
    for number, (row, wanted) in enumerate(zip(rows, expected)):
        if list(row) != list(wanted):
            sys.exit(f"check-parquet: {reader} reads the columns {list(row)}, not {list(wanted)}")
        for name, value in row.items():
            value = plain(name, value)
            if value != wanted[name] or isinstance(value, bool):
                sys.exit(
                    f"check-parquet: {reader}, row {number}, {name}: {value!r}, not {wanted[name]!r}"
                )


def plain(name, value):
    """A value of any reader as JSON Lines have it."""
    if value is None:
        return None
    if name == "created_at":
        moment = value.astimezone(timezone.utc)
        assert isinstance(moment, datetime)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"
    if name in MAPS and isinstance(value, list):
        # pyarrow has pairs, polars has structs
        pairs = [pair.values() if isinstance(pair, dict) else pair for pair in value]
        return dict(tuple(pair) for pair in pairs)
    return value


main()

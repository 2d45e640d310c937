"""Tables of results, for pandas or polars."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from . import RawResult, Result, Row

Cell = Any


def to_frame(
    results: Iterable[Result | RawResult | Row], *, library: Literal["pandas", "polars"] | None = None, separator: str = "_"
) -> Any:
    """A DataFrame with one row for each result, in their order.

    The first columns are those of every row of the API: `result_id`, `ref`, `version`, `status`, `error` and
    `created_at` (a time in UTC). Then, in the order of their first appearance:

    - of results in `raw`, one column for each question, and one for each of its outcomes:
      `topic` (the chosen option) and `topic_billing` (its probability), … for a choice; `urgency` (the level)
      and `urgency_today`, … for a scale; `angry` for a yes/no, the probability of yes, because only a lens
      decides from where on that is a yes;
    - of other results, one column for each column of the lens; one with the probabilities of all
      outcomes is split in the same way into `topic_all_billing`, …;
    - of results in `row`, the fields before these.

    A cell is empty where the result failed, or has no such question. Two columns of one name are a
    ValueError: another `separator`, such as ".", which no key has, keeps them apart.

    The frame is one of `library`; if that is None, of pandas, or of polars where there is no pandas.
    """
    rows = [_row(result, separator) for result in results]
    names = list(dict.fromkeys(["result_id", "ref", "version", "status", "error", "created_at"] + [name for row in rows for name in row]))
    columns = {}
    for name in names:
        cells = [row.get(name) for row in rows]
        values = [None if cell is _SPLIT else cell for cell in cells]
        # what was split in some rows and is null in the others has no column of its own
        if _SPLIT not in cells or any(value is not None for value in values):
            columns[name] = values
    made = _library(library)
    return made.DataFrame(columns, strict=False) if made.__name__ == "polars" else made.DataFrame(columns)


# stands in a row where a value was split into one column for each outcome
_SPLIT = object()


def _row(result: Result | RawResult | Row, separator: str) -> dict[str, Cell]:
    if isinstance(result, dict):
        named: Mapping[str, Any] = result
        result_id, answers = result["id"], named["answers"] or {}
    else:
        named = vars(result)
        result_id, answers = result.result_id, result.columns
    row: dict[str, Cell] = {"result_id": result_id, **{name: named[name] for name in ("ref", "version", "status", "error")}}
    # Python 3.10 does not read the Z
    row["created_at"] = datetime.fromisoformat(named["created_at"].replace("Z", "+00:00"))
    for name, answer in answers.items():
        for column, value in _cells(name, answer, separator):
            if column in row:
                raise ValueError(f"two columns would be named {column}: choose another separator")
            row[column] = value
    return row


def _cells(name: str, answer: Any, separator: str) -> Iterable[tuple[str, Cell]]:
    if not isinstance(answer, dict):
        return [(name, answer)]
    kind = answer.get("type")
    if kind == "yes_no":
        return [(name, answer["probability"])]
    # an outcome of the lens may have the key `type`, but no text
    value, outcomes = (answer["value" if kind == "choice" else "level"], answer["probabilities"]) if isinstance(kind, str) else (_SPLIT, answer)
    return [(name, value), *((f"{name}{separator}{outcome}", probability) for outcome, probability in outcomes.items())]


def _library(wanted: str | None) -> Any:
    for name in [wanted] if wanted else ["pandas", "polars"]:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as missing:
            if missing.name != name:
                raise
    raise ModuleNotFoundError(f"to_frame needs {wanted or 'pandas or polars'}: pip install 'refract-client[{wanted or 'pandas'}]'")

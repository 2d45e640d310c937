"""Every call of the Python client, sync and async, through a proxy that injects faults."""

import asyncio
import os
import time
import uuid

import httpx

from refract_client import (
    AsyncRefract,
    BadRequest,
    Conflict,
    InternalError,
    NotFound,
    Refract,
    RefractError,
    Row,
    Unauthorized,
    Unavailable,
    ValidationFailed,
)

URL, KEY, PRISM = os.environ["REFRACT_URL"], os.environ["REFRACT_KEY"], "support-triage"
PLAN = URL.removesuffix("/v1") + "/plan"


def plan(*faults: str) -> None:
    httpx.post(PLAN, json=faults)


def came() -> int:
    """The number of requests since the plan; nothing of it may be left."""
    state = httpx.get(PLAN).json()
    assert state["left"] == [], state
    return int(state["came"])


def fresh(text: str) -> str:
    return f"{text} {uuid.uuid4()}"


def raised(kind: type[RefractError], call: object, *arguments: object, **named: object) -> RefractError:
    assert callable(call)
    try:
        call(*arguments, **named)
    except RefractError as error:
        assert type(error) is kind, repr(error)
        return error
    raise AssertionError(f"{kind.__name__} is expected")


def formats(client: Refract) -> None:
    result = client.create(PRISM, text="Where is my order?", ref="ticket-17")
    assert result["status"] == "ok" and result["ref"] == "ticket-17" and result["answers"] is not None
    assert client.read(result["id"]) == result
    raw = client.raw.read(result["id"])
    assert raw["answers"] is not None and raw["answers"]["angry"]["type"] == "yes_no"
    assert raw["answers"]["angry"].get("probability") == 0.12
    row = client.row.read(result["id"])
    assert isinstance(row, Row) and row.result_id == result["id"] and row.columns["text"] == "Where is my order?"
    assert client.jsonl.read(result["id"]).endswith("}\n")
    for text, separator in ((client.csv.read(result["id"]), ","), (client.tsv.read(result["id"]), "\t")):
        assert text.startswith(f"result_id{separator}ref{separator}version")
    by_field = client.create(PRISM, fields={"text": "Where is my order?"}, context="A shop.", version=1)
    assert by_field["version"] == 1


def repeats(client: Refract) -> None:
    """Every fault that passes is got over, and no text is asked about twice."""
    for fault in ("lost", "dropped", "draining", "broken", "proxy"):
        plan(fault, fault)
        text = fresh(fault)
        result = client.create(PRISM, text=text)
        assert result["status"] == "ok" and came() == 3, fault
        plan(fault)
        assert client.read(result["id"])["id"] == result["id"] and came() == 2, fault
    key = str(uuid.uuid4())
    plan("dropped")
    first = client.create(PRISM, text="Where?", idempotency_key=key)
    assert client.create(PRISM, text="Where?", idempotency_key=key)["id"] == first["id"]


def failures(client: Refract) -> None:
    """A result that the model gave no answer to is a value, in every format, and can be retried."""
    result = client.create(PRISM, text=fresh("fail once:"))
    assert result["status"] == "failed" and result["answers"] is None and result["error"]
    retried = client.retry(result["id"])
    assert retried["status"] == "ok" and retried["id"] != result["id"]
    assert ",failed," in client.csv.create(PRISM, text=fresh("fail once:"))
    failed = client.row.create(PRISM, text=fresh("fail once:"))
    assert failed.status == "failed"
    # the answer of a retry is lost: the repeat finds the result that it made
    plan("dropped")
    found = client.row.retry(failed.result_id)
    assert found.status == "ok" and came() == 3
    plan()
    slow = Refract(URL, KEY, timeout=1, pause=0.5)
    began = time.monotonic()
    late = slow.create(PRISM, text=fresh("slow:"))
    assert late["status"] == "ok" and came() >= 2 and time.monotonic() - began > 1, "a timeout is got over"
    slow.close()


def errors(client: Refract) -> None:
    plan()
    error = raised(ValidationFailed, client.create, PRISM, text="x", ref="")
    assert error.status == 400 and error.code == "validation_failed" and error.request_id and "ref" in str(error)
    raised(NotFound, client.read, str(uuid.uuid4()))
    result = client.create(PRISM, text="Where is my order?")
    raised(Conflict, client.retry, result["id"])
    other = Refract(URL, "rk_of_nobody")
    assert KEY not in repr(vars(client)["_client"]) and raised(Unauthorized, other.read, result["id"]).status == 401
    other.close()
    assert came() == 5, "what is wrong is not repeated"
    raised(BadRequest, client.create, PRISM, text="x" * 1_100_000)
    few = Refract(URL, KEY, attempts=2, pause=0.01)
    for fault, kind, status in (("broken", InternalError, 500), ("draining", Unavailable, 503), ("proxy", Unavailable, 502), ("lost", Unavailable, None)):
        plan(fault, fault)
        assert raised(kind, few.read, result["id"]).status == status
        assert came() == 2
    few.close()


async def asynchronous() -> None:
    async with AsyncRefract(URL, KEY, pause=0.02) as client:
        plan("lost", "dropped")
        result = await client.create(PRISM, text=fresh("awaited"))
        assert result["status"] == "ok" and came() == 3
        rows = await asyncio.gather(*(client.row.create(PRISM, text=fresh("many")) for _ in range(8)))
        assert len({row.result_id for row in rows}) == 8
        failed = await client.raw.create(PRISM, text=fresh("fail once:"))
        assert failed["status"] == "failed" and (await client.retry(failed["id"]))["status"] == "ok"
        assert (await client.tsv.read(result["id"])).startswith("result_id\t")
        try:
            await client.read(str(uuid.uuid4()))
        except NotFound as error:
            assert error.code == "not_found"
        else:
            raise AssertionError("NotFound is expected")


def main() -> None:
    with Refract(URL, KEY, pause=0.02) as client:
        for check in (formats, repeats, failures, errors):
            check(client)
    asyncio.run(asynchronous())
    print("Python: as it says")


main()

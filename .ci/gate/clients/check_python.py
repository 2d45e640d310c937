"""Every call of the Python client, sync and async, through a proxy that injects faults; tables where pandas or polars is."""

import asyncio
import importlib.util
import os
import pickle
import time
import uuid
from datetime import datetime, timezone
from typing import TypeVar

import httpx

from refract_client import (
    AsyncRefract,
    BadRequest,
    Conflict,
    InternalError,
    NotFound,
    RawResult,
    Refract,
    RefractError,
    Result,
    Row,
    Unauthorized,
    Unavailable,
    ValidationFailed,
    to_frame,
)

URL, KEY, PRISM = os.environ["REFRACT_URL"], os.environ["REFRACT_KEY"], "support-triage"
PLAN = URL.removesuffix("/v1") + "/plan"
# seconds until a late answer of the proxy
LATE = 0.75
E = TypeVar("E", bound=Exception)
# one client: each reads the system's certificates first
CONTROL = httpx.Client()


def plan(*faults: str) -> None:
    CONTROL.post(PLAN, json=faults)


def came(what: str = "came") -> int:
    """The number of requests (or of `connections`) since the plan; nothing of it may be left."""
    state = CONTROL.get(PLAN).json()
    assert state["left"] == [], state
    return int(state[what])


def fresh(text: str) -> str:
    return f"{text} {uuid.uuid4()}"


def raised(kind: type[E], call: object, *arguments: object, **named: object) -> E:
    assert callable(call)
    try:
        call(*arguments, **named)
    except (RefractError, ValueError) as error:
        assert type(error) is kind, repr(error)
        return error
    raise AssertionError(f"{kind.__name__} is expected")


def formats(client: Refract) -> None:
    result = client.create(PRISM, text="Where is my order?", ref="ticket-17")
    assert result["status"] == "ok" and result["ref"] == "ticket-17" and result["answers"] is not None
    assert client.read(result["id"]) == result
    raw = client.raw.read(result["id"])
    assert raw["answers"] is not None
    angry, topic, urgency = (raw["answers"][name] for name in ("angry", "topic", "urgency"))
    # the type decides what there is, for mypy too
    assert angry["type"] == "yes_no" and angry["probability"] == 0.12
    assert topic["type"] == "choice" and topic["value"] in topic["probabilities"] and topic["confidence"] <= 1
    assert urgency["type"] == "scale" and urgency["level"] in urgency["probabilities"]
    row = client.row.read(result["id"])
    assert isinstance(row, Row) and row.result_id == result["id"] and row.columns["text"] == "Where is my order?"
    assert client.jsonl.read(result["id"]).endswith("}\n")
    for text, separator in ((client.csv.read(result["id"]), ","), (client.tsv.read(result["id"]), "\t")):
        assert text.startswith(f"result_id{separator}ref{separator}version")
    by_field = client.create(PRISM, fields={"text": "Where is my order?"}, context="A shop.", version=1)
    assert by_field["version"] == 1


def repeats(client: Refract) -> None:
    """Every fault that passes is got over, and no text is asked about twice."""
    for fault in ("lost", "dropped", "draining", "broken", "proxy", "dated", "limited", "gateway", "idle", "deep"):
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
    assert KEY not in repr(vars(vars(client)["_pools"])) and raised(Unauthorized, other.read, result["id"]).status == 401
    other.close()
    assert came() == 5, "what is wrong is not repeated"
    raised(BadRequest, client.create, PRISM, text="x" * 1_100_000)
    few = Refract(URL, KEY, attempts=2, pause=0.01)
    kinds = (("broken", InternalError, 500), ("draining", Unavailable, 503), ("proxy", Unavailable, 502), ("gateway", Unavailable, 502),
             ("deep", Unavailable, 500), ("lost", Unavailable, None))
    for fault, kind, status in kinds:
        for calls in (few, few.row, few.csv, few.jsonl):
            plan(fault, fault)
            given_up = raised(kind, calls.read, result["id"])
            assert given_up.status == status and came() == 2 and (status or given_up.__cause__), fault
    again = pickle.loads(pickle.dumps(given_up))
    assert type(again) is Unavailable and str(again) == str(given_up), "an error goes from process to process"
    for fault, status in (("page", 200), ("json", 200), ("nested", 200), ("moved", 301)):
        for calls in (few, few.row, few.csv, few.jsonl):
            plan(fault)
            assert raised(Unavailable, calls.read, result["id"]).status == status and came() == 1, f"a {fault} is no result"
    plan("moved")
    assert "address" in str(raised(Unavailable, few.create, PRISM, text="x")) and came() == 1
    few.close()
    for fault in ("silent", "stalled"):
        plan(fault, fault)
        began = time.monotonic()
        with Refract(URL, KEY, timeout=1.5, attempts=2, pause=0.01) as hasty:
            assert raised(Unavailable, hasty.read, result["id"]).status is None
        assert came() == 2 and time.monotonic() - began < 8, "a silent server is given up"
    raised(ValidationFailed, client.read, "../prisms")


def hopeless(client: Refract) -> None:
    """What can never succeed is said at once, without the key, and nothing is sent."""
    plan()
    addresses = ("localhost:8080/v1", "127.0.0.1:8080/v1", "", "http://", "http:///v1", "http://[::1/v1", "http://127.0.0.1:port/v1",
                 "http://127.0.0.1:99999/v1", "http://a..b/v1", "http://a b/v1", f"{URL}\n", f"{URL}?x=1", f"{URL}#x",
                 URL.replace("//", "//user:word@"))
    wrong = [(address, KEY, "url: ") for address in addresses] + [(URL, key, "key: ") for key in (f"{KEY}\n", "", f"{KEY}\u00e9", f"{KEY} {KEY}")]
    settings: list[dict[str, float]] = [{"attempts": 0}, {"timeout": 0}, {"timeout": float("nan")}, {"pause": -1}]
    for kind in (Refract, AsyncRefract):
        for address, key, begin in wrong:
            refusal = raised(ValueError, kind, address, key)
            assert str(refusal).startswith(begin) and KEY not in str(refusal) and "word@" not in str(refusal), (address, refusal)
            assert refusal.__context__ is None, "a cause would show the key"
        for setting in settings:
            assert str(raised(ValueError, kind, URL, KEY, **setting)).startswith(f"{next(iter(setting))}: ")
    for text in (float("nan"), b"x", datetime.now(timezone.utc)):
        error = raised(ValidationFailed, client.create, PRISM, text=text)
        assert error.status is None and error.code == "validation_failed" and "text" in str(error)
    # entries that newer and older versions of httpx read, and some versions refuse
    os.environ["NO_PROXY"] = "localhost,127.0.0.1,[::1]"
    try:
        Refract(URL, KEY).close()
    except ValueError as refusal:
        assert "NO_PROXY" in str(refusal)
    finally:
        del os.environ["NO_PROXY"]
    assert came() == 0
    # the server says which string it is
    error = raised(ValidationFailed, client.create, PRISM, text="a\ud800")
    assert error.status == 400 and "text" in str(error)
    raised(NotFound, client.create, "a\ud800", text="x")
    assert client.row.create(PRISM, text="Wo ist mein Paket? \U0001f600").columns["text"] == "Wo ist mein Paket? \U0001f600"
    assert came() == 3


def forked(client: Refract) -> None:
    """A forked process shares no connection with its parent, which would give it the answer to another's call."""
    made = [client.create(PRISM, text=fresh("fork"))["id"] for _ in range(2)]
    plan()
    assert client.read(made[0])["id"] == made[0] and came("connections") == 1
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if client.read(made[1])["id"] == made[1] else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert client.read(made[0])["id"] == made[0] and came() == 3 and came("connections") == 2


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
    plan("silent")
    began = time.monotonic()
    async with AsyncRefract(URL, KEY, timeout=1.5, pause=0.02) as hasty:
        assert (await hasty.read(result["id"]))["id"] == result["id"]
    assert came() == 2 and time.monotonic() - began < 8, "a silent server is given up"


def loops() -> None:
    """One client serves one event loop after another, also in a forked process."""
    client = AsyncRefract(URL, KEY, pause=0.02)

    async def create() -> str:
        return (await client.create(PRISM, text=fresh("loop")))["status"]

    assert [asyncio.run(create()) for _ in range(3)] == ["ok"] * 3
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if asyncio.run(create()) == "ok" else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    asyncio.run(client.close())


async def many() -> None:
    """Many calls at once take not much longer than few at a time; a cancelled one gives its place back."""

    async def took(calls: int) -> float:
        async with AsyncRefract(URL, KEY, attempts=1) as client:
            began = time.process_time()
            made = await asyncio.gather(*(client.create(PRISM, text=fresh("many")) for _ in range(calls)))
            assert len({one["id"] for one in made}) == calls
            return time.process_time() - began

    few = sum([await took(100) for _ in range(6)])
    at_once = await took(600)
    assert at_once < 3 * few, f"{at_once:.1f} s instead of {few:.1f} s"
    async with AsyncRefract(URL, KEY, timeout=4 * LATE, attempts=1) as client:
        result = await client.create(PRISM, text=fresh("many"))
        plan(*["late"] * 100)
        calls = [asyncio.create_task(client.read(result["id"])) for _ in range(300)]
        await asyncio.sleep(LATE / 2)
        for call in calls[50:250]:
            call.cancel()
        read = await asyncio.gather(*calls, return_exceptions=True)
        # which of them had been sent depends on the time
        cancelled = sum(isinstance(one, asyncio.CancelledError) for one in read)
        assert 150 <= cancelled <= 200 and read.count(result) == 300 - cancelled, cancelled
        assert 300 - cancelled <= came() <= 200, came()


def tables(client: Refract) -> None:
    """One row for each result, whatever its format and status, with the cells in the columns of their names."""
    made = client.raw.create(PRISM, text="Where is my order?", ref="ticket-17")
    failed = client.raw.create(PRISM, text=fresh("fail once:"))
    assert made["answers"] is not None
    topic, urgency, angry = (made["answers"][name] for name in ("topic", "urgency", "angry"))
    assert topic["type"] == "choice" and urgency["type"] == "scale" and angry["type"] == "yes_no"
    expected = {"topic": topic["value"], **{f"topic_{name}": value for name, value in topic["probabilities"].items()}}
    expected |= {"angry": angry["probability"]}
    expected |= {"urgency": urgency["level"], **{f"urgency_{name}": value for name, value in urgency["probabilities"].items()}}
    for name in ("pandas", "polars"):
        if importlib.util.find_spec(name) is None:
            continue
        raw = to_frame([failed, made], library=name)
        assert list(raw.columns) == ["result_id", "ref", "version", "status", "error", "created_at", *expected], raw.columns
        assert list(raw["result_id"]) == [failed["id"], made["id"]] and list(raw["status"]) == ["failed", "ok"]
        for column, value in expected.items():
            first, second = list(raw[column])
            assert second == value and (first is None or first != first), f"{column}: {first}, {second}"
        assert raw["created_at"][1] == datetime.fromisoformat(made["created_at"].replace("Z", "+00:00")).astimezone(timezone.utc)
        through_lens: list[Result] = [client.read(made["id"]), client.read(failed["id"])]
        lens = to_frame(through_lens, library=name)
        assert list(lens.columns)[6:] == ["topic", "angry", "urgency"] and list(lens["topic"])[0] == topic["value"]
        rows = to_frame([client.row.read(made["id"])], library=name)
        assert list(rows.columns)[6:] == ["text", "topic", "angry", "urgency"] and list(rows["text"]) == ["Where is my order?"]
        # a distribution of the lens is split, also where a row has none
        all_of = {**through_lens[0], "answers": {"urgency_all": dict(urgency["probabilities"])}}
        split = to_frame([{**all_of, "answers": {"urgency_all": None}}, all_of], library=name)  # type: ignore[list-item]
        assert list(split.columns)[6:] == [f"urgency_all_{level}" for level in urgency["probabilities"]], split.columns
        assert to_frame([], library=name).shape == (0, 6)
        same: RawResult = {**made, "answers": {"topic": topic, "topic_other": angry}}
        try:
            to_frame([same], library=name)
        except ValueError as error:
            assert "topic_other" in str(error)
        else:
            raise AssertionError("two columns of one name")
        assert "topic.other" in to_frame([same], library=name, separator=".").columns


def main() -> None:
    with Refract(URL, KEY, pause=0.02) as client:
        for check in (formats, repeats, failures, errors, hopeless, forked, tables):
            check(client)
    asyncio.run(asynchronous())
    loops()
    asyncio.run(many())
    print(f"Python, httpx {httpx.__version__}: as it says")


main()

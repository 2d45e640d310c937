"""Calls the server with the client of openapi-python-client."""

import os
from typing import Any
from uuid import UUID

import scenario
from refract_client import AuthenticatedClient
from refract_client.api.results import create_result, read_result, retry_result
from refract_client.models import (
    ChoiceAnswer,
    ErrorBody,
    ErrorCode,
    FailedResult,
    FieldsCall,
    OkResult,
    RawResult,
    ResultFormat,
    ScaleAnswer,
    TextCall,
    YesNoAnswer,
)
from refract_client.models.distribution import Distribution
from refract_client.types import Response
from scenario import Answer

URL, KEY = os.environ["REFRACT_URL"], os.environ["REFRACT_KEY"]


class Adapter:
    def __init__(self, key: str) -> None:
        self.client = AuthenticatedClient(base_url=URL, token=key)

    def create(self, prism: str, call: dict[str, Any], format: str) -> Answer:
        body = TextCall.from_dict(call) if "text" in call else FieldsCall.from_dict(call)
        if text_only(format):
            return self.text("POST", f"/prisms/{prism}/results", format, json=body.to_dict())
        return plain(
            create_result.sync_detailed(prism, client=self.client, body=body, format_=ResultFormat(format))
        )

    def read(self, id: str, format: str) -> Answer:
        if text_only(format):
            return self.text("GET", f"/results/{id}", format)
        return plain(read_result.sync_detailed(UUID(id), client=self.client, format_=ResultFormat(format)))

    def retry(self, id: str, format: str) -> Answer:
        if text_only(format):
            return self.text("POST", f"/results/{id}/retry", format)
        return plain(retry_result.sync_detailed(UUID(id), client=self.client, format_=ResultFormat(format)))

    def text(self, method: str, path: str, format: str, **parts: Any) -> Answer:
        """A call whose answer is text, which the generated functions cannot read: they parse every answer as JSON."""
        http = self.client.get_httpx_client()
        response = http.request(method, path, params={"format": format}, **parts)
        is_json = response.headers["content-type"].startswith("application/json")
        return Answer(response.status_code, response.json() if is_json else response.text)


def text_only(format: str) -> bool:
    return format in ("csv", "tsv", "jsonl")


def plain(response: Response[Any]) -> Answer:
    assert response.parsed is not None
    return Answer(response.status_code.value, response.parsed.to_dict())


def check_types() -> None:
    """What a caller writes: results are told apart by their class."""
    client = AuthenticatedClient(base_url=URL, token=KEY)

    shown = create_result.sync("support-triage", client=client, body=TextCall(text=scenario.TEXT))
    assert isinstance(shown, OkResult)
    assert shown.answers["topic"] == "delivery" and shown.answers["urgency_average"] == 1.7
    distribution = shown.answers["topic_all"]
    assert isinstance(distribution, Distribution) and distribution["delivery"] == 0.95

    stored = read_result.sync(shown.id, client=client, format_=ResultFormat.RAW)
    assert isinstance(stored, RawResult)
    topic, angry, urgency = (stored.answers[key] for key in ("topic", "angry", "urgency"))
    assert isinstance(topic, ChoiceAnswer) and topic.confidence == 0.9 and topic.probabilities["other"] == 0.02
    assert isinstance(angry, YesNoAnswer) and angry.probability == 0.12
    assert isinstance(urgency, ScaleAnswer) and urgency.level == "this_week"

    call = TextCall(text="fail once: openapi-python-client, types", ref="17", version=1)
    failed = create_result.sync("support-triage", client=client, body=call)
    assert isinstance(failed, FailedResult) and failed.answers is None and failed.ref == "17"
    retried = retry_result.sync(failed.id, client=client)
    assert isinstance(retried, OkResult) and retried.created_at >= failed.created_at
    again = retry_result.sync(failed.id, client=client)
    assert isinstance(again, ErrorBody) and again.error.code is ErrorCode.CONFLICT
    assert str(retried.id) in again.error.message


check_types()
scenario.check("openapi-python-client", Adapter(KEY), Adapter(f"rk_{'x' * 32}"))

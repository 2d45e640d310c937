"""Calls the server with the client of openapi-generator's `python`."""

import json
import os
from typing import Any, Callable

import scenario
from openapi_client import (
    AnsweredResult,
    ApiClient,
    ApiException,
    ChoiceAnswer,
    Configuration,
    CreateCall,
    ErrorBody,
    ErrorCode,
    FailedResult,
    FieldsCall,
    OkResult,
    RawResult,
    Result,
    ResultFormat,
    ResultsApi,
    ScaleAnswer,
    TextCall,
    YesNoAnswer,
)
from scenario import Answer

URL, KEY = os.environ["REFRACT_URL"], os.environ["REFRACT_KEY"]


class Adapter:
    def __init__(self, key: str) -> None:
        self.api = ResultsApi(ApiClient(Configuration(host=URL, access_token=key)))

    def create(self, prism: str, call: dict[str, Any], format: str) -> Answer:
        body = TextCall(**call) if "text" in call else FieldsCall(**call)
        return self.call("create_result", format, prism, CreateCall(body))

    def read(self, id: str, format: str) -> Answer:
        return self.call("read_result", format, id)

    def retry(self, id: str, format: str) -> Answer:
        return self.call("retry_result", format, id)

    def call(self, operation: str, format: str, *arguments: Any) -> Answer:
        if format in ("csv", "tsv", "jsonl"):
            # the other functions read every answer as JSON
            unread = getattr(self.api, f"{operation}_without_preload_content")
            response = unread(*arguments, format=ResultFormat(format))
            text = response.read().decode()
            is_json = response.headers["content-type"].startswith("application/json")
            return Answer(response.status, json.loads(text) if is_json else text)
        return plain(getattr(self.api, f"{operation}_with_http_info"), *arguments, format=ResultFormat(format))


def plain(function: Callable[..., Any], *arguments: Any, **named: Any) -> Answer:
    try:
        response = function(*arguments, **named)
    except ApiException as refused:
        assert refused.status is not None and refused.data is not None
        return Answer(refused.status, json.loads(refused.data.to_json()))
    return Answer(response.status_code, json.loads(response.data.to_json()))


def check_types() -> None:
    """What a caller writes: `actual_instance` of a result and of an answer is one of several classes."""
    api = ResultsApi(ApiClient(Configuration(host=URL, access_token=KEY)))

    answered: AnsweredResult = api.create_result("support-triage", CreateCall(TextCall(text=scenario.TEXT)))
    shown = answered.actual_instance
    assert isinstance(shown, OkResult)
    assert shown.answers["topic"].actual_instance == "delivery"
    assert shown.answers["topic_all"].actual_instance == scenario.EXPECTED["json"]["topic_all"]

    result: Result = api.read_result(shown.id, format=ResultFormat.RAW)
    stored = result.actual_instance
    assert isinstance(stored, RawResult)
    topic, angry, urgency = (stored.answers[key].actual_instance for key in ("topic", "angry", "urgency"))
    assert isinstance(topic, ChoiceAnswer) and topic.confidence == 0.9 and topic.probabilities["other"] == 0.02
    assert isinstance(angry, YesNoAnswer) and angry.probability == 0.12
    assert isinstance(urgency, ScaleAnswer) and urgency.level == "this_week"

    call = TextCall(text="fail once: openapi-generator-python, types", ref="17", version=1)
    failed = raised(api.create_result, "support-triage", CreateCall(call))
    assert isinstance(failed, FailedResult) and failed.answers is None and failed.ref == "17"
    retried = api.retry_result(failed.id).actual_instance
    assert isinstance(retried, OkResult) and retried.created_at >= failed.created_at
    again = raised(api.retry_result, failed.id)
    assert isinstance(again, ErrorBody) and again.error.code is ErrorCode.CONFLICT
    assert str(retried.id) in again.error.message


def raised(function: Callable[..., Any], *arguments: Any) -> Any:
    """The body of a call that must raise: every status but 200 does."""
    try:
        function(*arguments)
    except ApiException as refused:
        return refused.data
    raise AssertionError("nothing was raised")


check_types()
scenario.check("openapi-generator-python", Adapter(KEY), Adapter(f"rk_{'x' * 32}"))

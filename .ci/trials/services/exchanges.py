"""Validates the exchanges of the gateway's tests with the types of the official clients. See .ci/trials/check-services.

An exchange is a line of JSON: the request's path and body, the answer's status and body, and whether the answer
was computed from the request. Every request must be one that the client could send, and every answer of a
scripted model one that the client could read. Keys that the client does not have are refused, except those in
EXTENSIONS.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from google.genai._gaos.types.decisions import CreateDecisionRequest, CreateDecisionResponse
from openai.types import Decision, DecisionCreateParams
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import BaseModel, TypeAdapter, ValidationError
from typesafe_sdk._schemas.models import SystemOneRequest, SystemOneResponse

# Pydantic validates an iterable only as far as it is read
for name, module in list(sys.modules.items()):
    if name.startswith("openai.types") and hasattr(module, "Iterable"):
        module.Iterable = list

SYSTEM_ONE, OPENAI, GEMINI, CHAT = "systemone", "OpenAI decisions", "Gemini decisions", "chat completions"
REQUESTS = {
    SYSTEM_ONE: TypeAdapter(SystemOneRequest),
    OPENAI: TypeAdapter(DecisionCreateParams),
    GEMINI: TypeAdapter(CreateDecisionRequest),
    CHAT: TypeAdapter(CompletionCreateParamsNonStreaming),
}
ANSWERS = {
    SYSTEM_ONE: TypeAdapter(SystemOneResponse),
    OPENAI: TypeAdapter(Decision),
    GEMINI: TypeAdapter(CreateDecisionResponse),
    CHAT: TypeAdapter(ChatCompletion),
}
# members of open servers, which OpenAI's does not have
EXTENSIONS = {
    "requests": {"chat_template_kwargs", "add_generation_prompt", "continue_final_message", "logprob_token_ids"},
    "answers": {"timings"},
}
MOST_SHOWN = 20


def main():
    folder = Path(sys.argv[1])
    seen, wrong = Counter(), Counter()
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.open(encoding="utf-8"):
            check(json.loads(line), seen, wrong)
    formats = [format for format in REQUESTS if seen[f"{format}: requests"]]
    missing = [format for format in formats if not seen[f"{format}: answers"]] if formats else list(REQUESTS)
    if wrong or missing:
        lines = [f"{count} times: {words}" for words, count in wrong.most_common(MOST_SHOWN)]
        lines += [f"{format}: no valid exchange" for format in missing]
        raise SystemExit("\n".join(["exchanges that an official client would not make:", *lines]))
    for words, count in sorted(seen.items()):
        print(f"{words}: {count} valid")


def check(exchange, seen, wrong):
    format = format_of(exchange)
    if format is None:
        return
    parts = [("requests", exchange["request"], REQUESTS[format])]
    if exchange["status"] == 200 and exchange["computed"] and is_of_scripted_model(format, exchange["answer"]):
        parts.append(("answers", exchange["answer"], ANSWERS[format]))
    for part, text, adapter in parts:
        found = problems(text, adapter, EXTENSIONS[part])
        seen[f"{format}: {part}"] += not found
        wrong.update(f"{format}: {part}: {words}" for words in found)


def is_of_scripted_model(format, answer):
    """Whether the answer is meant to be valid: tests compute others to see them refused."""
    answer = json.loads(answer)
    if not isinstance(answer, dict):
        return False
    # Gemini's answers do not name a model
    return "answers" in answer if format == GEMINI else str(answer.get("model")).startswith("scripted-")


def format_of(exchange):
    """The format of an exchange; None for endpoints that no official client has."""
    if exchange["path"].endswith("/chat/completions"):
        return CHAT
    if not exchange["request"].startswith("{"):
        return None
    body = json.loads(exchange["request"])
    if isinstance(body.get("questions"), list):
        return OPENAI
    # hosts take System One requests at any path
    if exchange["path"].endswith("/systemone") or "state" in body:
        return SYSTEM_ONE
    return GEMINI if exchange["path"].endswith("/decisions") else None


def problems(text, adapter, extensions):
    """What is wrong with a body, without its values: the path of each problem."""
    try:
        value = adapter.validate_json(text)
        written = json.loads(adapter.dump_json(value, by_alias=True, exclude_unset=True, warnings=False))
    except ValidationError as error:
        return {f"{path(detail['loc'])}: {detail['msg']}" for detail in error.errors(include_input=False)}
    sent = json.loads(text)
    found = {f"{name}: unknown" for name in lost(sent, written)}
    found |= {f"{name}: unknown" for name in extra(value)}
    return {words for words in found if words.partition(":")[0] not in extensions}


def lost(sent, written, at=()):
    """The keys of `sent` that are not in `written`."""
    if isinstance(sent, dict) and isinstance(written, dict):
        for key, value in sent.items():
            if key in written:
                yield from lost(value, written[key], (*at, key))
            else:
                yield path((*at, key))
    elif isinstance(sent, list) and isinstance(written, list):
        for one, other in zip(sent, written, strict=False):
            yield from lost(one, other, (*at, 0))


def extra(value, at=()):
    """The keys that a client's model keeps without knowing them."""
    if isinstance(value, BaseModel):
        yield from (path((*at, key)) for key in value.model_extra or {})
        for key in value.model_fields_set:
            yield from extra(getattr(value, key, None), (*at, key))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from extra(inner, (*at, key))
    elif isinstance(value, list):
        for inner in value:
            yield from extra(inner, (*at, 0))


def path(keys):
    """A path with `*` for places in lists and for keys that a prism chose."""
    shown = []
    for key in keys:
        chosen = isinstance(key, int) or (shown and shown[-1] in ("questions", "answers", "criteria", "probabilities", "state"))
        shown.append("*" if chosen else str(key))
    return ".".join(shown)


if __name__ == "__main__":
    main()

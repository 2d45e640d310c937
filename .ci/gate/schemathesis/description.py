"""Reads docs/openapi.json, and checks its examples against its schemas.

The description is written so that client generators can read it: every error response refers to one
plain schema, media types have no parameters, and a retry has no body. `exact` puts back what a server
does besides, so that this is checked all the same.
"""

import copy
import json
from pathlib import Path

import jsonschema_rs
from openapi_spec_validator import validate

PATH = Path(__file__).parents[3] / "docs" / "openapi.json"
METHODS = ("get", "post")
# a retry ignores such bodies; generated clients would send the header of the first without a body
RETRY_BODY = {
    "required": False,
    "content": {"application/json": {"schema": {}}, "text/plain": {"schema": {"type": "string"}}},
}


def exact(document):
    """Changes the description to what the server does exactly."""
    for response in document["components"]["responses"].values():
        if "x-errors" in response:
            content = response["content"]["application/json"]
            content["schema"] = {"allOf": [content["schema"], {"anyOf": [error(**e) for e in response["x-errors"]]}]}
    document["paths"]["/results/{result_id}/retry"]["post"]["requestBody"] = RETRY_BODY
    return document


def error(code, message=None, message_pattern=None):
    """The schema of an error body with this code and message, for an item of `x-errors`."""
    said = {"pattern": message_pattern} if message is None else {"const": message}
    return {"properties": {"error": {"properties": {"code": {"const": code}, "message": said}}}}


SOURCE = json.loads(PATH.read_text(encoding="utf-8"))
DOCUMENT = exact(copy.deepcopy(SOURCE))


def faults(schema, value):
    """The errors of a value under a schema, with formats and embedded JSON checked."""
    found = [
        f"{'/'.join(map(str, error.instance_path))}: {error.message}"
        for error in jsonschema_rs.Draft202012Validator(
            {**schema, "components": DOCUMENT["components"]}, validate_formats=True
        ).iter_errors(value)
    ]
    line = resolve(schema)
    if "contentSchema" in line and not found:
        found += faults(line["contentSchema"], json.loads(value))
    return found


def resolve(node):
    """Follows one reference within the document."""
    while isinstance(node, dict) and "$ref" in node:
        target = DOCUMENT
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def operations():
    """Yields the label and the object of every operation."""
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS:
            if method in item:
                yield f"{method.upper()} {path}", item[method]


def answers():
    """Yields every described answer as `label status content-type`: every body is UTF-8, and says so."""
    for label, operation in operations():
        for status, response in operation["responses"].items():
            for media_type in resolve(response)["content"]:
                yield f"{label} {status} {media_type}; charset=utf-8"


def check():
    """Fails with a list of errors, or returns the number of examples that were checked."""
    validate(SOURCE)
    validate(DOCUMENT)
    checked, found = 0, []
    for where, holder in holders():
        values = [resolve(example)["value"] for example in holder.get("examples", {}).values()]
        values += [holder["example"]] if "example" in holder else []
        if not values and "/retry body" not in where:
            found.append(f"{where}: no example")
        for value in values:
            checked += 1
            found += [f"{where}: {fault}" for fault in faults(holder["schema"], value)]
    if found:
        raise SystemExit("\n".join(["docs/openapi.json:", *found]))
    return checked


def holders():
    """Yields every object with a schema and examples: parameters, bodies, headers."""
    for label, operation in operations():
        for parameter in map(resolve, operation["parameters"]):
            yield f"{label} {parameter['name']}", parameter
        for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
            yield f"{label} body {media_type}", content
        for status, response in operation["responses"].items():
            for name, header in resolve(response)["headers"].items():
                yield f"{label} {status} {name}", resolve(header)
            for media_type, content in resolve(response)["content"].items():
                yield f"{label} {status} {media_type}", content


if __name__ == "__main__":
    print(f"{check()} examples hold")

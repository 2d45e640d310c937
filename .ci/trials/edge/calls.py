"""Calls with a Python library over one connection: calls.py LIBRARY URL KEY PRISM RESULT COUNT RETRY_STATUS."""

import asyncio
import http.client
import sys
from urllib.parse import urlsplit


def calls(url, key, prism, result, count, retry):
    """Method, address, headers, body and right status of each call."""
    bearer = {"Authorization": f"Bearer {key}"}
    read = f"{url}/results/{result}"
    create = ("POST", f"{url}/prisms/{prism}/results", {**bearer, "Content-Type": "application/json"}, b'{"text": "Where is my order?"}', 200)
    kinds = [create, ("GET", read, bearer, None, 200), ("POST", f"{read}/retry", bearer, None, int(retry))]
    return [(call, *kinds[call % 3]) for call in range(int(count))]


async def by_aiohttp(calls):
    import aiohttp

    async with aiohttp.ClientSession() as session:
        for call, method, url, headers, body, right in calls:
            if method == "POST" and not body:
                # it gives a POST without a body a media type of its own, which the API refuses
                headers, body = {**headers, "Content-Type": "application/json"}, b"{}"
            try:
                async with session.request(method, url, headers=headers, data=body) as answer:
                    await answer.read()
                    yield call, answer.status, right
            except aiohttp.ClientError as error:
                yield call, error, right


def by(send):
    async def sent(calls):
        for call, method, url, headers, body, right in calls:
            try:
                yield call, send(method, url, headers, body), right
            except Exception as error:  # each library has errors of its own
                yield call, error, right

    return sent


def of(library):
    """The calls of a library, each with its outcome and the right status."""
    if library == "aiohttp":
        return by_aiohttp
    if library == "httpx":
        import httpx

        client = httpx.Client()
        return by(lambda method, url, headers, body: client.request(method, url, headers=headers, content=body).status_code)
    if library == "requests":
        import requests

        session = requests.Session()
        return by(lambda method, url, headers, body: session.request(method, url, headers=headers, data=body).status_code)
    connections = {}

    def send(method, url, headers, body):
        parts = urlsplit(url)
        connection = connections.setdefault(parts.netloc, http.client.HTTPConnection(parts.netloc))
        # a call without a body says nothing of a length, as curl -X POST does
        connection.putrequest(method, parts.path)
        for name, value in {**headers, **({"Content-Length": str(len(body))} if body else {})}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        answer.read()
        return answer.status

    return by(send)


async def main():
    failed = 0
    async for call, outcome, right in of(sys.argv[1])(calls(*sys.argv[2:])):
        if outcome != right:
            print(f"call {call}: {outcome}")
            failed += 1
    print(failed, "failed")


if __name__ == "__main__":
    asyncio.run(main())

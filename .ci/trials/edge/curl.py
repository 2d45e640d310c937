"""Calls with one run of curl, which keeps its connection: curl.py [OPTION…] URL KEY PRISM RESULT COUNT RETRY_STATUS."""

import subprocess
import sys

from calls import calls


def quoted(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def main():
    *options, url, key, prism, result, count, retry = sys.argv[1:]
    wanted = calls(url, key, prism, result, count, retry)
    parts = []
    for _, method, address, headers, body, _ in wanted:
        lines = [f"url = {quoted(address)}", f"request = {method}", 'output = "/dev/null"', 'write-out = "%{http_code}\\n"']
        lines += [f"header = {quoted(f'{name}: {value}')}" for name, value in headers.items()]
        lines += [f"data = {quoted(body.decode())}"] if body else []
        given = iter(options)
        for option in given:
            name = option.removeprefix("--")
            lines.append(name if name == "http2" else f"{name} = {quoted(next(given))}")
        parts.append("\n".join(lines))
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--config", "-"], input="\nnext\n".join(parts), capture_output=True, text=True
    )
    statuses = done.stdout.split()
    failed = [call for call, *_, right in wanted if statuses[call : call + 1] != [str(right)]]
    for call in failed[:5]:
        print(f"call {call}: {statuses[call : call + 1]} {done.stderr.strip()[:200]}")
    print(len(failed), "failed")


if __name__ == "__main__":
    main()

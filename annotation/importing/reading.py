"""Reading a file in a process of its own with limits of memory and CPU.

Whatever a file does to its reader, the import ends with one line, and nothing else is slowed down.
"""

from __future__ import annotations

import copyreg
import io
import os
import pickle
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Generator, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NoReturn

from annotation import records
from annotation.formats import Format, ImportProblem, Source
from annotation.formats.entry import SourceRecord
from config.embedded.processes import follow_parent

# Entries in bounded batches, so that memory depends on the largest dialogue and not on the file.

MAX_TURNS = 10_000
MAX_CHARACTERS = 4_000_000
MAX_ENTRIES = 5_000


def batches(entries: Iterator[SourceRecord]) -> Iterator[list[SourceRecord]]:
    """Yield lists of entries that together stay small, each with at least one."""
    batch: list[SourceRecord] = []
    turns = characters = 0
    for entry in entries:
        batch.append(entry)
        if isinstance(entry.record, records.Dialogue):
            more, longer = _size(entry.record)
            turns += more
            characters += longer
        if turns >= MAX_TURNS or characters >= MAX_CHARACTERS or len(batch) >= MAX_ENTRIES:
            yield batch
            batch, turns, characters = [], 0, 0
    if batch:
        yield batch


def _size(dialogue: records.Dialogue) -> tuple[int, int]:
    """Return (turns and labels, characters) of a dialogue."""
    count, characters = len(dialogue.labels), 0
    for continuation in dialogue.all_continuations():
        count += len(continuation.turns)
        characters += sum(len(turn.text) for turn in continuation.turns)
    return count, characters


MEMORY = 2**30
"""Bytes that a reader may take beyond what its process has when it starts."""
CPU_SECONDS, CPU_PER_MEGABYTE = 120, 4
"""CPU seconds that a reader may take, and those that each megabyte of its file adds."""
HEADER = 8
_starting = threading.Lock()


class ReaderFailed(RuntimeError):
    """A reader met an error that is a fault of its own; the message is its traceback."""


def read(format: Format, source: Source) -> Generator[list[SourceRecord], None, None]:
    """Yield what a format reads, in batches; the source has its place, notes and faults as they come.

    Raises ImportProblem for what is wrong with the file, its demand of memory or CPU included.
    """
    seconds = CPU_SECONDS + CPU_PER_MEGABYTE * source.total // 2**20
    with _starting:  # no other reader may inherit this one's end of the pipe
        receiving, sending = os.pipe()
        parent = os.getpid()
        child = os.fork()
        if not child:
            _be_reader(format, source, sending, parent, seconds)
        os.close(sending)
    ended = False
    try:
        with open(receiving, "rb") as pipe:
            for batch, state, faults in _received(pipe):
                vars(source).update(state)
                for fault in faults:
                    source.report(fault)
                if batch:
                    yield batch
        ended = True
    finally:
        if not ended:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    _check_end(status, seconds)


def _received(pipe: IO[bytes]) -> Iterator[Any]:
    """Yield what the reader sends, until it ends; raise what it ended with."""
    while len(header := pipe.read(HEADER)) == HEADER:
        size = int.from_bytes(header, "big")
        content = pipe.read(size)
        if len(content) < size:
            return
        message = pickle.loads(content)
        if isinstance(message, BaseException):
            raise message
        yield message


def _check_end(status: int, seconds: int) -> None:
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGXCPU:
        raise ImportProblem(f"takes more than {seconds} s of computing to read: split it into smaller files")
    if code:
        raise ImportProblem(f"cannot be read: its reader ended unexpectedly ({code})")


def _be_reader(format: Format, source: Source, sending: int, parent: int, seconds: int) -> NoReturn:
    """Be the process that reads. It shares open files and connections with its parent, and uses none."""
    status = 1
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGXCPU):
            signal.signal(number, signal.SIG_DFL)
        follow_parent(signal.SIGKILL, parent)
        _limit(seconds)
        _send(sending, source, format)
        status = 0
    finally:
        os._exit(status)


def _limit(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    if sys.platform.startswith("linux"):
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))


def _send(sending: int, source: Source, format: Format) -> None:
    """Send batches, each with the state of the source, and in the end what went wrong."""
    faults = source.faults.found if source.faults else []
    sent = len(faults)
    error: BaseException | None = None

    def send(batch: list[SourceRecord]) -> None:
        nonlocal sent
        state = {name: value for name, value in vars(source).items() if name != "faults"}
        _write(sending, (batch, state, faults[sent:]))
        sent = len(faults)

    try:
        for batch in batches(format.read(source)):
            send(batch)
    except ImportProblem as problem:
        error = None if problem in faults else problem
    except MemoryError:
        error = ImportProblem(
            f"takes more than {MEMORY >> 20} MiB of memory to read: split it into smaller files"
        )
    except Exception:  # noqa: BLE001 (the parent raises it)
        error = ReaderFailed(traceback.format_exc())
    send([])
    if error is not None:
        _write(sending, error)


class _Pickler(pickle.Pickler):
    dispatch_table = copyreg.dispatch_table | {MappingProxyType: lambda one: (_mapping, (dict(one),))}


def _mapping(content: dict[str, Any]) -> MappingProxyType[str, Any]:
    return MappingProxyType(content)


def _write(sending: int, message: Any) -> None:
    buffer = io.BytesIO()
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(message)
    content = buffer.getvalue()
    rest = memoryview(len(content).to_bytes(HEADER, "big") + content)
    while rest:
        rest = rest[os.write(sending, rest) :]

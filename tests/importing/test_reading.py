"""A file is read in a separate process: whatever happens to it, the result is one line."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from annotation.corpora import import_file
from annotation.formats import FORMATS, ImportProblem, Source
from tests.importing.helpers import line, written


def reader(act: Callable[[], object]) -> Iterator[object]:
    """A format's `read` that does something to its process."""
    act()
    yield from ()


def hoard() -> None:
    found = []
    while True:
        found.append(bytearray(2**22))


def spin() -> None:
    while True:
        pass


def told(path: Path, act: Callable[[], object]) -> str:
    format = replace(FORMATS["jsonl"], read=lambda _source: reader(act))
    with pytest.raises(ImportProblem) as caught:
        list(import_file.read(format, Source(path)))
    assert not psutil.Process().children(), "no reader is left"
    return str(caught.value)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path, *(line(f"d{number}") for number in range(10)))


def test_a_file_that_takes_too_much_memory_is_refused_in_one_line(path, monkeypatch):
    monkeypatch.setattr(import_file, "MEMORY", 2**26)
    assert told(path, hoard) == "takes more than 64 MiB of memory to read: split it into smaller files"


@pytest.mark.exhaustive
def test_a_file_that_takes_too_long_is_refused_in_one_line(path, monkeypatch):
    monkeypatch.setattr(import_file, "CPU_SECONDS", 1)
    assert told(path, spin) == "takes more than 1 s of computing to read: split it into smaller files"


def test_a_reader_that_is_killed_is_told_in_one_line(path):
    line = told(path, lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert line == "cannot be read: its reader ended unexpectedly (-9)"


def test_a_fault_of_the_reader_itself_comes_with_its_traceback(path):
    with pytest.raises(import_file.ReaderFailed, match="ZeroDivisionError"):
        told(path, lambda: 1 / 0)


@pytest.mark.exhaustive
def test_a_reading_that_is_broken_off_leaves_no_process(tmp_path):
    large = written(tmp_path, *(line(f"d{number}") for number in range(20_000)))
    batches = import_file.read(FORMATS["jsonl"], Source(large))
    assert next(batches)
    assert psutil.Process().children()
    batches.close()
    assert not psutil.Process().children()

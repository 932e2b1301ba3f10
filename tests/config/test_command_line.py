"""The command line when the reader of its output closes the pipe."""

from __future__ import annotations

import os

import pytest

import manage


def test_output_that_nobody_reads_any_more_ends_a_command_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = os.pipe()
    os.close(reader)

    def printing(_: list[str]) -> None:
        print("x" * 100_000, flush=True)

    monkeypatch.setattr("django.core.management.execute_from_command_line", printing)
    with os.fdopen(writer, "w") as gone:
        monkeypatch.setattr("sys.stdout", gone)
        assert manage.main() == 141


def test_a_broken_pipe_of_another_kind_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: list[str]) -> None:
        raise BrokenPipeError("the database went away")

    monkeypatch.setattr("django.core.management.execute_from_command_line", broken)
    with pytest.raises(BrokenPipeError, match="went away"):
        manage.main()

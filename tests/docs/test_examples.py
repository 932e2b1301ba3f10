"""The examples in docs/ and the README are run; docs/develop.md describes their format."""

from __future__ import annotations

import doctest
import re
import shlex
import signal
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class

from config.commands import DatabaseCommand
from tests import factories

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted({*(ROOT / "docs").rglob("*.md")} - {ROOT / "docs" / "index.md"})]
BLOCK = re.compile(r"^```(?P<info>.+)\n(?P<text>(?s:.*?))^```$", re.MULTILINE)
TITLE = re.compile(r'\w+ title="([^"]+)"')
MANAGE = re.compile(r"(\.venv/bin/python )?manage\.py ")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ACCOUNTS: dict[str, dict[str, bool]] = {"ana": {"researcher": True}, "admin": {"administrator": True}}
"""The accounts that a page can name after `--as`."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `output` is the `text` block that comes straight after a `sh run` block."""

    info: str
    text: str
    line: int
    output: str | None = None

    @property
    def is_example(self) -> bool:
        return self.info == "sh run" or (self.info == "python" and self.text.startswith(">>>"))

    @property
    def commands(self) -> list[list[str]]:
        """The words of each command after `manage.py`; a backslash continues a line."""
        lines = self.text.replace("\\\n", " ").splitlines() if self.info == "sh run" else []
        commands = [line for line in lines if line.strip() and not line.startswith("#")]
        assert all(MANAGE.match(line) for line in commands), f"line {self.line}: only manage.py can run"
        return [shlex.split(MANAGE.sub("", line), comments=True) for line in commands]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    matches = list(BLOCK.finditer(text))
    page_blocks = []
    for match, following in zip_longest(matches, matches[1:]):
        follows = following is not None and not text[match.end() : following.start()].strip()
        output = following["text"] if following and follows and following["info"] == "text" else None
        line = text.count("\n", 0, match.start()) + 1
        page_blocks.append(Block(match["info"].strip(), match["text"], line, output))
    return page_blocks


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def needs_database(page: Path) -> bool:
    names = {words[0] for block in blocks(page) for words in block.commands}
    apps = get_commands()
    return any(isinstance(load_command_class(apps[name], name), DatabaseCommand) for name in names)


def with_examples() -> list[Any]:
    database = pytest.mark.django_db(transaction=True, reset_sequences=True)  # runs write from threads
    return [
        pytest.param(page, id=name_of(page), marks=[database] if needs_database(page) else [])
        for page in PAGES
        if any(block.is_example for block in blocks(page))
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory of a page's examples. Commands that run set signal handlers: restore them."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").symlink_to(ROOT / "demo")
    yield tmp_path
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("page", with_examples())
def test_the_examples_of_a_page_print_what_it_shows(page: Path, folder: Path) -> None:
    if needs_database(page):
        for name, role in ACCOUNTS.items():
            if f"--as {name}" in page.read_text(encoding="utf-8"):
                factories.user(name, **role)
    namespace: dict[str, Any] = {}
    failures = ""
    for block in blocks(page):
        if title := TITLE.fullmatch(block.info):
            (folder / title[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / title[1]).write_text(block.text, encoding="utf-8")
        elif block.is_example:
            failures += run_commands(block) if block.commands else run_python(block, page, namespace)
    if failures:
        pytest.fail(failures, pytrace=False)


def run_python(block: Block, page: Path, namespace: dict[str, Any]) -> str:
    """Run a doctest; return the report of its failures."""
    test = doctest.DocTestParser().get_doctest(block.text, {}, page.name, str(page), block.line)
    test.globs = namespace
    report: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    return "".join(report)


def run_commands(block: Block) -> str:
    """Run the commands of a block; return how their output differs from the page's."""
    printed, is_refused = StringIO(), False
    with redirect_stdout(printed):
        for words in block.commands:
            try:
                call_command(*words)
            except CommandError as error:
                is_refused = True
                print(f"CommandError: {error}")
    if block.output is None:
        return f"line {block.line}: {printed.getvalue()}" if is_refused else ""
    example = doctest.Example(block.text, block.output, lineno=block.line)
    checker = doctest.OutputChecker()
    if checker.check_output(example.want, printed.getvalue(), FLAGS):
        return ""
    return f"line {block.line}:\n{checker.output_difference(example, printed.getvalue(), FLAGS)}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_page_has_an_example(page: Path) -> None:
    assert any(block.is_example for block in blocks(page))

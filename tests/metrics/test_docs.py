"""The worked examples of docs/metrics match the metrics' results, and every metric has a section.

An example is a fenced block of type `example`: turns, then `key = value` or `key: reason`. Lines before them
may declare `profile ID: text`, `agenda ID: text`, `edge ID ID`, `terminal ID` and `reference: text`.
Embeddings are word counts.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotation.records import Agenda, Continuation, Dialogue, Participant, Turn
from judges.metrics import METRICS, Scene, instrument_for
from tests.metrics.helpers import tools

PAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "metrics"
BLOCK = re.compile(r"^```example\n(.*?)^```", re.DOTALL | re.MULTILINE)
EXAMPLES = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in sorted(PAGES.glob("*.md"))
    for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
]


def scenes(block: str) -> tuple[Scene, Scene]:
    """Return the turns of an example as a predicted last turn, and as a whole conversation."""
    turns, people, items, edges, given = [], [], {}, [], {}
    for line in block.splitlines():
        head, _, text = line.partition(":")
        word, _, name = head.strip().partition(" ")
        if word == "profile":
            people.append(Participant(name, profile=(text.strip(),)))
        elif word == "agenda":
            items[name] = text.strip()
        elif word == "edge":
            edges.append(tuple(name.split()))
        elif word in ("terminal", "reference"):
            given[word] = text.strip() or name
        elif not re.match(r"\w+(@\w+)?(:\S+)? =|\w+(@\w+)?(:\S+)? is unscored", line) and text:
            turns.append(Turn(head.strip(), text.strip()))
    agenda = Agenda(items, tuple(edges), terminal=given.get("terminal")) if items else None
    last = Turn(turns[-1].speaker, turns[-1].text, at=len(turns) - 1)
    reference = (Turn("reference", given["reference"]),) if "reference" in given else ()
    predicted = Continuation("x", "x", (last,), mode="static")
    local = Dialogue("d", (*turns[:-1], *reference), tuple(people), (predicted,), agenda=agenda)
    whole = Dialogue("d", tuple(turns), tuple(people), agenda=agenda)
    return Scene(local, predicted), Scene(whole, whole.own())


@pytest.mark.parametrize("block", EXAMPLES)
def test_a_worked_example_is_what_the_metric_gives(block: str) -> None:
    local, whole = scenes(block)
    checked = 0
    for line in block.splitlines():
        if found := re.match(r"([\w@]+(?::\S+)?) (=|is unscored:) (.*)", line):
            key, kind, expected = found.groups()
            instrument = instrument_for(key)
            turn = instrument.metric.kind == "turn"
            score = instrument.score(local if turn else whole, 0 if turn else None, tools())
            if kind == "=":
                assert score.value == pytest.approx(
                    float(expected), abs=0.5 * 10 ** -len(expected.split(".")[1])
                )
            else:
                assert score.reason == expected.strip()
            checked += 1
    assert checked


def sections() -> dict[str, str]:
    """The text of each section of the pages, by page and anchor: `agenda.md#task-success`."""
    texts = {}
    for page in sorted(PAGES.glob("*.md")):
        start, *parts = page.read_text(encoding="utf-8").split("\n## ")
        texts[page.name] = start
        for part in parts:
            heading = part.partition("\n")[0].lower()
            anchor = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
            texts[f"{page.name}#{anchor}"] = part
    return texts


SECTIONS = sections()
INDEX = (PAGES / "index.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| \[[^]]+\]\(([\w-]+\.md#[\w-]+)\) \| ([^|]+) \|", INDEX, re.MULTILINE)
DEFAULTS = re.findall(r"^\| ([A-Z][\w, -]*) \| `(\w+)` \|", INDEX, re.MULTILINE)


def plain(name: str) -> str:
    """Return a name as keys and titles are compared: letters and digits, in small letters."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


@pytest.mark.parametrize("key", METRICS)
def test_every_metric_is_explained_in_a_section_of_the_table(key: str) -> None:
    assert any(f"`{key}`" in SECTIONS[section] for section, _ in ROWS)


def test_every_section_is_listed_once() -> None:
    apart = ("index.md", "speed.md")
    assert sorted(dict(ROWS)) == [
        name for name in sorted(SECTIONS) if "#" in name and not name.startswith(apart)
    ]
    assert len(dict(ROWS)) == len(ROWS)
    assert "(speed.md)" in INDEX


@pytest.mark.parametrize(("section", "names"), ROWS)
def test_the_table_names_the_metrics_of_each_section_and_no_others(section: str, names: str) -> None:
    keys = {plain(key) for key in re.findall(r"`(\w+)`", SECTIONS[section]) if key in METRICS}
    listed = [plain(name) for name in names.split(",")]
    assert [key for key in keys if not key.startswith(tuple(listed))] == []
    assert [name for name in listed if not any(key.startswith(name) for key in keys)] == []


def test_the_table_of_defaults_is_what_the_metrics_declare() -> None:
    listed = {plain(name): variant for names, variant in DEFAULTS for name in names.split(",")}
    assert listed == {
        plain(key): metric.default_variant
        for key, metric in METRICS.items()
        if metric.default_variant != "paper"
    }

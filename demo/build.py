"""Build the demo corpora and their planted truth from the written sources: `python -m demo.build`.

`demo/sources/` holds one readable file per dialogue or family of scenarios; `demo/corpora/` holds what is
imported. Both are kept in the repository, and a test checks that the one still gives the other.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.text.item_keys import item_key
from demo import desk, marked, scenarios, series, toy_systems
from demo.script import Line, parse

HERE = Path(__file__).parent
CORPORA = HERE / "corpora"

RULES = {"method": "written by rules"}
BY_HAND = {"method": "written by hand"}

Record = dict[str, Any]


def build(folder: Path = CORPORA) -> list[Path]:
    """Write the corpora and `truth.json` into a folder and return their paths."""
    kinds: tuple[tuple[str, Callable[[Record], tuple[Record, Record]]], ...] = (
        ("meetings", meeting),
        ("personas", persona),
    )
    truth: Record = {}
    paths = []
    for name, make in kinds:
        made = [make(source) for source in sources(name)]
        lines = [json.dumps(dialogue, ensure_ascii=False) + "\n" for dialogue, _ in made]
        paths.append(_written(folder / f"{name}.jsonl", "".join(lines)))
        truth[name] = {key: value for _, planted in made for key, value in planted.items()}
    paths.append(_written(folder / "judges.jsonl", marked.lines()))
    paths.append(_written(folder / f"{desk.FILE}.jsonl", desk.lines()))
    for name in (scenarios.SET, scenarios.SHORT):
        paths.append(_written(folder / f"{name}.jsonl", scenarios.lines(name)))
    paths.append(_written(folder / f"{series.SET}.jsonl", series.lines()))
    return [*paths, _written(folder / "truth.json", json.dumps(truth, ensure_ascii=False, indent=1) + "\n")]


def sources(name: str) -> Iterator[Record]:
    """Yield the sources of a corpus in the order of their file names."""
    for path in sorted((HERE / "sources" / name).glob("*.toml")):
        yield tomllib.loads(path.read_text(encoding="utf-8"))


def meeting(source: Record) -> tuple[Record, Record]:
    """Return a meeting as a native dialogue, and its truth: behaviours by turn and overall scores."""
    history = parse(source["script"]["history"])
    names = {key: person["name"].split()[0] for key, person in source["participants"].items()}
    written = {
        "human": (parse(source["script"]["human"]["turns"]), {}),
        "toy-echo": (toy_systems.echo(history, names), RULES),
        "toy-drift": (parse(source["script"]["toy-drift"]["turns"]), BY_HAND),
    }
    continuations, truth = [], {}
    for system, (lines, condition) in written.items():
        turns = [{"speaker": line.speaker, "text": line.text} for line in lines]
        continuations.append(_continuation(system, "rollout", condition, turns))
        truth[item_key(source["id"], system, None)] = {
            "turns": [sorted(line.tags) for line in lines],
            "overall": source["script"][system]["overall"],
        }
    return _dialogue(source, history, continuations), truth


def persona(source: Record) -> tuple[Record, Record]:
    """Return a persona dialogue with static replies to each of B's points, and the quality of each reply."""
    history = parse(source["script"]["history"])
    points = [index for index, line in enumerate(history) if line.speaker == "B"]
    facts = source["participants"]["B"]["profile"]
    script = source["script"]
    attentive = parse(script["toy-attentive"]["turns"])
    script["toy-attentive"]["scores"] = [int(line.tags[0]) for line in attentive]
    texts: dict[str, tuple[list[str], Mapping[str, str]]] = {
        "toy-attentive": ([line.text for line in attentive], BY_HAND),
        "toy-rambler": ([toy_systems.rambler(history, at, facts) for at in points], RULES),
        "toy-bland": ([toy_systems.bland(history, at) for at in points], RULES),
    }
    continuations, truth = [], {}
    for system, (replies, condition) in texts.items():
        turns = [{"at": at, "speaker": "B", "text": text} for at, text in zip(points, replies, strict=True)]
        continuations.append(_continuation(system, "static", condition, turns))
        truth[item_key(source["id"], system, None)] = {
            "turns": script[system]["scores"],
            "quality": script[system]["quality"],
            "aspects": script[system].get("aspects", []),
        }
    return _dialogue(source, history, continuations), truth


def _dialogue(source: Record, history: Sequence[Line], continuations: list[Record]) -> Record:
    record: Record = {"id": source["id"], "language": "en"}
    if "summary" in source:
        record["summary"] = source["summary"]
    record["metadata"] = source["metadata"]
    record["participants"] = [{"id": key, **person} for key, person in source["participants"].items()]
    if "agenda" in source:
        items = [{"id": key, "text": text} for key, text in source["agenda"]["items"].items()]
        record["agenda"] = {**source["agenda"], "items": items}
    record["turns"] = [{"speaker": line.speaker, "text": line.text} for line in history]
    record["continuations"] = continuations
    return record


def _continuation(system: str, mode: str, condition: Mapping[str, str], turns: list[Record]) -> Record:
    named = {"condition": dict(condition)} if condition else {}
    return {"id": system, "system": system, "mode": mode, **named, "turns": turns}


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


if __name__ == "__main__":
    build()

"""Reads the public data sets on which the docs report results."""

from __future__ import annotations

import json
from pathlib import Path

from calibration.statistics import Ratings, Record, ratings_from_records

GPT4 = {"Overall": "ovr", "Coherent": "coh", "Diverse": "div", "Informative": "inf"}
SCALES = {"Overall": (0, 1, 2, 3, 4), "Consistent": (0, 1), "Understandable": (0, 1)}


def fed_qualities(shared: Path, turns: bool) -> list[str]:
    """Return the qualities of the turn items or of the dialogue items."""
    items = json.loads((shared / "fed" / "fed_data.json").read_text())
    return list(next(i for i in items if ("response" in i) == turns)["annotations"])


def fed(shared: Path, quality: str, turns: bool) -> Ratings:
    """Return five unidentified people's ratings of a quality; GPT-4's mean beside them for dialogues."""
    items = json.loads((shared / "fed" / "fed_data.json").read_text())
    dialogues = [i["context"] for i in items if "response" not in i]
    chosen = [i for i in items if ("response" in i) == turns]
    records = []
    for n, item in enumerate(chosen):
        where = (
            n
            if not turns
            else next(d for d, text in enumerate(dialogues) if text.startswith(item["context"]))
        )
        for slot, value in enumerate(item["annotations"][quality]):
            given = None if isinstance(value, str) else value
            records.append(Record(f"i{n}", f"slot {slot + 1}", given, f"d{where}", "human", identified=False))
    if not turns and quality in GPT4:
        records += _gpt4(shared, GPT4[quality])
    scale = SCALES.get(quality, (0, 1, 2))
    level = "binary" if len(scale) == 2 else "ordinal"
    return ratings_from_records(records, level=level, values=scale, off_scale=["gpt-4"])


def _gpt4(shared: Path, name: str) -> list[Record]:
    samples = json.loads((shared / "fed_gpt4_judge" / "fed_gpt4_annotations.json").read_text())
    return [
        Record(f"i{n}", "gpt-4", value, f"d{n}", "judge", sample=sample - 1)
        for sample in range(1, 6)
        for n, value in enumerate(samples[f"{name}_{sample}"])
    ]


def gpt4_samples(shared: Path, name: str) -> Ratings:
    """Return GPT-4's five samples of a quality as five raters, on 1 to 5."""
    return ratings_from_records(
        _gpt4(shared, name), level="ordinal", values=(1, 2, 3, 4, 5), samples="separate"
    )


def alt_test_data(shared: Path, name: str, level: str) -> Ratings:
    """Return people and judges of one data set; the part of an item's key before "__" is its cluster."""
    people, judges = (
        json.loads((shared / "alttest" / name / f"{who}_annotations.json").read_text())
        for who in ("human", "llm")
    )
    records = []
    for kind, answers in (("human", people), ("judge", judges)):
        for rater, mine in answers.items():
            for item, value in mine.items():
                records.append(Record(item, rater, _known(value), item.rsplit("__", 1)[0], kind))
    return ratings_from_records(records, level=level)


def _known(value: object) -> str | None:
    text = str(value)
    return None if text.startswith("n/a") else text

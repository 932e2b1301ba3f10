"""GPT-4's scores of FED's 125 conversations (Zhang et al. 2024): labels for a corpus imported as `fed`.

The file maps a quality and a sample's number (`coh_1`) to one score for each conversation, in the order of
FED's file. The five samples are answers of one judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from annotation.formats.entry import Format, Rating, SourceRecord
from annotation.formats.fed import dialogue_id
from annotation.formats.fields import decode, is_number, kind_of
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import SELF, LabelRecord
from annotation.schemes.fed import GPT4

JUDGE = "gpt-4"
COLUMN = re.compile(r"(?P<question>[a-z]+)_(?P<sample>[1-9][0-9]{0,3})")


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield one rating for each score."""
    content = decode(source.document(source.path))
    if not isinstance(content, dict) or not content:
        raise ImportProblem(f"must be an object of lists of scores, not {kind_of(content)}")
    for column, scores in content.items():
        match = COLUMN.fullmatch(column)
        if match is None:
            raise ImportProblem("must be a quality and a sample's number, like coh_1", field=column)
        if not isinstance(scores, list):
            raise ImportProblem(f"must be a list of scores, not {kind_of(scores)}", field=column)
        for index, score in enumerate(scores):
            yield SourceRecord(_rating(match["question"], int(match["sample"]) - 1, index, score, column))


def _rating(question: str, sample: int, index: int, score: Any, column: str) -> Rating:
    field = f"{column}[{index}]"
    if score is not None and not is_number(score):
        raise ImportProblem(f"must be a number or null, not {kind_of(score)}", field=field)
    label = LabelRecord(
        rater=JUDGE,
        kind="judge",
        continuation=SELF,
        turn=None,
        question=question,
        value=None if score is None else float(score),
        missing="no score given" if score is None else "",
        sample=sample,
        scheme=GPT4.key,
    )
    return Rating(dialogue_id(index + 1), label, field=field)


FORMAT = Format(
    key="fed_gpt4",
    title="GPT-4's scores of FED's conversations",
    hint="fed_gpt4_annotations.json: five samples of five qualities, added to a corpus of FED.",
    read=read,
    looks_like=lambda head: bool(head.keys) and all(map(COLUMN.fullmatch, head.keys)),
    labels_only=True,
    schemes=(GPT4.key,),
)

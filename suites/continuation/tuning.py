"""Examples for fine-tuning as a file: people's continuations as replies to the generator's own prompts.

One JSON object per line, with `messages` of the roles system, user and assistant, as providers' tools read
them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation.corpora import splits
from annotation.corpora.splits import EVALUATION, TRAINING
from annotation.models import Continuation, Corpus, Dialogue
from annotation.records import HUMAN, SELF
from calibration.errors import ExportRefused
from calibration.exports.downloads import Content, Order
from calibration.exports.parts import PARTS, ExportPart, take
from calibration.exports.writing import Blocks
from judges.runs.material import load
from suites.continuation.generators.cocoeval_continuation import CocoevalContinuation, NotTaught, examples
from suites.continuation.generators.generator import Settings, WrongSettings

SFT = "sft"
"""Name of such a file in addresses and records of downloads."""
TOGETHER = 50
"""Dialogues read per batch."""
BENCHMARK_PARTS = (TRAINING, EVALUATION)
"""The parts of a benchmark."""
CHOICES = tuple(dict.fromkeys((*BENCHMARK_PARTS, *PARTS)))
LABELS_AN_EXAMPLE = 30
"""Writing one example takes about as long as writing this many labels."""
NOBODY = "people did not continue it"


@dataclass
class Tuning:
    """An export: its corpus, part and settings. `left_out` fills during writing."""

    corpus: Corpus
    selection: ExportPart
    part: str
    settings: Settings
    taught: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def dialogues(self) -> QuerySet[Dialogue]:
        """Return the dialogues of the part, without a locked test part and those that answers leave out."""
        rows = self.corpus.dialogues.order_by("key").exclude(pk__in=self.selection.excluded_ids)
        if self.part in BENCHMARK_PARTS:
            rows = rows.filter(part=self.part)
        clusters = self.selection.clusters
        return rows if clusters is None else rows.filter(cluster__in=clusters)

    @property
    def each(self) -> int:
        """Number of examples per dialogue."""
        return int(self.settings["turns"]) // int(self.settings["turns_per_call"])

    def most(self) -> int:
        """Return the largest possible number of examples."""
        return self.dialogues().count() * self.each

    def blocks(self) -> Blocks:
        """Yield the lines, one block per dialogue. Raises ExportRefused where there are none."""
        rows = 0
        ids = list(self.dialogues().values_list("pk", flat=True))
        for start in range(0, len(ids), TOGETHER):
            together = ids[start : start + TOGETHER]
            theirs = _by_people(together)
            materials = load(theirs.values())
            for pk in together:
                lines = self._lines(materials.get(theirs.get(pk, 0)))
                rows += len(lines)
                if lines:
                    yield "".join(lines).encode()
        if not rows:
            raise ExportRefused(f"there are no examples: {self._why_none(len(ids))}")
        return rows

    def _lines(self, material: Any) -> list[str]:
        if material is None:
            self.left_out[NOBODY] += 1
            return []
        try:
            example_list = list(examples(material.dialogue, material.continuation.turns, self.settings))
        except NotTaught as refused:
            self.left_out[str(refused)] += 1
            return []
        self.taught += 1
        return [json.dumps(example, ensure_ascii=False) + "\n" for example in example_list]

    def _why_none(self, n: int) -> str:
        if not n:
            part = self.part or self.selection.part or "all"
            return f"no dialogue of {self.corpus.name} is in the part {part}"
        reason, _ = self.left_out.most_common(1)[0]
        return f"of the {n:,} dialogues none can be taught, most often because {reason}"

    def facts(self) -> dict[str, Any]:
        """Return the part, the settings, and the numbers of dialogues used and left out, by reason."""
        return {
            "part": self.part or self.selection.part or "all",
            **{name: self.settings[name] for name in sorted(self.settings)},
            "dialogues": self.taught,
            **({"excluded": self.selection.left_out.as_json()} if self.selection.left_out else {}),
            "left_out": dict(sorted(self.left_out.items())),
        }


def _by_people(dialogues: Sequence[int]) -> dict[int, int]:
    """Return people's own continuation per dialogue, where there is one: the first by id."""
    rows = (
        Continuation.objects.written()
        .filter(dialogue__in=dialogues, system__name__iexact=HUMAN, mode=Continuation.Mode.ROLLOUT)
        .exclude(key=SELF)
        .order_by("-key")
        .values_list("dialogue", "pk")
    )
    return dict(rows)


def named_parts(corpus: Corpus) -> list[str]:
    """Return the named parts of a benchmark corpus, training first."""
    return list(splits.sizes(corpus))


def settings_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the generator's settings; raise ExportRefused for invalid ones."""
    try:
        return CocoevalContinuation().resolved(values)
    except WrongSettings as refused:
        raise ExportRefused(str(refused).removesuffix(".")) from refused


def taken_for(
    *, corpus: Corpus, part: str = "", purpose: str = "", exclude: str = "", by: User | None
) -> tuple[ExportPart, str]:
    """Return the selected part, and its name in a benchmark, '' for a part of the split.

    A benchmark has its own parts; training is the default. Other corpora have those of the split, and
    selecting test is logged as a look at it. `exclude` is as for `take`. Raises ExportRefused for a part that
    does not exist.
    """
    part_names = named_parts(corpus)
    part = part or (TRAINING if part_names else "")
    if part in BENCHMARK_PARTS:
        if part not in part_names:
            available = (
                f"its parts are {' and '.join(part_names)}" if part_names else "its dialogues name none"
            )
            raise ExportRefused(f"no dialogue of {corpus.name} is in the part {part}: {available}")
        return take(corpus=corpus, part=part if part == TRAINING else "", exclude=exclude, by=by), part
    if part_names:
        raise ExportRefused(
            f"{corpus.name} is a benchmark: its parts are {' and '.join(part_names)}, not {part}"
        )
    return take(corpus=corpus, part=part, purpose=purpose, exclude=exclude, by=by), ""


TURNS_PER_CALL = (1, 5, 30)


def offered(corpus: Corpus) -> dict[str, Any] | None:
    """Return a page's options: the named parts and the settings; None where people continued nothing."""
    theirs = Continuation.objects.written().filter(dialogue__corpus=corpus, system__name__iexact=HUMAN)
    if not theirs.filter(mode=Continuation.Mode.ROLLOUT).exclude(key=SELF).exists():
        return None
    settings_by_name = {setting.name: setting for setting in CocoevalContinuation.settings}
    parts = named_parts(corpus)
    has_split = splits.lock_of(corpus) is not None
    return {
        "parts": parts or (("dev", "test", "all") if has_split else [("", "everything")]),
        "asks_purpose": has_split and not parts,
        "promptings": settings_by_name["prompting"].choices,
        "turns_per_call": [(turns, turns) for turns in TURNS_PER_CALL],
        "turns": TURNS_PER_CALL[-1],
    }


def of_order(order: Order) -> Tuning:
    """Return the export of an order, whose choice names the part and the settings."""
    settings = {name: value for name, value in order.choice.items() if name != "part"}
    return Tuning(order.corpus, order.export_part, order.choice.get("part", ""), settings)


CONTENTS = {
    SFT: Content(
        title="examples for fine-tuning",
        most=lambda order: of_order(order).most(),
        blocks=lambda order: of_order(order).blocks(),
        labels_a_row=LABELS_AN_EXAMPLE,
        offer=offered,
        template="continuation/_tuning.html",
    )
}

"""What an improving model is shown of a disagreement: what the judge saw, what it said, what people said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotation.text.cleaning import one_line
from calibration.models import Search
from judges.material.loading import load
from judges.models import BenchTarget
from judges.prompt_search.evolution import Answers
from judges.prompt_search.reflection import Disagreement
from judges.prompt_search.scoring import Target, Value
from judges.protocols import Asking
from judges.rating import needs
from judges.rating.askers import asker_of
from judges.rating.cases import case_of

MATERIAL = (
    "facts",
    "people",
    "profiles",
    "history",
    "context",
    "turns",
    "responses",
    "turn_scores",
    "rated",
    "reference",
    "response",
)
"""The variables that hold what a judge sees, in the order in which they are shown."""


def disagreement(search: Search, row: BenchTarget, target: Target, answers: Answers) -> Disagreement:
    """Return a case for the improving model; of turns without any difference nothing is said."""
    spec = search.texts.select_related("draft__rater").earliest("number").draft.rater.spec
    asker = asker_of(spec)
    assert isinstance(asker.protocol, Asking)
    loaded = load({row.continuation_id})
    given = needs.given(asker.protocol, spec["needs"], loaded) if "needs" in spec else {}
    material = loaded[row.continuation_id]
    case = case_of(material, row.item_id, spec, given.get(row.continuation_id), asker.parts()[0])
    values = asker.protocol.values(case, asker.variant)
    shown = tuple(
        filling if isinstance(filling, str) else filling()
        for filling in (values[name] for name in MATERIAL if name in values)
    )
    number = {item: place + 1 for place, item in enumerate(_in_order(material.items))}
    many = len({item for _, item in target.people}) > 1
    judged: list[str] = []
    said: list[str] = []
    for (name, item), people in target.people.items():
        judge = answers.get((name, item))
        if many and all(judge == value for value in people):
            continue
        where = f"[{number[item]}] " if many else ""
        judged.append(f"{where}{name}: {_written(judge)}")
        said.append(f"{where}{name}: {', '.join(map(_written, people))}")
    return Disagreement(target.key, shown, tuple(judged), tuple(said))


def _in_order(items: Mapping[int | None, int]) -> Sequence[int]:
    return [item for turn, item in sorted((turn, item) for turn, item in items.items() if turn is not None)]


def _written(value: Value | None) -> str:
    if value is None:
        return "(no answer)"
    return one_line(value) if isinstance(value, str) else f"{value:g}"

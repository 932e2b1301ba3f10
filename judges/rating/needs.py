"""Needs of judges: bound to a rater when a run starts, and read when its calls are made ready.

The bound rater's fingerprint and the version of the question are part of the judge's spec: on top of another
rater it is another judge.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.kinds.table import KINDS
from annotation.models import Corpus, Label, Question, Rater
from annotation.models.labels import live_labels
from judges.errors import JudgeError
from judges.material.loading import Material
from judges.models import Bench, Draft, DraftAnswer
from judges.protocols import Known, Need, Protocol
from judges.protocols.needs import Given, Value

Bound = dict[str, dict[str, str]]
"""Per role the `rater` (its fingerprint) and the `question` (scheme@version/key), as in a judge's spec."""


def bind_needs(
    protocol: Protocol, chosen: Mapping[str, str], *, drafts: bool = False
) -> tuple[Bound, list[Rater]]:
    """Bind each need to the judge or metric of a name (or fingerprint), for the spec; raise JudgeError.

    With `drafts` a draft may be read as well, by its fingerprint or as `BENCH/draft-3`: for drafts alone.
    """
    roles = {need.role: need for need in protocol.needs}
    if unknown := sorted(set(chosen) - roles.keys()):
        raise JudgeError(
            f"{protocol.key} has no need {unknown[0]!r}; it has {', '.join(roles) or 'none at all'}."
        )
    bound, raters = {}, []
    for role, need in roles.items():
        if not chosen.get(role) and need.optional:
            continue
        if not chosen.get(role):
            raise JudgeError(
                f"{protocol.key} reads the answers of another rater to {need.question}: "
                f"say whose, a judge's or a metric's, as the need {role}."
            )
        rater = (drafted(chosen[role]) if drafts else None) or _rater(chosen[role])
        question = _question(need, rater)
        version = question.version
        bound[role] = {
            "rater": rater.fingerprint,
            "question": f"{version.scheme.key}@{version.version}/{question.key}",
        }
        raters.append(rater)
    if roles and not bound:
        raise JudgeError(
            f"{protocol.key} reads the answers of other raters: name a judge for one of "
            f"{', '.join(roles)} at least."
        )
    return bound, list(dict.fromkeys(raters))


def machines() -> list[Rater]:
    """Return the raters that a need may be bound to: judges and metrics that run here."""
    found = Rater.objects.filter(corpus=None, draft=None).exclude(fingerprint="")
    found = found.exclude(spec__has_key="draft")
    return list(found.order_by("kind", "name"))


def drafted(name: str) -> Rater | None:
    """Return the rater of a draft, None where it is of no draft."""
    rows = Rater.objects.filter(draft__isnull=False).select_related("draft__bench", "draft__kept_rater")
    bench, _, number = name.rpartition("/draft-")
    if number.isascii() and number.isdecimal() and len(number) < 10 and bench:
        return rows.filter(draft__bench__name=bench, draft__number=int(number)).first()
    return rows.filter(fingerprint=name).first()


def kept_need(name: str) -> str:
    """Return whom a judge reads where its draft read a draft: what that was kept as. Raises JudgeError where
    it was not kept."""
    rater = drafted(name)
    if rater is None:
        return name
    draft = rater.draft
    if draft.kept_rater is None:
        raise JudgeError(
            f"It reads draft {draft.number} of the bench {draft.bench.name}: keep that one first."
        )
    return draft.kept_rater.fingerprint


def drafts_of(corpus: Corpus, protocol: Protocol) -> list[tuple[str, str]]:
    """Return the drafts on a corpus's benches that answer what a protocol reads: fingerprint and name."""
    rows = Draft.objects.filter(
        bench__corpus=corpus, of=None, search_text=None, discarded_at=None, kept="", targets__gt=0
    )
    found = rows.select_related("bench", "rater").order_by("bench", "number")
    wanted = {need.question for need in protocol.needs}
    return [
        (draft.rater.fingerprint, f"draft {draft.number} of {draft.bench.name}")
        for draft in found
        if wanted & asked_on(draft.bench)
    ]


def asked_on(bench: Bench) -> set[str]:
    """Return the questions that a bench's drafts answer, as needs name them."""
    rows = Question.objects.filter(pk__in=bench.questions.values())
    return {f"{scheme}/{key}" for scheme, key in rows.values_list("version__scheme__key", "key")}


def answers_for_needs(protocol: Protocol, bound: Bound, material: Mapping[int, Material]) -> dict[int, Given]:
    """Return, by continuation, what the bound raters answered about it: three queries a need."""
    found: dict[int, dict[str, Mapping[int | None, Known]]] = {pk: {} for pk in material}
    for need, role, place in _read(protocol, bound):
        rater = Rater.objects.get(fingerprint=bound[need.role]["rater"])
        question = _at_version(place)
        kind, in_words = KINDS[question.about], question.level in ("nominal", "text")
        places = {
            pk: {turn: item for turn, item in one.items.items() if (turn is not None) == kind.has_turn}
            for pk, one in material.items()
        }
        answers, reasons = _answers(rater, question, [item for of in places.values() for item in of.values()])
        for pk, of in places.items():
            found[pk][role] = {
                turn: need.known(
                    answers[item],
                    kind.name(None if turn is None else turn + 1),
                    rater.name,
                    in_words=in_words,
                    why=reasons.get(item, ""),
                )
                for turn, item in sorted(of.items(), key=lambda pair: -1 if pair[0] is None else pair[0])
            }
    return dict(found)


def _read(protocol: Protocol, bound: Bound) -> Iterator[tuple[Need, str, str]]:
    """Yield each question that is read of the bound raters: its need, how it is given, and its reference."""
    for need in protocol.needs:
        if need.role in bound:
            scheme = bound[need.role]["question"].partition("/")[0]
            for role, key in need.read.items():
                yield need, role, f"{scheme}/{key}"


def _answers(
    rater: Rater, question: Question, items: Sequence[int]
) -> tuple[dict[int, list[Value | None]], dict[int, str]]:
    """Return the samples of a machine's answers by item, in order (None for one that is missing), and the
    reason of the last one that is."""
    rows = (
        live_labels()
        .filter(rater=rater, question=question, item__in=items, campaign=None)
        .order_by("sample", "pk")
        .values_list("item_id", "number", "text", "missing")
    )
    if (own := drafted(rater.fingerprint)) is not None:
        rows = _drafted_answers(own.draft, question, items)
    answers: dict[int, list[Value | None]] = defaultdict(list)
    reasons: dict[int, str] = {}
    for item, number, text, missing in rows:
        answers[item].append(number if text is None else text)
        if missing:
            reasons[item] = missing
    return answers, reasons


def _drafted_answers(draft: Draft, question: Question, items: Sequence[int]) -> Any:
    """Return what a draft answered, or the judge that it was kept as: item, number, text, missing."""
    if draft.kept_rater is None:
        rows = DraftAnswer.objects.filter(draft=draft, question=question, item__in=items)
    else:
        rows = live_labels().filter(  # type: ignore[assignment]
            rater=draft.kept_rater, question=question, item__in=items, campaign=None
        )
    return rows.order_by("sample", "pk").values_list("item_id", "number", "text", "missing")


def _rater(name: str) -> Rater:
    known = machines()
    found = [rater for rater in known if name in (rater.name, rater.fingerprint)]
    if not found:
        names = ", ".join(rater.name for rater in known[:8])
        raise JudgeError(
            f"There is no judge or metric {name!r} to be read; there are: {names or 'none yet'}."
        )
    if len(found) > 1:
        raise JudgeError(f"A judge and a metric are called {name!r}: give the fingerprint.")
    return found[0]


def _question(need: Need, rater: Rater) -> Question:
    """Return the question as a rater answered it, in its newest version."""
    scheme, _, key = need.question.partition("/")
    asked = Question.objects.select_related("version__scheme").filter(version__scheme__key=scheme, key=key)
    answered = Label.objects.filter(rater=rater, question__in=asked).values("question")
    if (own := drafted(rater.fingerprint)) is not None:
        answered = list(own.draft.bench.questions.values())  # type: ignore[assignment]
    found = asked.filter(pk__in=answered).order_by("-version__version").first()
    if found is None:
        raise JudgeError(f"{rater.name} has not answered {need.question}: run it first.")
    return found


def _at_version(ref: str) -> Question:
    place, _, key = ref.partition("/")
    scheme, _, version = place.rpartition("@")
    wanted: dict[str, Any] = {"version__scheme__key": scheme, "version__version": int(version), "key": key}
    return Question.objects.select_related("version").get(**wanted)

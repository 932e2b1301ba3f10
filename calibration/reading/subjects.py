"""What a study compares: each question with the other questions that answer it too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotation.schemes.base import RANKING, UNSCALED
from calibration.errors import DefinitionError
from calibration.reading.census import Census, QuestionInfo, RaterInfo
from calibration.reading.definitions import AnsweredBy, Definition, StudyQuestion
from calibration.reading.levels import TURN, Levels, Missing
from calibration.reading.scale_maps import ScaleMap

# Questions known to ask the same thing on different scales, in one table.
#
# Each row: the people's question, the question that answers it too, and how their scales meet. A study may
# say otherwise; nothing outside this table (and identical questions of another version) is matched by itself.

RANK = ScaleMap("rank")
SAME = ScaleMap("identity")
EXPECTED = ("rubric_expected:", "g_eval:")
"""How the schemes of expected scores begin (`judges.protocols.rubric`)."""

COUNTERPARTS: tuple[tuple[str, str, str, str, ScaleMap], ...] = (
    # scheme, question, other scheme, other question, map
    ("fed_dialogue", "overall", "fed_gpt4", "ovr", RANK),
    ("fed_dialogue", "coherent", "fed_gpt4", "coh", RANK),
    ("fed_dialogue", "diverse", "fed_gpt4", "div", RANK),
    ("fed_dialogue", "informative", "fed_gpt4", "inf", RANK),
    ("comperdial_turn", "overall", "original_simple", "overall", SAME),
    ("comperdial_turn", "overall", "original_detail", "engagingness", RANK),
    ("comperdial_dialogue", "overall", "cpdscore_dialogue", "turn_score", SAME),
    ("comperdial_dialogue", "overall", "cpdscore_dialogue", "final", SAME),
)


def counterpart(scheme: str, question: str, other_scheme: str, other_question: str) -> ScaleMap | None:
    """Return the map by which the other question answers this one, None where the table knows none.

    Schemes are named by key, without their version. Expected scores of a scheme's questions answer these.
    """
    if question == other_question and other_scheme in [f"{start}{scheme}" for start in EXPECTED]:
        return SAME
    wanted = (scheme, question, other_scheme, other_question)
    return next((row[4] for row in COUNTERPARTS if row[:4] == wanted), None)


TEXT = "text"
METRIC = "metric"


@dataclass(frozen=True, slots=True)
class Link:
    """A question whose answers count as answers to the subject, through a map."""

    question: QuestionInfo
    map: ScaleMap


@dataclass(frozen=True, slots=True)
class Subject:
    """A question, and those that answer it too.

    `links` are about the same kind of item; `across` about the other kind: they answer it above turns alone.
    `missing` says what a turn without an answer does to a mean of the question's own answers.
    """

    question: QuestionInfo
    links: tuple[Link, ...] = ()
    across: tuple[Link, ...] = ()
    missing: Missing = "skip"

    @property
    def question_ids(self) -> list[int]:
        """All questions whose labels are read."""
        return [self.question.id, *(link.question.id for link in self.links)]


def subjects_of(definition: Definition, counted: Census) -> list[Subject]:
    """Return what a definition compares. Raises DefinitionError where it names what no label answers.

    Rankings are left out: they are read as preferences alone (`calibration.reading.compared`).
    """
    counted = _limited(counted, definition.raters)
    if definition.questions:
        return [
            _declared(asked, counted, definition.levels)
            for asked in definition.questions
            if found_question(asked.question, counted).level != RANKING
        ]
    return automatic(counted)


def automatic(counted: Census) -> list[Subject]:
    """Return every question that two raters or more answered, with the links that are known.

    Questions that only metrics answer are not subjects: metrics join the questions of people and judges about
    the same kind of item, by order alone, or where both are nominal, by the same categories.
    """
    answered = [q for q in counted.questions.values() if q.level not in UNSCALED]
    subjects = []
    for question in answered:
        raters = counted.raters_of(question.id)
        links = _known_links(question, answered, counted)
        linked = {r.id for link in links for r in counted.raters_of(link.question.id)}
        if any(r.kind != METRIC for r in raters) and len({r.id for r in raters} | linked) >= 2:
            subjects.append(Subject(question, links))
    used = {
        link.question.id for s in subjects for link in s.links if not _only_metrics(link.question, counted)
    }
    return [s for s in subjects if s.question.id not in used or _has_people(s.question, counted)]


def _limited(counted: Census, names: Sequence[str]) -> Census:
    """Return the census without the raters that a definition leaves out."""
    if not names:
        return counted
    known = {rater.name: rater.id for rater in counted.raters.values()}
    if unknown := [name for name in names if name not in known]:
        raise DefinitionError(
            f"no rater {unknown[0]!r} has labels here; there are {', '.join(sorted(known))}"
        )
    keep = {known[name] for name in names}
    return replace(counted, counts={pair: n for pair, n in counted.counts.items() if pair[1] in keep})


def _declared(asked: StudyQuestion, counted: Census, levels: Levels | None) -> Subject:
    question = found_question(asked.question, counted)
    if question.level == TEXT:
        raise DefinitionError(f"{asked.question} is answered in free text, which has no agreement statistics")
    links = [_link(link, counted) for link in asked.answered_by]
    across = [link for link in links if link.question.item_kind != question.item_kind]
    _check_levels(question, across, levels)
    links = [link for link in links if link not in across]
    if levels is not None:
        named = {link.question.id for link in (*links, *across)}
        links += [link for link in known_links(question, counted) if link.question.id not in named]
    return Subject(question, tuple(links), tuple(across), asked.missing)


def _link(link: AnsweredBy, counted: Census) -> Link:
    return Link(found_question(link.question, counted), link.map)


def _check_levels(question: QuestionInfo, across: Sequence[Link], levels: Levels | None) -> None:
    """Refuse what cannot meet: items of two kinds, except as means at the levels above turns."""
    if levels is not None and levels.levels == (TURN,) and question.item_kind != TURN:
        raise DefinitionError(f"{question.ref} is about whole dialogues, which have no turn level")
    for link in across:
        if levels is None:
            raise DefinitionError(
                f"{link.question.ref} is about {link.question.item_kind} items, {question.ref} is not: "
                "they meet in a study with level dialogue or system"
            )
        if TURN in levels.levels:
            raise DefinitionError(
                f"{link.question.ref} is about {link.question.item_kind} items, {question.ref} is not: they "
                "cannot meet at turn level, only at level dialogue and system"
            )


def found_question(ref: str, counted: Census) -> QuestionInfo:
    """Return the question that a definition names. Raises DefinitionError where no label answers it."""
    question = counted.by_ref(ref) or _only_version(ref, counted)
    if question is None:
        known = ", ".join(q.ref for q in counted.questions.values()) or "none"
        raise DefinitionError(f"no labels answer {ref!r} here; questions with labels: {known}")
    return question


def _only_version(ref: str, counted: Census) -> QuestionInfo | None:
    """Return the question that `scheme/key` names without a version, where labels are of one alone."""
    named = [q for q in counted.questions.values() if f"{q.scheme.rsplit('@', 1)[0]}/{q.key}" == ref]
    return named[0] if len(named) == 1 else None


def known_links(question: QuestionInfo, counted: Census) -> tuple[Link, ...]:
    """Return the questions that are known to ask the same: other versions, counterparts, and metrics."""
    return _known_links(question, [q for q in counted.questions.values() if q.level not in UNSCALED], counted)


def _known_links(question: QuestionInfo, others: Sequence[QuestionInfo], counted: Census) -> tuple[Link, ...]:
    links = []
    for other in others:
        if other.id == question.id or other.item_kind != question.item_kind:
            continue
        found = _known_map(question, other, counted)
        if found is not None:
            links.append(Link(other, found))
    return tuple(links)


def _known_map(question: QuestionInfo, other: QuestionInfo, counted: Census) -> ScaleMap | None:
    scheme, other_scheme = question.scheme.rsplit("@", 1)[0], other.scheme.rsplit("@", 1)[0]
    same_scale = (question.level, question.values) == (other.level, other.values)
    if scheme == other_scheme and question.key == other.key and same_scale:
        return ScaleMap("identity") if other.ref < question.ref else None
    if _only_metrics(other, counted):
        if _only_metrics(question, counted):
            return None
        if "nominal" in (question.level, other.level):
            same = question.level == other.level and set(question.values) == set(other.values)
            return ScaleMap("identity") if same else None
        return ScaleMap("rank")
    return counterpart(scheme, question.key, other_scheme, other.key)


def _only_metrics(question: QuestionInfo, counted: Census) -> bool:
    return all(rater.kind == METRIC for rater in counted.raters_of(question.id))


def _has_people(question: QuestionInfo, counted: Census) -> bool:
    return any(rater.kind in ("human", "key") for rater in counted.raters_of(question.id))


def rater_names(subject: Subject, counted: Census) -> dict[tuple[int, int], RaterInfo]:
    """Return, per (question, rater), the rater as the statistics name it: once per question it answers.

    A rater who answers through two linked questions is told apart by the question's key.
    """
    asked = set(subject.question_ids)
    pairs = [pair for pair in counted.counts if pair[0] in asked]
    times: dict[int, int] = {}
    for _, rater in pairs:
        times[rater] = times.get(rater, 0) + 1
    named = {}
    for question, rater in pairs:
        info = counted.raters[rater]
        if times[rater] > 1 and question != subject.question.id:
            info = replace(info, name=f"{info.name}: {counted.questions[question].key}")
        named[question, rater] = info
    return named

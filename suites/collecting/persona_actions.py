"""Personas in the database: drawn, reviewed in a campaign, decided, and grouped into dialogues."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.campaigns import campaign_actions
from annotation.corpora.import_file import import_path, lock_corpus
from annotation.formats.source import ImportProblem
from annotation.models import Campaign, Corpus
from annotation.text.views import DEFAULT, METADATA, one_line
from config.models import Event
from jobs.endpoints.parameters import Parameter
from suites.collecting import models
from suites.collecting.errors import PersonasRefused
from suites.collecting.inventories import OLDEST, inventory_sha256
from suites.collecting.inventory_actions import check_name, inventory_of, mark_negative
from suites.collecting.models import Persona, PersonaHead, PersonaSet
from suites.collecting.persona_text import Flag, contradictions, stated_age
from suites.collecting.personas import (
    DECISIONS,
    LONGEST_SENTENCE,
    MOST_SENTENCES,
    MOST_USES,
    NoPersona,
    Outcome,
    draw,
    group,
    outcome,
)
from suites.collecting.schemes import PERSONA_REVIEW
from suites.review_labels import answers_by

COUNT = Parameter("count", "whole", "Number of personas", "", 1, 2_000)
SEED = Parameter("seed", "whole", "Seed", "The same seed gives the same result again.", 0, 2**31 - 1)
PARTICIPANTS = Parameter("participants", "whole", "Participants", "Personas in one dialogue.", 2, 6)
USES = Parameter("uses", "whole", "Uses", "Dialogues in which each persona takes part.", 1, MOST_USES)
FIRST_DESCRIPTION, SECOND_DESCRIPTION, FLAGGED = "first_description", "second_description", "flagged"
"""Metadata of a persona's dialogue that reviewers see."""
Status = Persona.Status
USABLE = (Status.ACCEPTED, Status.CORRECTED)


@transaction.atomic
def draw_set(*, by: User | None, inventory: models.Inventory, name: str, count: int, seed: int) -> PersonaSet:
    """Draw `count` personas from an inventory, and create the corpus in which people review them.

    The corpus has the set's name, and one dialogue without turns for each persona. Raises PersonasRefused
    for a name that is taken, and for an inventory that lacks something.
    """
    name = check_name(name)
    _check_bounds((COUNT, count), (SEED, seed))
    check_free(name)
    stored = models.Inventory.objects.select_for_update(no_key=True).get(pk=inventory.pk)
    heads = list(stored.heads.order_by("number"))
    record = inventory_of(stored, heads)
    if gaps := record.gaps():
        raise PersonasRefused(gaps[0])
    try:
        personas_of_draw = draw(record, seed, count)
    except NoPersona as error:
        raise PersonasRefused(str(error)) from None
    personas = [
        Persona(
            number=persona.number,
            first=heads[persona.heads[0]],
            second=heads[persona.heads[1]],
            name=persona.name,
            age=persona.age,
            gender=persona.gender,
            original=list(persona.sentences),
            sentences=list(persona.sentences),
            replaced=[list(pair) for pair in persona.replaced],
            remaining=list(persona.remaining),
            flags=[_flag_json(flag) for flag in persona.flags],
        )
        for persona in personas_of_draw
    ]
    corpus = import_lines(
        by=by,
        name=name,
        lines=map(_review_line, personas),
        source=f"Personas drawn from {stored.name} with seed {seed}",
    )
    persona_set = PersonaSet.objects.create(
        name=name,
        inventory=stored,
        inventory_sha256=inventory_sha256(record),
        seed=seed,
        corpus=corpus,
        created_by=by,
    )
    for persona in personas:
        persona.set = persona_set
    Persona.objects.bulk_create(personas)
    _log(by, "draw", persona_set, inventory=stored.name, personas=count, seed=seed)
    return persona_set


def _flag_json(flag: Flag) -> dict[str, Any]:
    return asdict(flag) | {"sentences": list(flag.sentences)}


def _check_bounds(*values: tuple[Parameter, int]) -> None:
    for parameter, value in values:
        least, most = int(parameter.least or 0), int(parameter.most or 0)
        if not least <= value <= most:
            raise PersonasRefused(f"Give a number from {least:,} to {most:,}.", field=parameter.name)


def check_free(name: str) -> None:
    """Refuse the name of a corpus or a set that exists; nobody else takes the name before the commit."""
    lock_corpus(name)
    if Corpus.objects.filter(name=name).exists() or PersonaSet.objects.filter(name=name).exists():
        raise PersonasRefused(f"There is a corpus “{name}” already.", field="name")


def _review_line(persona: Persona) -> dict[str, Any]:
    """Return the dialogue that reviewers rate, in the native format."""
    assert persona.first is not None
    assert persona.second is not None
    metadata: dict[str, Any] = {
        FIRST_DESCRIPTION: persona.first.text,
        SECOND_DESCRIPTION: persona.second.text,
    }
    notes = [flag["message"] for flag in persona.flags]
    notes += [f"“{word}” is gendered" for word in persona.remaining]
    if notes:
        metadata[FLAGGED] = notes
    return {
        "id": persona.key,
        "language": "en",
        "participants": [{"id": "persona", "name": persona.name, "profile": persona.original}],
        "metadata": metadata,
        "turns": [],
    }


def import_lines(*, by: User | None, name: str, lines: Iterable[Mapping[str, Any]], source: str) -> Corpus:
    """Create a corpus of dialogues in the native format. Raises PersonasRefused."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        file.flush()
        try:
            import_path(
                path=file.name,
                name=f"{name}, made here",
                format="jsonl",
                corpus=name,
                into=False,
                by=by,
                source=source[:1000],
            )
        except ImportProblem as problem:
            raise PersonasRefused(problem.reason, field="name") from None
    return Corpus.objects.get(name=name)


@transaction.atomic
def create_review(*, by: User, persona_set: PersonaSet) -> Campaign:
    """Create the draft of the campaign in which two people review each persona, and return it."""
    rows = Campaign.objects.filter(corpus=persona_set.corpus)
    number = rows.count() + 1
    shows = [*DEFAULT, *(METADATA + name for name in (FIRST_DESCRIPTION, SECOND_DESCRIPTION, FLAGGED))]
    campaign = campaign_actions.create(
        by=by,
        name=f"{persona_set.name}, review {number}"[-100:],
        corpus=persona_set.corpus,
        scheme=PERSONA_REVIEW.key,
        raters_per_item=2,
        shows=shows,
    )
    _log(by, "create review", persona_set, campaign=campaign.pk)
    return campaign


# Outcomes of reviews, applied by an explicit action.


@dataclass(frozen=True, slots=True)
class Applied:
    """Outcomes of the reviews of a set's drafts, by persona, and the heads that they mark as negative."""

    outcomes: tuple[tuple[Persona, Outcome], ...]
    negative_heads: tuple[PersonaHead, ...]
    unreviewed: int

    @property
    def counts(self) -> dict[str, int]:
        """Number of reviewed drafts that are, or would be, accepted, corrected, rejected, left undecided."""
        totals = Counter(result.decision for _, result in self.outcomes)
        return {decision: totals[decision] for decision in DECISIONS}

    @property
    def decided(self) -> int:
        """Number of drafts that are, or would be, decided."""
        return sum(n for decision, n in self.counts.items() if decision != "undecided")

    @property
    def undecided(self) -> list[tuple[Persona, str]]:
        """The undecided personas, each with the reason."""
        return [
            (persona, result.reason) for persona, result in self.outcomes if result.decision == "undecided"
        ]


def preview_reviews(persona_set: PersonaSet) -> Applied:
    """Return the outcomes that applying the reviews would have now; changes nothing."""
    answers = answers_by(
        "continuation__dialogue__key", PERSONA_REVIEW.key, item__corpus=persona_set.corpus_id
    )
    drafts = list(persona_set.personas.filter(status=Status.DRAFT).select_related("first", "second"))
    outcomes: list[tuple[Persona, Outcome]] = []
    negative: dict[int, PersonaHead] = {}
    for persona in drafts:
        if persona.key not in answers:
            continue
        reviews = answers[persona.key]
        contested = reviews.contested
        result = Outcome("undecided", reason=contested) if contested else outcome(reviews.reviews())
        outcomes.append((persona, result))
        heads = (persona.first, persona.second)
        for head in (heads[place] for place in result.negative_heads):
            if head is not None and not head.negative:
                negative[head.pk] = head
    return Applied(tuple(outcomes), tuple(negative.values()), len(drafts) - len(outcomes))


@transaction.atomic
def apply_reviews(*, by: User | None, persona_set: PersonaSet) -> Applied:
    """Apply the reviews of a set's drafts; return the outcomes.

    Corrected text replaces the drawn one, negative personas are rejected and their heads marked, so that
    later draws skip them. Undecided personas stay drafts, so a second call changes only those decided since.
    """
    persona_set = PersonaSet.objects.select_for_update(no_key=True).get(pk=persona_set.pk)
    applied = preview_reviews(persona_set)
    for persona, result in applied.outcomes:
        if result.decision == "undecided":
            continue
        persona.status, persona.reason = result.decision, result.reason
        if result.decision == "corrected":
            _set_sentences(persona, result.sentences)
        persona.save()
    mark_negative(by=by, heads=applied.negative_heads)
    if applied.decided:
        heads = [head.number for head in applied.negative_heads]
        _log(by, "apply reviews", persona_set, **applied.counts, negative_heads=heads)
    return applied


@transaction.atomic
def decide(
    *, by: User | None, persona: Persona, status: str, sentences: Sequence[str] | None = None
) -> Persona:
    """Decide on a persona without, or after, its review: accepted, corrected (with sentences) or rejected.

    Raises PersonasRefused for another status, and for sentences that are missing or too long.
    """
    persona = Persona.objects.select_for_update(of=("self",)).select_related("set").get(pk=persona.pk)
    if status not in (Status.ACCEPTED, Status.CORRECTED, Status.REJECTED):
        raise PersonasRefused("A persona is accepted, corrected or rejected.", field="status")
    if status == Status.CORRECTED:
        _set_sentences(persona, sentences or ())
    elif status == Status.ACCEPTED:
        _set_sentences(persona, persona.original)
    before, persona.status = persona.status, status
    persona.reason = "decided by a researcher"
    persona.save()
    _log(by, "decide", persona.set, persona=persona.number, before=before, status=status)
    return persona


def _set_sentences(persona: Persona, sentences: Sequence[str]) -> None:
    """Set the current sentences of a persona, and the age that they state."""
    lines = [line for line in map(one_line, sentences) if line]
    if not 1 <= len(lines) <= MOST_SENTENCES:
        raise PersonasRefused(f"Write 1 to {MOST_SENTENCES} sentences.", field="sentences")
    if any(len(line) > LONGEST_SENTENCE for line in lines):
        raise PersonasRefused(f"A sentence has at most {LONGEST_SENTENCE} characters.", field="sentences")
    persona.sentences = lines
    age = stated_age(lines)
    if age is not None and age <= OLDEST:
        persona.age = age


def current_flags(persona: Persona) -> tuple[Flag, ...]:
    """Return the possible contradictions of a persona's current sentences."""
    return contradictions(persona.sentences, persona.age)


# Dialogues without turns, between the personas that were accepted.


@dataclass(frozen=True, slots=True)
class MadeDialogues:
    """A corpus of dialogues without turns, and the personas in fewer of them than the others."""

    corpus: Corpus
    dialogues: int
    rest: tuple[int, ...]


@transaction.atomic
def make_dialogues(
    *,
    by: User | None,
    persona_set: PersonaSet,
    name: str,
    participants: int = 2,
    uses: int = 1,
    seed: int = 0,
) -> MadeDialogues:
    """Create a corpus of dialogues without turns between a set's accepted and corrected personas.

    Each persona is in at most `uses` dialogues of `participants`, with somebody else in each as long as
    there is somebody; nobody is with themselves. Participants carry the sentences as their profile. Raises
    PersonasRefused.
    """
    name = check_name(name)
    _check_bounds((PARTICIPANTS, participants), (USES, uses), (SEED, seed))
    check_free(name)
    persona_set = PersonaSet.objects.select_for_update(no_key=True).get(pk=persona_set.pk)
    usable = {row.number: row for row in persona_set.personas.filter(status__in=USABLE)}
    if len(usable) < participants:
        raise PersonasRefused(
            f"{len(usable)} personas are accepted, and {participants} take part in a dialogue: review and "
            "accept more."
        )
    groups = group(sorted(usable), participants, uses, seed)
    lines = [
        _dialogue_line(number, [usable[member] for member in members])
        for number, members in enumerate(groups.groups, start=1)
    ]
    corpus = import_lines(
        by=by, name=name, lines=lines, source=f"Personas of {persona_set.name}, grouped with seed {seed}"
    )
    persona_set.dialogues.add(corpus)
    detail = {"participants": participants, "uses": uses, "seed": seed, "dialogues": len(lines)}
    _log(by, "make dialogues", persona_set, corpus=corpus.name, **detail)
    return MadeDialogues(corpus, len(lines), groups.rest)


def _dialogue_line(number: int, personas: Sequence[Persona]) -> dict[str, Any]:
    """Return a dialogue without turns in the native format."""
    return {
        "id": f"dialogue-{number}",
        "language": "en",
        "participants": [
            {"id": f"person {place}", "name": persona.name, "profile": persona.sentences}
            for place, persona in enumerate(personas, start=1)
        ],
        "metadata": {"personas": [persona.number for persona in personas]},
        "turns": [],
    }


def _log(by: User | None, verb: str, persona_set: PersonaSet, **detail: object) -> None:
    Event.objects.create(by=by, verb=f"personas: {verb}", subject=persona_set.name, detail=detail)

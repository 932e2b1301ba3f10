"""The annotator's view of a task: the context they may see, the rated item, and nothing else.

The system's name, its continuation's id and its condition never enter a screen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation import hooks, records
from annotation.campaigns import sampling, tasks
from annotation.campaigns.choice import by_speakers
from annotation.corpora.rows import agenda_record, participant_record, turn_record
from annotation.kinds import DECISION, KINDS
from annotation.models import Campaign, Continuation, Corpus, Item
from annotation.scenario_records import KIND as SCENARIO
from annotation.scheme_store import questionnaire_from, questionnaire_of
from annotation.schemes.definitions import SchemeDefinition
from annotation.script_records import KIND as LONGFORM
from annotation.script_records import date_record
from annotation.text import views
from annotation.text.context import Context, NamedText, Names, Person, context, happening, heading
from annotation.text.display import language_tag
from annotation.text.views import DEFAULT, Blind, View, giveaways_of
from annotation.work.checking import item_number
from annotation.work.transcripts import (
    COMPARED,
    HEAD,
    HEAD_OF_PLACE,
    NO_LAST,
    OF_ANSWER,
    OF_SESSIONS,
    TURN,
    TURNS,
    Card,
    Head,
    Line,
    Member,
    Offered,
    Part,
    Place,
    Row,
    Side,
    Writer,
    lay_out,
    one_turn,
    whole_continuation,
)
from config import commands
from jobs.tables import Table

NameChoice = tuple[str, str]
"""Id and displayed name of a participant."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The content of one task's screen. `language` is a value for `lang`, '' where it is not known.

    `sides` are the compared members, in the order drawn for the rater; () without a comparison. `whole` is
    the last of `items` where all of the continuation is rated after its turns. `turns` are the ids of the
    turns, line by line: they never leave the server. `named` are the people, or sessions, that an answer may
    name, by id; `offered` are the lists from which answers in words may be chosen. `start_texts` are, by
    question, the texts with which answers in words begin. `card` describes a fact, a question or an answer.
    """

    task: int
    items: tuple[int, ...]
    parts: tuple[Part, ...]
    about: Context
    language: str = ""
    sides: tuple[Side, ...] = ()
    turns: tuple[int, ...] = ()
    whole: int | None = None
    named: tuple[NameChoice, ...] = ()
    card: Card | None = None
    offered: tuple[Offered, ...] = ()
    start_texts: Mapping[str, str] = field(default_factory=dict)

    def with_whole(self, item: int) -> Screen:
        """Return the screen with the whole as an additional last item, after its turns."""
        return replace(self, items=(*self.items, item), whole=item)

    @property
    def people(self) -> tuple[Person, ...]:
        """Speakers."""
        return self.about.people

    @property
    def metadata(self) -> tuple[NamedText, ...]:
        """Other metadata of the dialogue."""
        return self.about.metadata

    @property
    def summary(self) -> str:
        """Summary of the dialogue."""
        return self.about.summary

    @property
    def agenda(self) -> tuple[str, ...]:
        """Points of the agenda."""
        return self.about.agenda

    @property
    def lines(self) -> list[Line]:
        """All lines, those of the sides last."""
        parts = [*self.parts, *(part for side in self.sides for part in side.parts)]
        return [line for part in parts for line in part.lines]

    @property
    def has_marks(self) -> bool:
        """Whether any text carries transcription marks, so that a toggle makes sense."""
        return any(is_mark for line in self.lines for _, is_mark in line.pieces)


@dataclass(frozen=True, slots=True)
class Layout:
    """Screen layout of tasks on dialogues of one kind.

    `compose` returns the whole screen. `sessions` returns the ids of the sessions that it shows, where only
    those are read from the dialogue, and `parts` their lines alone. `sample` returns a head and rows for
    trying out schemes about items of a kind, None for other kinds of items.
    """

    compose: Callable[[int, Head, Sequence[Row], Scene], Screen]
    sessions: Callable[[Head, Sequence[Row]], list[str]] | None = None
    parts: Callable[[Head, Sequence[Row], Names, View, Writer], list[Part]] | None = None
    sample: Callable[[Head, str], tuple[Head, list[Row]] | None] | None = None


LAYOUTS: Table[Layout] = Table("layouts")
"""By kind of dialogue, `scenario` or `longform`; suites add their own."""


def _layout(head: Head) -> Layout | None:
    kind = SCENARIO if head.scenario is not None else LONGFORM if head.script is not None else ""
    return LAYOUTS.get(kind)


OF_THE_WHOLE = "SELECT i.public FROM annotation_item i WHERE i.continuation_id = %s AND i.kind = 'dialogue'"


def load(task: int, tagged: bool = True, assignment: int | None = None, asks: Sequence[str] = ()) -> Screen:
    """Load a task's screen, in two queries; `tagged` means that the turns of a continuation get tags.

    `asks` are the kinds of items that the questions are about: with turns and the whole, the whole comes
    after the turns (one more query). The sides of a comparison are in the order drawn for the assignment;
    where the questions are about turns, each side is an item of its own. Items have their numbers in the
    assignment. Raises LookupError for a task that does not exist.
    """
    return _read(task, HEAD, (task,), tagged, asks, assignment)


def load_place(
    continuation: int,
    item: int | None,
    shows: Sequence[str],
    tagged: bool = True,
    asks: Sequence[str] = (),
    speakers: Sequence[str] = (),
    items: Sequence[int] | None = None,
) -> Screen:
    """Load the screen of a potential task about a continuation, or one item of it; nothing is created.

    With `items`, only these items of the continuation are asked about.
    Raises LookupError for a continuation that does not exist.
    """
    asked_items = None if items is None else list(items)
    place = (continuation, item, json.dumps(list(shows)), list(speakers), asked_items)
    return _read(0, HEAD_OF_PLACE, place, tagged, asks)


def _read(
    task: int,
    query: str,
    values: tuple[Any, ...],
    tagged: bool,
    asks: Sequence[str],
    assignment: int | None = None,
) -> Screen:
    head, rows, members = _seen(query, values, assignment, TURN in asks)
    if members:
        return compare(task, head, rows, members)
    screen = compose(task, head, rows, tagged)
    if len(asks) < 2:
        return screen
    with commands.cursor() as cursor:
        cursor.execute(OF_THE_WHOLE, (head.continuation,))
        return screen.with_whole(_number(cursor.fetchone()[0], assignment))


def _seen(
    query: str, values: tuple[Any, ...], assignment: int | None = None, each: bool = False
) -> tuple[Head, list[Row], list[Member]]:
    """Return a task's head, its turns (of a comparison those before it), and the members it compares."""
    with commands.cursor() as cursor:
        cursor.execute(query, values)
        row = cursor.fetchone()
        if row is None:
            raise LookupError(values[0])
        head = Head(*row)
        head = head._replace(item=_number(head.item, assignment))
        if head.compared is not None:
            parameters = {"dialogue": head.dialogue, "item": head.compared, "assignment": assignment}
            cursor.execute(COMPARED, parameters | {"last": NO_LAST, "each": each})
            return head, *_members(cursor.fetchall(), assignment)
        layout = _layout(head)
        if layout is not None and layout.sessions is not None:
            return head, _of_sessions(cursor, head, layout.sessions, assignment), []
        last = NO_LAST if head.turn is None else head.turn
        place = {"continuation": head.continuation, "dialogue": head.dialogue, "last": last}
        speakers = list(head.speakers) if head.item is None else []
        items = None if head.items is None or head.item is not None else list(head.items)
        about = {"speakers": speakers, "items": items}
        cursor.execute(TURNS, place | about | {"static": head.mode == "static"})
        return head, [_row(*row, assignment=assignment) for row in cursor.fetchall()], []


def _of_sessions(
    cursor: Any, head: Head, sessions: Callable[[Head, Sequence[Row]], list[str]], assignment: int | None
) -> list[Row]:
    """Return the turns of the few sessions that a screen shows, of a dialogue with thousands of turns."""
    answer_rows: list[Row] = []
    if head.record is None:
        cursor.execute(OF_ANSWER, {"continuation": head.continuation, "last": head.turn})
        answer_rows = [_row(*row, assignment=assignment) for row in cursor.fetchall()]
    session_ids = sessions(head, answer_rows)
    cursor.execute(OF_SESSIONS, {"dialogue": head.dialogue, "sessions": session_ids})
    return [*(_row(*row) for row in cursor.fetchall()), *answer_rows]


def turns_of(task: int) -> tuple[list[Row], Blind, int]:
    """Return a task's stored turns, line by line, its name blinding, and the id of its continuation.

    For evidence, never for a rater.
    """
    head, rows, _ = _seen(HEAD, (task,))
    visible_rows: list[Row] = []

    def write(number: int, turn: Row, place: Place) -> Line:
        visible_rows.append(turn)
        return Line(number, "", 0, "", place, None)

    _laid(head, rows, write)
    return visible_rows, _view(head).hide, head.continuation


def _members(rows: Sequence[tuple[Any, ...]], assignment: int | None) -> tuple[list[Row], list[Member]]:
    """Split rows into the dialogue's own turns, and the members with theirs."""
    own = [_row(True, *row[4:9], None, *row[9:]) for row in rows if row[0] is None]
    members: dict[int, Member] = {}
    for place, mode, is_turn, item, *columns, extra, turn in (row for row in rows if row[0] is not None):
        before = members.get(place, Member(mode, is_turn, (), _number(item, assignment)))
        members[place] = before._replace(turns=(*before.turns, _row(False, *columns, None, extra, turn)))
    return own, [members[place] for place in sorted(members)]


def _number(public: int | None, assignment: int | None) -> Any:
    """Return an item's number in an assignment; its own where the screen belongs to no task."""
    return public if public is None or assignment is None else item_number(public, assignment)


def _row(*columns: Any, assignment: int | None = None) -> Row:
    row = Row(*columns)
    if row.item is not None:
        row = row._replace(item=_number(row.item, assignment))
    return row._replace(extra=json.loads(row.extra)) if isinstance(row.extra, str) else row


class _Writer:
    """Writes transcript lines in order, with a heading wherever the session or date changes."""

    def __init__(self, names: Names, view: View, dates: Mapping[str, str], has_marks: bool) -> None:
        self._names = names
        self._has_marks = has_marks
        self._dates = dates
        self._view = view
        self._last: records.Turn | None = None
        self.turns: list[int] = []

    def __call__(self, number: int, row: Row, place: Place) -> Line:
        turn = turn_record(row.speaker, row.text, row.given, row.at, row.extra)
        happened = happening(turn, self._names, self._view.spoken(turn.text))
        above = heading(turn, self._last, self._view.line, self._dates)
        self._last = turn
        self.turns.append(row.turn)
        return Line(
            no=number,
            who=happened.who,
            colour=self._names.colour(row.speaker),
            text=happened.text,
            place=place,
            item=row.item if place == "item" else None,
            pieces=tuple(views.parts(happened.text)) if self._has_marks and "{" in happened.text else (),
            how=happened.how,
            private=happened.private,
            heading=above,
            line=len(self.turns),
        )


def compose(task: int, head: Head, rows: Sequence[Row], tagged: bool = True) -> Screen:
    """Compose the screen of a task, from its head and the turns that its rater may see."""
    scene = Scene(head, rows)
    layout = _layout(head)
    if layout is not None:
        return layout.compose(task, head, rows, scene)
    parts = _laid(head, rows, scene.write, tagged)
    items = (head.item,) if head.item else tuple(row.item for row in rows if row.item and not row.own)
    return scene.screen(task, items, [part for part in parts if part.lines])


def compare(task: int, head: Head, own: Sequence[Row], members: Sequence[Member]) -> Screen:
    """Compose the screen of a comparison: the shared context, and each member on a side of its own."""
    scene = Scene(head, (*own, *(row for member in members for row in member.turns)))
    parts, sides = lay_out(own, members, scene.write)
    assert head.item is not None
    each = tuple(member.item for member in members if member.item is not None)
    return scene.screen(task, each or (head.item,), parts, sides)


def with_notes(screen: Screen, scheme: str) -> Screen:
    """Return a screen with what its scheme adds: named texts beside the task, and texts to begin with."""
    if (start_texts := hooks.START_TEXTS.get(scheme)) is not None:
        screen = replace(screen, start_texts=start_texts(screen))
    notes_of = hooks.SCREEN_NOTES.get(scheme)
    if notes_of is None:
        return screen
    return replace(screen, about=screen.about._replace(metadata=(*notes_of(screen), *screen.about.metadata)))


class Scene:
    """Speakers of a task, and what may be shown of them."""

    def __init__(self, head: Head, rows: Sequence[Row]) -> None:
        self.view = _view(head)
        self.dialogue = records.Dialogue(
            id="",
            participants=tuple(map(participant_record, json.loads(head.participants))),
            summary=head.summary,
            metadata=json.loads(head.metadata),
            agenda=agenda_record(json.loads(head.agenda or "null")),
        )
        self.names = Names(self.dialogue.participants, self.view.hide)
        self.names.meet(row.speaker for row in sorted(rows, key=lambda row: not row.own))
        self.write = _Writer(self.names, self.view, _dates(head), head.has_marks)
        self.language = "" if self.view.hide.names(head.language) else language_tag(head.language)

    def screen(
        self, task: int, items: tuple[int, ...], parts: Sequence[Part], sides: Sequence[Side] = ()
    ) -> Screen:
        about = context(self.dialogue, self.names, self.view)
        turns = tuple(self.write.turns)
        return Screen(task, items, tuple(parts), about, self.language, tuple(sides), turns)


def _dates(head: Head) -> dict[str, str]:
    """Return the dates of a script's sessions by session id."""
    return {session["id"]: str(date_record(session["date"])) for session in json.loads(head.sessions or "[]")}


def _view(head: Head) -> View:
    giveaways = giveaways_of(json.loads(head.conditions))
    return View(tuple(head.systems), tuple(json.loads(head.shows)), giveaways=giveaways)


def _laid(head: Head, rows: Sequence[Row], write: Writer, tagged: bool = True) -> list[Part]:
    """Lay out the turns of a task in screen order."""
    layout = _layout(head)
    if layout is not None and layout.parts is not None:
        view = _view(head)
        return layout.parts(head, rows, Names((), view.hide), view, write)
    own = [row for row in rows if row.own]
    turns = [row for row in rows if not row.own]
    if head.turn is not None:
        return one_turn(own, turns, head.mode, write)
    return whole_continuation(own, turns, head.mode, "rated" if head.whole else "item", write, tagged)


# Previews of annotators' screens: a campaign's first tasks, and a scheme's questions beside an example.
#
# Read-only: no task, assignment, draft or label is created.

# Short sample dialogue for previews: two people plan a trip, and a system continues for one of them.

PEOPLE = [
    {"id": "ana", "name": "Ana", "role": "traveller", "profile": ["I am afraid of flying."]},
    {"id": "ben", "name": "Ben", "role": "travel agent", "profile": ["I like to find the cheapest way."]},
]
BEFORE = (
    ("ana", "Hello! I need to be in Vienna on Friday, and I would rather not fly."),
    ("ben", "Then a night train may be the thing. Where do you start?"),
    ("ana", "From Hamburg. I could leave on Thursday after work."),
)
AFTER = (
    ("ben", "There is a sleeper at 20:10 that arrives at 8:40. A seat is 49 euros, a bed 99."),
    ("ana", "A bed, please. Is breakfast included?"),
    ("ben", "It is. And as you like flying, there is also a plane at 7:15 for 39 euros."),
)

OTHERWISE = (
    AFTER[0][1],
    "You could fly at 7:15 for 39 euros.",
    "There are night trains on most days. I would look at one of them.",
)
"""Alternative continuations by the system, for schemes that compare."""


def _sample_response(text: str) -> Member:
    return Member("rollout", True, (Row(False, 0, "ben", text, False, None, None),))


def preview_screen(definition: SchemeDefinition, tagged: bool = True) -> Screen:
    """Return the sample's screen for a scheme; items are numbered from 1."""
    kind = KINDS[definition.item_kind]
    all_turns = definition.unit == "continuation"
    head = Head(
        item=None if all_turns else len(AFTER),
        turn=None if all_turns or not kind.has_turn else len(AFTER) - 1,
        continuation=0,
        mode="rollout",
        dialogue=0,
        participants=json.dumps(PEOPLE),
        metadata=json.dumps({"goal": "find a way to Vienna"}),
        summary="",
        agenda=None,
        language="en",
        shows=json.dumps(DEFAULT),
        systems=[],
        conditions="[]",
        whole=kind.shows == "whole",
    )
    for layout in LAYOUTS.values():
        if layout.sample is not None and (sample := layout.sample(head, kind.key)) is not None:
            return compose(0, *sample)
    own = [Row(True, number, *turn, False, None, None) for number, turn in enumerate(BEFORE)]
    if kind.members:
        return compare(0, head, own, [_sample_response(text) for text in OTHERWISE[: kind.members[0]]])
    turns = [Row(False, number, *turn, False, None, number + 1) for number, turn in enumerate(AFTER)]
    screen = compose(0, head, [*own, *turns], tagged)
    if kind.key == DECISION.key:
        return replace(screen, named=tuple((str(person["id"]), str(person["name"])) for person in PEOPLE))
    return screen.with_whole(len(AFTER) + 1) if definition.is_mixed else screen


FIRST = 20
"""Number of a campaign's tasks that can be previewed."""


def preview_places(campaign: Campaign) -> list[tuple[int, int | None]]:
    """Return the places of a campaign's first tasks, in the order in which they are given out."""
    return tasks.first(campaign, FIRST)


def campaign_preview(campaign: Campaign, place: tuple[int, int | None]) -> Screen:
    """Return the screen of one of a campaign's places, with its display settings."""
    plan = questionnaire_of(campaign.scheme_version_id)
    items = sampling.items(campaign) if campaign.review is not None else None
    screen = load_place(*place, campaign.shows, plan.is_tagged, plan.item_kinds, campaign.speakers, items)
    return with_notes(screen, plan.key)


def scheme_preview(
    definition: SchemeDefinition, corpus: Corpus | None, speakers: Sequence[str] = ()
) -> Screen:
    """Return a screen for a scheme's questions: from a corpus, else from a built-in sample.

    A corpus without matching items gives the sample, too.
    """
    plan = questionnaire_from(definition)
    example = _example(definition, corpus, speakers) if corpus is not None else None
    if example is None:
        return preview_screen(definition, plan.is_tagged)
    screen = load_place(*example, DEFAULT, plan.is_tagged, plan.item_kinds, speakers)
    return with_notes(screen, plan.key)


def _example(
    definition: SchemeDefinition, corpus: Corpus, speakers: Sequence[str]
) -> tuple[int, int | None] | None:
    """Return a corpus's first place for a scheme: the last turn of its continuation, for questions on turns.

    System continuations come before dialogues that are rated as they are.
    """
    refused = [mode for mode in Continuation.Mode.values if definition.refusal(mode)]
    items = Item.objects.filter(
        by_speakers(speakers), corpus=corpus, training=False, kind=definition.item_kind
    )
    items = items.exclude(continuation__mode__in=refused)
    first = items.exclude(continuation__key="self").order_by("pk").first() or items.order_by("pk").first()
    if first is None:
        return None
    if definition.unit == "continuation":
        return first.continuation_id, None
    if KINDS[definition.item_kind].has_turn:
        last = items.filter(continuation=first.continuation_id).order_by("-turn__position").first()
        first = last or first
    return first.continuation_id, first.pk

"""Transcript layout for a rater: the context, and the rated turns.

Works on stored turns without a database. The context of a turn is defined by
`annotation.records.Dialogue.context`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from annotation.kinds import ANSWER, DECISION, FACT, KINDS
from annotation.schemes.definitions import LETTERS

# Queries for a screen: the task's head and its turns, prepared for every connection.


class Head(NamedTuple):
    """A task's continuation and dialogue; participants, metadata, agenda and display settings as JSON texts.

    `systems` are all of the corpus, `conditions` (JSON) those of the dialogue's continuations, `compared` is
    the item's id where it compares several. `scenario` (JSON) is the scenario of a decision, and `key` its
    continuation's key. `script` (JSON) has the sessions of a script that the item is about, and `record`
    (JSON) is the fact or question; for a fact, `relations` (JSON) are those of the corpus's own table. `kind`
    is the item's. `sessions` (JSON) are those of a script, whatever the item. `speakers` are the campaign's,
    `has_marks` is the corpus's.
    """

    item: int | None
    turn: int | None
    continuation: int
    mode: str
    dialogue: int
    participants: str
    metadata: str
    summary: str
    agenda: str | None
    language: str
    shows: str
    systems: list[str]
    conditions: str
    whole: bool
    compared: int | None = None
    scenario: str | None = None
    key: str = ""
    kind: str | None = None
    script: str | None = None
    record: str | None = None
    relations: str | None = None
    sessions: str | None = None
    speakers: Sequence[str] = ()
    has_marks: bool = False
    items: Sequence[int] | None = None


WHOLE_KINDS = ", ".join(f"'{key}'" for key, kind in KINDS.items() if kind.shows == "whole")

# Members who played the people of a dialogue learn no more of each other than was said.
PEOPLE = """CASE WHEN k.named THEN d.participants ELSE (
         SELECT jsonb_agg(jsonb_build_object('id', p.value -> 'id', 'name', 'Person ' || p.ordinality)
                          ORDER BY p.ordinality)
           FROM jsonb_array_elements(d.participants) WITH ORDINALITY AS p) END"""
HEAD_OF = f"""
SELECT i.public, u.position, c.id, c.mode, d.id, {PEOPLE}, d.metadata, d.summary, d.agenda, d.language,
       k.shows, ARRAY(SELECT s.name FROM annotation_system s WHERE s.corpus_id = d.corpus_id ORDER BY s.name),
       (SELECT coalesce(jsonb_agg(DISTINCT o.condition), '[]')
          FROM annotation_continuation o WHERE o.dialogue_id = d.id),
       coalesce(i.kind IN ({WHOLE_KINDS}), false), CASE WHEN i.compared IS NOT NULL THEN i.id END,
       CASE WHEN i.kind = '{DECISION.key}' THEN d.scenario END, c.key, i.kind,
       CASE WHEN i.record_id IS NOT NULL OR i.kind = '{ANSWER.key}' THEN d.script END,
       (SELECT w.content FROM annotation_record w WHERE w.id = i.record_id),
       CASE WHEN i.kind = '{FACT.key}' THEN (SELECT jsonb_path_query_array(r.rows, '$[*].key')
         FROM annotation_relationrows r WHERE r.corpus_id = d.corpus_id ORDER BY r.version DESC LIMIT 1) END,
       d.script -> 'sessions', k.speakers,
       (SELECT m.has_marks FROM annotation_corpus m WHERE m.id = d.corpus_id), k.items
  FROM <source>
  JOIN annotation_continuation c ON c.id = t.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
  LEFT JOIN annotation_item i ON i.id = t.item_id
  LEFT JOIN annotation_turn u ON u.id = i.turn_id
"""  # noqa: S608  (keys of ours)

# A whole continuation's task in a campaign with a review queue asks only about the drawn items.
TASK = """annotation_task t JOIN LATERAL (SELECT g.shows, g.speakers, g.form <> 'chat' AS named,
    CASE WHEN g.review IS NOT NULL AND t.item_id IS NULL AND t.position >= 0 THEN ARRAY(
      SELECT y.item_id FROM annotation_sampleditem y JOIN annotation_item o ON o.id = y.item_id
       WHERE y.campaign_id = g.id AND o.continuation_id = t.continuation_id) END AS items
      FROM annotation_campaign g WHERE g.id = t.campaign_id) k ON true"""
HEAD = HEAD_OF.replace("<source>", TASK) + " WHERE t.id = %s"

PLACE = """(SELECT %s::bigint AS continuation_id, %s::bigint AS item_id) t
 CROSS JOIN (SELECT %s::jsonb AS shows, %s::text[] AS speakers, %s::bigint[] AS items,
                    true AS named) k"""
HEAD_OF_PLACE = HEAD_OF.replace("<source>", PLACE)

# Turns by others than the campaign's speakers, and turns that were not drawn, are context; responses to fixed
# points that are context are left out.
TURNS = """
SELECT u.continuation_id <> %(continuation)s, u.position, u.speaker, u.text, u.given OR NOT o.asked, u.at,
       CASE WHEN o.asked THEN i.public END, u.extra, u.id
  FROM annotation_turn u LEFT JOIN annotation_item i ON i.turn_id = u.id
 CROSS JOIN LATERAL (SELECT i.id IS NULL OR u.continuation_id <> %(continuation)s OR concord_is_asked(
   %(speakers)s::text[], (SELECT d.participants FROM annotation_dialogue d WHERE d.id = %(dialogue)s),
   u.speaker) AND (%(items)s::bigint[] IS NULL OR i.id = ANY(%(items)s::bigint[])) AS asked) o
 WHERE (u.continuation_id = %(continuation)s AND u.position <= %(last)s AND (o.asked OR NOT %(static)s))
    OR u.continuation_id = (SELECT o.id FROM annotation_continuation o WHERE o.dialogue_id = %(dialogue)s
                             AND o.key = 'self' AND o.id <> %(continuation)s)
 ORDER BY u.position
"""

# Of a script: the dialogue's own turns of some sessions; of an answer, also its turn with the question.
OF_SESSIONS = """
SELECT true, u.position, u.speaker, u.text, u.given, u.at, NULL::bigint, u.extra, u.id
  FROM annotation_turn u JOIN annotation_continuation o ON o.id = u.continuation_id
 WHERE o.dialogue_id = %(dialogue)s AND o.key = 'self' AND u.extra ? 'session'
   AND (u.extra ->> 'session') = ANY(%(sessions)s::text[])
 ORDER BY u.position
"""
OF_ANSWER = """
SELECT false, u.position, u.speaker, u.text, u.given, u.at, i.public, u.extra, u.id
  FROM annotation_turn u LEFT JOIN annotation_item i ON i.turn_id = u.id
 WHERE u.continuation_id = %(continuation)s AND u.position IN (%(last)s::int - 1, %(last)s::int)
 ORDER BY u.position
"""

NO_LAST = 2**31 - 1
TURN = "turn"

# The dialogue's own turns (no member), then those of the members in the drawn order, else in their own.
COMPARED = """
SELECT NULL AS place, NULL, NULL, NULL, u.position, u.speaker, u.text, u.given, u.at, u.extra, u.id
  FROM annotation_turn u JOIN annotation_continuation o ON o.id = u.continuation_id
 WHERE o.dialogue_id = %(dialogue)s AND o.key = 'self'
UNION ALL
SELECT coalesce(array_position((SELECT a.shown FROM annotation_assignment a WHERE a.id = %(assignment)s),
                               m.number), m.number + 1),
       c.mode, m.turn_id IS NOT NULL, i.public, u.position, u.speaker, u.text, u.given, u.at, u.extra, u.id
  FROM annotation_itemmember m
  JOIN annotation_continuation c ON c.id = m.continuation_id
  LEFT JOIN annotation_turn last ON last.id = m.turn_id
  LEFT JOIN annotation_item i ON i.turn_id = m.turn_id AND %(each)s
  JOIN annotation_turn u ON u.continuation_id = c.id AND u.position <= coalesce(last.position, %(last)s)
 WHERE m.item_id = %(item)s
 ORDER BY place NULLS FIRST, position
"""


Place = Literal["history", "given", "item", "rated", "marked"]
GOES_ON = "the dialogue itself went on"


class Row(NamedTuple):
    """A turn as stored. `own` turns are the dialogue's, the others the continuation's; `turn` is its id."""

    own: bool
    position: int
    speaker: str
    text: str
    given: bool
    at: int | None
    item: int | None
    extra: Mapping[str, Any] | None = None
    turn: int = 0


class Line(NamedTuple):
    """One turn as shown. `item` is set where the turn itself is rated, not where a whole is.

    `pieces` are the text's parts with whether each is a transcription mark; empty where it has no marks.
    `line` counts the lines of the screen from 1: unlike `no` it is unique, and it does not reveal where a
    turn comes from. `how`, `private` and `heading` are worded by `annotation.text.context`; '' for a plain
    turn.
    """

    no: int
    who: str
    colour: int
    text: str
    place: Place
    item: int | None
    pieces: tuple[tuple[str, bool], ...] = ()
    how: str = ""
    private: str = ""
    heading: str = ""
    line: int = 0


class Part(NamedTuple):
    """A section of the transcript under one heading; an empty heading continues the section above.

    A `folded` part is shown on demand.
    """

    heading: str
    lines: tuple[Line, ...]
    folded: bool = False


class Choice(NamedTuple):
    """A choice of a question, with its letter, and whether it is the answer."""

    letter: str
    text: str
    is_answer: bool


class Card(NamedTuple):
    """Card above the turns. `rows` are names and texts, `wordings` texts by the person who asks."""

    title: str
    rows: tuple[tuple[str, str], ...]
    choices: tuple[Choice, ...] = ()
    wordings: tuple[tuple[str, str], ...] = ()

    @property
    def line(self) -> str:
        """The card on one line, for lists."""
        return " · ".join(text for _, text in self.rows if text)


Offered = tuple[str, tuple[str, ...]]
"""Name and entries of a list from which answers may be chosen."""
Writer = Callable[[int, Row, Place], Line]
"""Writes the line for a turn, given its displayed number and its place."""


def one_turn(own: Sequence[Row], turns: Sequence[Row], mode: str, write: Writer) -> list[Part]:
    """Lay out the last of `turns` as the item, after its context."""
    *before, item = turns
    if mode == "static":
        at = _at(item, own)
        prompt_rows = _given_before(turns, len(before))
        context = [*own[:at], *prompt_rows]
    else:
        context = [*own, *before]
    lines = tuple(write(number + 1, row, "history") for number, row in enumerate(context))
    return [Part("", lines), Part("to be rated", (write(len(context) + 1, item, "item"),))]


def whole_continuation(
    own: Sequence[Row], turns: Sequence[Row], mode: str, place: Place, write: Writer, tagged: bool = True
) -> list[Part]:
    """Lay out all of a continuation: each turn is an `item` (`tagged` or rated), or all are `rated`."""
    if mode == "static":
        return _exchanges(own, turns, place, write)
    history = tuple(write(number + 1, row, "history") for number, row in enumerate(own))
    rated = tuple(
        write(len(own) + number + 1, row, "given" if row.given else place) for number, row in enumerate(turns)
    )
    return [Part("", history), Part("to be tagged" if place == "item" and tagged else "to be rated", rated)]


def _exchanges(own: Sequence[Row], turns: Sequence[Row], place: Place, write: Writer) -> list[Part]:
    """Lay out one part per response: the history since the previous response, then the response.

    Read from the top without the responses, the parts are the history; a response to an earlier point of it
    starts again from its beginning.
    """
    responses = [index for index, row in enumerate(turns) if not row.given]
    parts, rows_shown = [], 0
    for count, index in enumerate(responses):
        at = _at(turns[index], own)
        first = rows_shown if at >= rows_shown else 0
        prompt_rows = _given_before(turns, index)
        lines = [
            *(write(number + 1, own[number], "history") for number in range(first, at)),
            *(write(at + number + 1, row, "given") for number, row in enumerate(prompt_rows)),
            write(at + len(prompt_rows) + 1, turns[index], place),
        ]
        heading = f"response {count + 1} of {len(responses)}"
        parts.append(Part(heading if count == 0 else f"{GOES_ON} · {heading}", tuple(lines)))
        rows_shown = at
    return parts


def _given_before(turns: Sequence[Row], index: int) -> Sequence[Row]:
    """Return the given turns right before a static turn that answer the same point."""
    first = index
    while first and turns[first - 1].given and turns[first - 1].at == turns[index].at:
        first -= 1
    return turns[first:index]


def _at(row: Row, own: Sequence[Row]) -> int:
    return len(own) if row.at is None else min(row.at, len(own))


# Layout of a comparison: the shared context once, then each member on a side of its own.
#
# The sides are in the order drawn for the rater and named by position, A first.


class Member(NamedTuple):
    """A compared member: its continuation's mode and its turns, up to the compared one.

    `item` is the number of that turn where each side is rated separately.
    """

    mode: str
    is_turn: bool
    turns: tuple[Row, ...]
    item: int | None = None


class Side(NamedTuple):
    """A side of the screen."""

    name: str
    parts: tuple[Part, ...]


def lay_out(own: Sequence[Row], members: Sequence[Member], write: Writer) -> tuple[list[Part], list[Side]]:
    """Return the context before all members, and a side for each member in order."""
    before = _before(own, members[0])
    context = tuple(write(number + 1, row, "history") for number, row in enumerate(before))
    called = "Response" if members[0].is_turn else "Conversation"
    sides = [
        Side(f"{called} {LETTERS[number]}", _side(own, len(before), member, write))
        for number, member in enumerate(members)
    ]
    each = all(member.item is not None for member in members)
    return [Part("", context), Part("each to be rated" if each else "to be compared", ())], sides


def _before(own: Sequence[Row], member: Member) -> Sequence[Row]:
    """Return the history that all members share; whole static continuations have it between their turns."""
    if member.mode != "static":
        return own
    at = member.turns[-1].at
    return own[:at] if member.is_turn else ()


def _side(own: Sequence[Row], shared: int, member: Member, write: Writer) -> tuple[Part, ...]:
    if member.mode == "static" and not member.is_turn:
        return tuple(whole_continuation(own, member.turns, "static", "rated", write))
    turns = member.turns
    if member.mode == "static":
        first = len(turns) - 1
        while first and turns[first - 1].given and turns[first - 1].at == turns[-1].at:
            first -= 1
        turns = turns[first:]
    last = len(turns) - 1
    lines: list[Line] = []
    for number, row in enumerate(turns):
        is_meant = number == last if member.is_turn else not row.given
        if number == last and member.item is not None:
            lines.append(write(shared + number + 1, row._replace(item=member.item), "item"))
        else:
            lines.append(write(shared + number + 1, row, "rated" if is_meant else "given"))
    return (Part("", tuple(lines)),)

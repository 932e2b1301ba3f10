"""Comparisons: a context, two or more responses to it, and their preference or ranking."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from annotation.formats.corpus_format import JUDGES, OF_TABLES, Format, Head, Rating, SourceRecord
from annotation.formats.fields import NAME_LIMIT, Fields, decode, kind_of, require
from annotation.formats.jsonl import MEMBERS, QUESTION_LIMIT, order
from annotation.formats.model_messages import content_text, log_records, top_names, unpacked_list
from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_file import as_text, text_of
from annotation.formats.table_reader import open_table, own_columns
from annotation.records import Continuation, Dialogue, LabelRecord, Participant, SaidKind, Turn
from annotation.schemes.definitions import BOTH_BAD, FIRST, SECOND, TIE, ranking_text
from annotation.text.table_cells import unsaid_judges

# Content of one line of a comparison file, whichever form it has.

USER, ASSISTANT = "user", "assistant"
QUESTIONS = {2: "preference"}
RANKED = "ranking"
WINNER_WORDS = {
    FIRST: ("first", "a", "model_a", "model_1", "response_a", "left"),
    SECOND: ("second", "b", "model_b", "model_2", "response_b", "right"),
    TIE: ("tie", "draw", "equal", "tie (inconsistent)"),
    BOTH_BAD: ("both_bad", "both bad", "bothbad", "tie (bothbad)", "neither"),
}
WINNERS = {word: value for value, words in WINNER_WORDS.items() for word in words}
"""Words in files for each answer about a pair."""
MESSAGE = frozenset({"role", "content", "speaker", "text", "name", "num_tokens", "user", "hash"})


@dataclass(frozen=True, slots=True)
class Response:
    """A compared response: its continuation, and the turn in question (None: all of it)."""

    continuation: Continuation
    turn: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One line. `label` has neither members nor continuation yet; None where nobody answered.

    `unsaid` is a rater who may be a person or a judge: the user has to be asked.
    """

    dialogue: str
    context: tuple[Turn, ...]
    responses: tuple[Response, ...]
    label: LabelRecord | None
    cluster: str = ""
    language: str = ""
    unsaid: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


def winner(value: Any, systems: Sequence[str], field: str = "winner") -> str:
    """Convert a file's word to the answer about a pair; a system's name means that it is better."""
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in WINNERS:
            return WINNERS[text.lower()]
        if list(systems).count(text) == 1:
            return (FIRST, SECOND)[list(systems).index(text)]
    elif value in (0, 1) and not isinstance(value, bool):
        return (FIRST, SECOND)[value]
    description = repr(value)[:40] if isinstance(value, str | int | float) else kind_of(value)
    raise ImportProblem(
        f"is {description}: write first, tie, second, both_bad or one of the systems", field=field
    )


def turns_of(fields: Fields, key: str) -> tuple[Turn, ...]:
    """Parse turns: one text by the user, or messages; plain texts alternate between the speakers."""
    value = fields.raw.get(key)
    if value is None:
        return ()
    if isinstance(value, str):
        return (Turn(USER, fields.text(key)),)
    return tuple(_message(part, path, number) for number, (path, part) in enumerate(fields.items(key)))


def _message(raw: Any, path: str, number: int) -> Turn:
    if isinstance(raw, str):
        return Turn((USER, ASSISTANT)[number % 2], Fields({"text": raw}, path, MESSAGE).text("text"))
    fields = Fields(raw, path, MESSAGE)
    speaker = fields.id("speaker", limit=NAME_LIMIT) if fields.has("speaker") else fields.id("role")
    if isinstance(fields.raw.get("content"), list):
        return Turn(speaker, content_text(fields.raw["content"]))
    return Turn(speaker, fields.text("text") if fields.has("text") else fields.text("content"))


def response(
    key: str, system: str, turns: tuple[Turn, ...], at: int, turn: int | None = None, alone: bool = True
) -> Response:
    """Build a response: one turn answers the context, more (or one beside more) continue the dialogue."""
    if len(turns) == 1 and alone:
        single = Turn(turns[0].speaker, turns[0].text, at=at)
        return Response(Continuation(key, system, (single,), mode="static"), 0)
    marked_turns = tuple(
        Turn(utterance.speaker, utterance.text, given=utterance.speaker == USER) for utterance in turns
    )
    return Response(Continuation(key, system, marked_turns), turn)


# Concord's own form of comparisons: {"id", "context", "responses", "winner" or "ranking", "rater"}, one a
# line.
#
# `context` is the preceding dialogue: a text, or turns of {"speaker", "text"}. Each response has its `system`
# and a `text`, or several `turns`. `winner` is first, tie, second, both_bad or the system that is better;
# `ranking` lists the systems (or the numbers of the responses, from 0) best first, with ties in a list of
# their own. A line without either only adds its responses.

LINE = frozenset(
    [
        *("id", "context", "responses", "winner", "ranking", "rater", "kind", "identified", "question"),
        *("scheme", "sample", "order", "explanation", "cluster", "language", "missing"),
    ]
)
RESPONSE = frozenset({"id", "system", "text", "turns"})


def comparison_of_object(raw: dict[str, Any]) -> Comparison:
    """Parse an object in Concord's own form."""
    fields = Fields(raw, "", LINE)
    context = turns_of(fields, "context")
    responses = tuple(_own_response(part, len(context)) for part in fields.objects("responses", RESPONSE))
    if not MEMBERS[0] <= len(responses) <= MEMBERS[1]:
        raise fields.problem(
            "responses", f"has {len(responses)}: from {MEMBERS[0]} to {MEMBERS[1]} are compared"
        )
    if len({response.turn is None for response in responses}) > 1:
        raise fields.problem("responses", "some are one text and some are several turns")
    return Comparison(
        dialogue=fields.id("id"),
        context=context,
        responses=responses,
        label=_own_label(fields, [response.continuation.system for response in responses]),
        cluster=fields.id("cluster", ""),
        language=fields.id("language", "", limit=40),
    )


def _own_response(fields: Fields, at: int) -> Response:
    system = fields.id("system", limit=NAME_LIMIT)
    if fields.has("text") == fields.has("turns"):
        raise fields.problem("text", "write either a text or turns")
    turns = (Turn(ASSISTANT, fields.text("text")),) if fields.has("text") else turns_of(fields, "turns")
    if not turns:
        raise fields.problem("turns", "has no turns")
    return response(fields.id("id", system), system, turns, at)


def _own_label(fields: Fields, systems: list[str]) -> LabelRecord | None:
    answer_fields = [name for name in ("winner", "ranking", "missing") if fields.has(name)]
    if not answer_fields:
        return None
    if len(answer_fields) > 1:
        raise fields.problem(
            answer_fields[1], f"and {answer_fields[0]} say two things: leave one of them out"
        )
    if (answer_fields == ["ranking"]) != (len(systems) > 2) and answer_fields != ["missing"]:
        raise fields.problem(answer_fields[0], "two responses have a winner, more than two a ranking")
    value = None
    if answer_fields == ["winner"]:
        value = winner(fields.raw["winner"], systems)
    elif answer_fields == ["ranking"]:
        value = _ranking(fields, systems)
    return LabelRecord(
        rater=fields.id("rater", limit=NAME_LIMIT),
        kind=fields.rater_kind(),
        continuation="",
        turn=None,
        question=fields.id("question", QUESTIONS.get(len(systems), RANKED), limit=QUESTION_LIMIT),
        value=value,
        missing=fields.text("missing", ""),
        sample=cast(int, fields.count("sample")),
        identified=fields.flag("identified", True),
        explanation=fields.text("explanation", ""),
        scheme=fields.text("scheme", ""),
        shown=order(fields, len(systems)),
    )


def _ranking(fields: Fields, systems: list[str]) -> str:
    """Convert a ranking, given as lists of systems or numbers, best first, to numbers."""
    groups: list[list[int]] = []
    for path, part in fields.items("ranking"):
        groups.append(
            [_number(element, systems, path) for element in (part if isinstance(part, list) else [part])]
        )
    if sorted(number for group in groups for number in group) != list(range(len(systems))):
        raise fields.problem("ranking", "must have each of the responses once")
    return ranking_text(groups)


def _number(value: Any, systems: list[str], path: str) -> int:
    if type(value) is int:
        return value
    if isinstance(value, str) and systems.count(value) == 1:
        return systems.index(value)
    description = repr(value)[:40] if isinstance(value, str) else kind_of(value)
    raise ImportProblem(
        f"{description} is neither the number of a response nor the system of one alone", field=path
    )


# Battles as Chatbot Arena publishes them, and the judgments of MT-Bench.
#
# {"question_id", "model_a", "model_b", "winner", "judge", "conversation_a", "conversation_b", "turn",
# "language"}. Both conversations begin with the same question. A judgment about a turn before the last one,
# as the first ones of MT-Bench, compares the replies of that turn; any other the whole conversations.
# `model_a` was shown first. A list as `judge` is a judge; whether another `judge` is a person or a language
# model is declared by `kind`, or with the import. A CSV has the same columns, or `prompt`, `response_a` and
# `response_b` in place of the conversations. Fields and columns of other names are ignored, and listed with
# the import.

UNNAMED = "unnamed"
NAMES = {
    "id": "question_id",
    "system_a": "model_a",
    "system_b": "model_b",
    "rater": "judge",
    "context": "prompt",
    "instruction": "prompt",
    "preference": "winner",
}
"""Alternative column names in a CSV, mapped to the names here."""
TEXTS = ("prompt", "response_a", "response_b")
ONE_HOT = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
FIELDS = frozenset(
    [
        *("question_id", "id", "model_a", "model_b", "conversation_a", "conversation_b", "winner", "judge"),
        *("turn", "kind", "question", "sample", "explanation", "cluster", "language"),
    ]
)
"""Fields that are read."""
COLUMNS = FIELDS | NAMES.keys() | ONE_HOT.keys() | set(TEXTS)
"""Columns of a CSV."""


def battle_of_object(raw: Mapping[str, Any]) -> Comparison:
    """Parse a battle or a judgment."""
    fields = Fields(dict(raw))
    sides = [turns_of(fields, f"conversation_{side}") for side in "ab"]
    context, *_ = before = [_until_reply(side) for side in sides]
    if before[0] != before[1]:
        raise fields.problem("conversation_b", "begins otherwise than conversation_a")
    systems = [fields.id(f"model_{side}", limit=NAME_LIMIT) for side in "ab"]
    turn = fields.count("turn", None)
    alone = all(len(side) == len(context) + 1 for side in sides)
    responses = tuple(
        _battle_response(fields, name, system, turns, (len(context), turn, alone))
        for name, system, turns in zip("ab", systems, sides, strict=True)
    )
    label = _battle_label(fields, systems)
    return Comparison(
        dialogue=_id(fields),
        context=context,
        responses=responses,
        label=label,
        cluster=fields.id("cluster", ""),
        language=fields.id("language", "", limit=40),
        unsaid=label.rater if label and not label.kind else "",
    )


def of_row(row: Mapping[str, str]) -> Comparison:
    """Parse a row of a CSV."""
    cells = {NAMES.get(name, name): value for name, value in row.items()}
    texts = {name: cells.pop(name, "") for name in TEXTS}
    raw: dict[str, Any] = {name: value for name, value in cells.items() if value.strip()}
    for name in ("turn", "sample"):
        if text := str(raw.get(name, "")).strip():
            raw[name] = int(text[:10]) if text.isascii() and text.isdigit() else text
    hot = [word for name, word in ONE_HOT.items() if str(raw.pop(name, "")).strip() == "1"]
    if hot:
        raw["winner"] = hot[0]
    prompt, *responses = _exchanges(texts)
    for side, replies in zip("ab", responses, strict=True):
        name = f"conversation_{side}"
        if name in raw:
            raw[name] = decode(raw[name].encode())
            continue
        raw[name] = [
            {"role": role, "content": text}
            for pair in zip(prompt, replies, strict=True)
            for role, text in zip((USER, ASSISTANT), pair, strict=True)
        ]
    return battle_of_object(raw)


def _exchanges(texts: Mapping[str, str]) -> list[list[str]]:
    """Split the prompt and both responses into a text per exchange.

    A cell is one text. Only where all three are JSON lists of equal length do they hold one text for each
    exchange, as in the files of lmsys.
    """
    lists = [_list(value) for value in texts.values()]
    if all(lists) and len({len(column) for column in lists}) == 1:
        return lists
    return [[value] for value in texts.values()]


def _list(value: str) -> list[str]:
    """Return the texts of a JSON list, null as an empty one; [] for anything else."""
    elements = unpacked_list(value.strip())
    is_list = isinstance(elements, list) and all(isinstance(part, str | None) for part in elements)
    return [element or "" for element in elements] if is_list else []


def _until_reply(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Return the turns before the first reply."""
    first = next((n for n, turn in enumerate(turns) if turn.speaker == ASSISTANT), len(turns))
    return turns[:first]


def _battle_response(
    fields: Fields, side: str, system: str, turns: tuple[Turn, ...], where: tuple[int, int | None, bool]
) -> Response:
    at, turn, alone = where
    rest = turns[at:]
    replies = [number for number, candidate in enumerate(rest) if candidate.speaker == ASSISTANT]
    if not replies:
        raise fields.problem(f"conversation_{side}", "has no reply")
    if turn is not None and turn > len(replies):
        raise fields.problem("turn", f"is {turn}, but conversation_{side} has {len(replies)} replies")
    rated_reply = replies[turn - 1] if turn and turn < len(replies) else None
    return response(system, system, rest, at, rated_reply, alone)


def _id(fields: Fields) -> str:
    value = fields.raw.get("question_id", fields.raw.get("id"))
    if type(value) is int:
        return str(value)
    return fields.id("question_id" if fields.has("question_id") else "id")


def _battle_label(fields: Fields, systems: list[str]) -> LabelRecord | None:
    if not fields.has("winner"):
        return None
    name, kind = _judge(fields)
    winner_text = str(fields.raw["winner"])
    return LabelRecord(
        rater=name,
        kind=kind,
        continuation="",
        turn=None,
        question=fields.id("question", QUESTIONS[2], limit=QUESTION_LIMIT),
        value=winner(fields.raw["winner"], systems),
        sample=cast(int, fields.count("sample")),
        explanation=fields.text("explanation", winner_text if "inconsistent" in winner_text else ""),
        shown=(0, 1),
    )


def _judge(fields: Fields) -> tuple[str, SaidKind]:
    """Return the judge and their kind; empty where it is not declared."""
    value = fields.raw.get("judge")
    if isinstance(value, list):
        return " ".join(fields.texts("judge"))[:NAME_LIMIT] or UNNAMED, "judge"
    return fields.id("judge", UNNAMED, limit=NAME_LIMIT), fields.rater_kind()


# Comparisons: a context, two or more responses to it, and their preference or ranking.
#
# Concord's own form, one comparison a line: {"id", "context", "responses": [{"system", "text"}], "winner",
# "rater"}; battles as Chatbot Arena publishes them, and the judgments of MT-Bench: {"question_id",
# "model_a", "model_b", "winner", "judge", "conversation_a", "conversation_b", "turn"}; and a CSV with the
# columns of either. Comparisons with the same id are about one dialogue, each of whose responses is stored
# once, so a file is read completely before any record is built.

SIDES = ({"conversation_a", "conversation_b"}, {"response_a", "response_b"})


@dataclass(slots=True)
class _Gathered:
    """A dialogue as given by the comparisons so far, with the line of its first one."""

    line: int | None
    comparison: Comparison
    continuations: dict[str, Continuation] = field(default_factory=dict)


Lines = Iterator[tuple[int | None, Callable[[], Comparison]]]
"""Numbered lines, each with a parser of its comparison."""


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of a file of comparisons, then its answers."""
    yield from read_comparisons(source, _lines(source))


def read_comparisons(source: Source, lines: Lines) -> Iterator[SourceRecord]:
    """Yield the dialogues with all their responses, then an answer for each line that has one."""
    dialogues: dict[str, _Gathered] = {}
    ratings: list[tuple[int | None, Rating]] = []
    answered: Counter[Any] = Counter()
    unsaid: dict[str, None] = {}
    for line, content in lines:
        with source.report_problems(line=line):
            comparison = content()
            unsaid |= {comparison.unsaid: None} if comparison.unsaid else {}
            if (rating := _placed(dialogues, line, comparison)) is not None:
                ratings.append((line, _numbered(rating, answered)))
    if unsaid and JUDGES not in source.settings:
        _ask(source, list(unsaid))
    for key, gathered in dialogues.items():
        yield SourceRecord(_dialogue(key, gathered), gathered.line)
    for line, rating in ratings:
        yield SourceRecord(rating, line)


def _ask(source: Source, raters: list[str]) -> None:
    """Ask which of a battle's raters are judges; without names, note that they are treated as people."""
    others = [name for name in raters if name != UNNAMED and not PERSON.fullmatch(name)]
    if others:
        source.report(ImportProblem(unsaid_judges(raters), field="judge"))
    elif raters == [UNNAMED]:
        source.notes.append("The file names no judge: its answers are taken as one person's, `unnamed`.")
    else:
        examples = ", ".join(raters[:3])
        source.notes.append(f"Taken as people, by their names: {len(raters)} (such as {examples}).")


PERSON = re.compile(
    r"(?:arena_?)?(?:user|human|person|people|expert|author|annotator|rater|worker|participant|evaluator)s?"
    r"(?:[ _#.-]*[\w-]*\d[\w-]*)?",
    re.IGNORECASE,
)
"""Names that arenas and studies give to people, such as `arena_user_12` and `expert_3`."""


COUNTS = ("turn", "sample")


def _lines(source: Source) -> Lines:
    """Yield the numbered lines, each with a parser of its comparison."""
    if source.is_text and source.begins_with(b"{"):
        left_out = source.left_out.get("", {})
        for line, content in source.lines():
            if line not in left_out:
                yield line, lambda content=content: _of_object(decode(content), source)  # type: ignore[misc]
        return
    if not source.is_text or source.begins_with(b"["):
        for number, raw in log_records(source):
            raw |= {name: int(raw[name]) for name in COUNTS if str(raw.get(name, "")).isdecimal()}
            yield number, lambda raw=raw: _of_object(raw, source)  # type: ignore[misc]
        return
    table = open_table(source)
    columns = own_columns(source, table, COLUMNS, ())
    if not any(sides <= columns.keys() for sides in SIDES):
        raise ImportProblem("has no columns response_a and response_b", line=1, field="response_a")
    for line, row in table.rows():
        cells = {name: text_of(row.get(column)) for name, column in columns.items()}
        yield line, lambda cells=cells: of_row(cells)  # type: ignore[misc]
    source.notes += table.notes


def _of_object(raw: Any, source: Source) -> Comparison:
    raw = require(raw, dict)
    if SIDES[0] <= raw.keys():
        source.pass_over(name for name in raw if name not in FIELDS)
        return battle_of_object(raw)
    if SIDES[1] <= raw.keys():
        source.pass_over(name for name in raw if name not in COLUMNS)
        return of_row({name: as_text(raw[name]) or "" for name in raw if name in COLUMNS})
    return comparison_of_object(raw)


def _placed(dialogues: dict[str, _Gathered], line: int | None, comparison: Comparison) -> Rating | None:
    """Add a comparison's responses to its dialogue; return its answer, None where it has none."""
    gathered = dialogues.setdefault(comparison.dialogue, _Gathered(line, comparison))
    before = gathered.comparison
    for name in ("context", "cluster", "language"):
        if getattr(before, name) != getattr(comparison, name):
            reason = f"differs from that of {comparison.dialogue!r} on line {gathered.line}"
            raise ImportProblem(reason, field=name)
    members = tuple(
        (_add_continuation(gathered.continuations, response), response.turn)
        for response in comparison.responses
    )
    if len(set(members)) < len(members):
        raise ImportProblem("two of the responses are the same, of the same system", field="responses")
    if comparison.label is None:
        return None
    (continuation, turn), *_ = members
    label = replace(comparison.label, continuation=continuation, turn=turn, members=members)
    return Rating(comparison.dialogue, label, label.level, label.values, field="responses")


def _add_continuation(continuations: dict[str, Continuation], response: Response) -> str:
    """Return the id of an equal stored continuation, else add the response's own."""
    continuation = response.continuation
    number, key = 0, continuation.id
    while key in continuations:
        existing = continuations[key]
        if (existing.system, existing.mode, existing.turns) == (
            continuation.system,
            continuation.mode,
            continuation.turns,
        ):
            return key
        number += 1
        key = f"{continuation.id}-{number + 1}"
    continuations[key] = replace(continuation, id=key, trial=number)
    return key


def _numbered(rating: Rating, answered: Counter[Any]) -> Rating:
    """Number repeated answers of one rater about the same comparison, unless the file does."""
    label = rating.label
    about = (rating.dialogue, frozenset(label.members), label.question, label.kind, label.rater)
    sample = label.sample or answered[about]
    answered[about] += 1
    return replace(rating, label=replace(label, sample=sample))


def _dialogue(key: str, gathered: _Gathered) -> Dialogue:
    comparison = gathered.comparison
    parts = tuple(gathered.continuations.values())
    speakers = dict.fromkeys(turn.speaker for turn in comparison.context)
    speakers |= dict.fromkeys(turn.speaker for part in parts for turn in part.turns)
    return Dialogue(
        id=key,
        turns=comparison.context,
        participants=tuple(Participant(speaker) for speaker in speakers),
        continuations=parts,
        cluster=comparison.cluster,
        language=comparison.language,
        metadata=comparison.metadata,
    )


def _looks_like(head: Head) -> bool:
    names = head.keys or top_names(head.header)
    own = {"responses"} <= set(names) and bool({"winner", "ranking"} & set(names))
    return own or any(sides <= set(names) for sides in SIDES)


FORMAT = Format(
    key="pairs",
    title="Comparisons: pairs and rankings",
    hint='{"id", "context", "responses": [{"system", "text"}], "winner", "rater"} a line; also files as '
    "Chatbot Arena and MT-Bench publish them, and CSV.",
    read=read,
    looks_like=_looks_like,
    settings=(JUDGES, *OF_TABLES),
)

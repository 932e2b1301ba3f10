"""Preference data: chosen and rejected responses, rated or ranked responses of several models.

Each line is a comparison of two responses to one prompt, whatever its fields are called; the same prompt is
one dialogue. Where a file does not say whose preference it is, it is that of one rater, `unnamed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from annotation.formats.comparisons import (
    QUESTIONS,
    RANKED,
    UNNAMED,
    WINNERS,
    Comparison,
    Lines,
    Response,
    read_comparisons,
    response,
)
from annotation.formats.corpus_format import JUDGES, Format, Head, SourceRecord
from annotation.formats.fields import NAME_LIMIT, is_number, kind_of, require
from annotation.formats.model_messages import (
    ASSISTANT,
    USER,
    Message,
    Omissions,
    content_text,
    first_text,
    id_of,
    input_messages,
    log_records,
    names_in,
    nested,
    numbered,
    output_messages,
    score_of,
    split_prompts,
    top_names,
    turn_of,
)
from annotation.formats.source import ImportProblem, Source
from annotation.records import Continuation, Dialogue, LabelRecord, Participant, SaidKind, Turn
from annotation.schemes.definitions import FIRST, SECOND, TIE, ranking_text
from annotation.text.table_cells import number

PROMPTS = ("prompt", "instruction", "question", "input", "context", "history", "query", "post", "messages")
IDS = ("prompt_id", "id", "pair_id", "question_id", "uid")


@dataclass(frozen=True, slots=True)
class Pair:
    """How a file names the two responses, their systems, and its preference.

    `values` give the answer of a value of the preference; without preferences the first is the better one.
    """

    sides: tuple[str, str]
    preferences: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    systems: tuple[str, str] = ("", "")
    names: tuple[str, str] = ("A", "B")


ONE_TWO = {"1": FIRST, "2": SECOND, "0": TIE, "1.5": TIE}
ZERO_ONE = {"0": FIRST, "1": SECOND}
LETTERS = WINNERS | {"a>b": FIRST, "b>a": SECOND, "a=b": TIE, "c": TIE}
PAIRS = (
    Pair(("chosen", "rejected"), systems=("chosen_model", "rejected_model"), names=("chosen", "rejected")),
    Pair(("preferred_output", "non_preferred_output"), names=("chosen", "rejected")),
    Pair(
        ("output_1", "output_2"), ("preference", "label"), ONE_TWO, ("generator_1", "generator_2"), ("1", "2")
    ),
    Pair(("human_ref_A", "human_ref_B"), ("labels",), {"1": FIRST, "0": SECOND}),
    Pair(
        ("response_0", "response_1"), ("better_response_id", "safer_response_id"), ZERO_ONE, names=("0", "1")
    ),
    Pair(("response_A", "response_B"), ("label", "winner", "preference"), LETTERS, ("model_A", "model_B")),
    Pair(("response1", "response2"), ("overall_preference",), names=("1", "2")),
    Pair(("answer_0", "answer_1"), ("preference", "label"), ZERO_ONE, ("model_0", "model_1"), ("0", "1")),
)
HUMAN_TURN = re.compile(r"(?:^|\n\n)(Human|Assistant): ?")
"""Begin of a turn in Anthropic's texts."""


def pair_of(names: frozenset[str]) -> Pair | None:
    """Return the form of pairs with these fields, None where they are no pairs."""
    for pair in PAIRS:
        if set(pair.sides) <= names and (not pair.preferences or set(pair.preferences) & names):
            return pair
    return None


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of all pairs, then the preferences."""
    yield from read_comparisons(source, _lines(source))


def _lines(source: Source) -> Lines:
    keys: dict[tuple[Any, ...], str] = {}
    for line, raw in log_records(source):
        pair = pair_of(frozenset(raw))
        if pair is None:
            raise ImportProblem("has no pair of responses", line=line)
        questions = [name for name in pair.preferences if raw.get(name) is not None]
        is_named = len(questions) > 1
        for name in questions or [""]:
            yield line, partial(_comparison, raw, pair, name, is_named, keys)


def _comparison(
    raw: dict[str, Any], pair: Pair, name: str, is_named: bool, keys: dict[tuple[Any, ...], str]
) -> Comparison:
    sent = _prompt(raw)
    answers = [_answer(raw.get(side), side) for side in pair.sides]
    if isinstance(raw.get(pair.sides[0]), str) and all(
        HUMAN_TURN.match(str(raw[side])) for side in pair.sides
    ):
        answers = [_dialogue_text(raw[side]) for side in pair.sides]
    shared = _shared(answers) if not sent or all(_begins_with(answer, sent) for answer in answers) else 0
    prompt, history = split_prompts([*([] if shared else sent), *answers[0][:shared]])
    answers = [answer[shared:] for answer in answers]
    for side, answer in zip(pair.sides, answers, strict=True):
        if not answer:
            raise ImportProblem("is empty, or the same as the other response", field=side)
    turns = tuple(turn_of(message, given=True) for message in history)
    systems = [_system(raw, pair, index) for index in (0, 1)]
    responses = tuple(
        _response(f"{system}" if systems[0] != systems[1] else f"{system} {name}", system, answer, turns)
        for system, name, answer in zip(systems, pair.names, answers, strict=True)
    )
    own = first_text(raw, *IDS)
    content = (prompt, turns)
    key = keys.get(content) or (id_of(own) if own and own not in keys.values() else f"prompt-{len(keys) + 1}")
    keys[content] = key
    label = _label(raw, pair, name, is_named)
    unsaid = label.rater if label is not None and not label.kind else ""
    metadata = {"system_prompt": prompt} if prompt else {}
    return Comparison(key, turns, responses, label, unsaid=unsaid, metadata=metadata)


def _prompt(raw: Mapping[str, Any]) -> list[Message]:
    value = next((raw[name] for name in PROMPTS if raw.get(name) not in (None, "", [])), None)
    if isinstance(value, str) and HUMAN_TURN.match(value):
        return [message for message in _dialogue_text(value) if message.text]
    messages = input_messages(value)
    system = raw.get("system") or raw.get("system_prompt")
    return [Message("system", system), *messages] if isinstance(system, str) and system else messages


def _answer(value: Any, side: str) -> list[Message]:
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        value = value["text"]
    messages = [Message(ASSISTANT, value)] if isinstance(value, str) and value else output_messages(value)
    if not messages:
        raise ImportProblem(f"must be a response, not {kind_of(value)}", field=side)
    return messages


def _dialogue_text(text: str) -> list[Message]:
    """Return the turns of a text such as `Human: ...`, `Assistant: ...`."""
    parts = HUMAN_TURN.split(text)[1:]
    return [
        Message({"Human": USER}.get(speaker, ASSISTANT), text.strip())
        for speaker, text in zip(parts[::2], parts[1::2], strict=True)
    ]


def _shared(answers: Sequence[Sequence[Message]]) -> int:
    """Return how many messages both responses begin with, up to the last one before either ends."""
    count = 0
    for first, second in zip(*answers, strict=False):
        if first != second:
            break
        count += 1
    return min(count, *(len(answer) - 1 for answer in answers))


def _begins_with(messages: Sequence[Message], start: Sequence[Message]) -> bool:
    return list(messages[: len(start)]) == list(start)


def _system(raw: Mapping[str, Any], pair: Pair, index: int) -> str:
    name = pair.systems[index]
    inner = nested(raw, pair.sides[index], "model")
    own = first_text(raw, name) if name else inner if isinstance(inner, str) else ""
    return (own or pair.names[index])[:NAME_LIMIT]


def _response(key: str, system: str, answer: Sequence[Message], history: Sequence[Turn]) -> Response:
    turns = tuple(Turn(message.role, message.text) for message in answer)
    return response(key, system, turns, len(history))


def _label(raw: Mapping[str, Any], pair: Pair, name: str, is_named: bool) -> LabelRecord | None:
    value, why = FIRST, ""
    if pair.preferences:
        if not name:
            return None
        value, why = _preference(raw[name], pair, name)
    rater, kind = _rater(raw)
    question = name.removesuffix("_id") if is_named else QUESTIONS[2]
    return LabelRecord(
        rater=rater,
        kind=kind,
        continuation="",
        turn=None,
        question=question,
        value=value,
        explanation=first_text(raw, "explanation", "rationale", "reasoning", "reason") or why,
    )


def _preference(value: Any, pair: Pair, name: str) -> tuple[str, str]:
    """Return the better response, with the raw value if it has more detail."""
    as_number = value if is_number(value) else number(str(value).strip())
    text = str(value).strip().lower() if as_number is None else f"{as_number:g}"
    if text in pair.values:
        return pair.values[text], ""
    weight = number(text)
    if weight is not None and not pair.values and -3 <= weight <= 3:  # how much better the second one is
        return (TIE if weight == 0 else SECOND if weight > 0 else FIRST), f"{name} {text}"
    if weight is not None and pair.values is ONE_TWO and 1 < weight < 2:  # weighted by its probability
        return (SECOND if weight > 1.5 else FIRST), f"{name} {text}"
    raise ImportProblem(f"is {text[:40]!r}, which is no preference", field=name)


def _rater(raw: Mapping[str, Any]) -> tuple[str, SaidKind]:
    for key in ("annotator", "rater", "worker", "judge", "labeler", "worker_id", "annotator_id"):
        if name := first_text(raw, key):
            is_alpaca = key == "annotator" and "output_1" in raw and "raw_completion" in raw
            return name[:NAME_LIMIT], "judge" if is_alpaca else ""
    return UNNAMED, ""


def _looks_like(head: Head) -> bool:
    names = head.keys | top_names(head.paths)
    if {"conversation_a", "conversation_b"} <= names or "dialogue" in names:
        return False
    return pair_of(names) is not None and ("chosen" in names or bool(set(PROMPTS) & names))


PREFERENCES = Format(
    key="preferences",
    title="Preference pairs: chosen and rejected, AlpacaEval, DPO",
    hint='{"prompt", "chosen", "rejected"} or {"instruction", "output_1", "output_2", "preference"} a line.',
    read=read,
    looks_like=_looks_like,
    settings=(JUDGES,),
)


# Several models' responses to one instruction, each with a judge's ratings and reasons, or ranked.
#
# UltraFeedback: {"instruction", "completions": [{"model", "response", "annotations": {ASPECT: {"Rating",
# "Rationale"}}, "overall_score", "critique"}]}; Nectar: {"prompt", "answers": [{"model", "answer", "rank"}]};
# AlpacaEval's outputs: {"instruction", "output", "generator"}.

FEEDBACK_JUDGE = "gpt-4"
"""The judge of UltraFeedback's responses, by its paper."""


def read_feedback(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each instruction, with the responses of all models and their ratings."""
    omissions = Omissions()
    records: dict[tuple[str, tuple[Message, ...]], list[Mapping[str, Any]]] = {}
    ids: dict[tuple[str, tuple[Message, ...]], str] = {}
    for line, raw in log_records(source):
        with source.report_problems(line=line):
            prompt, history = split_prompts(_prompt(raw))
            content = (prompt, tuple(history))
            own = first_text(raw, *IDS)
            ids.setdefault(content, own if own and own not in ids.values() else f"prompt-{len(ids) + 1}")
            completions = raw.get("completions") or raw.get("answers")
            parts = completions if isinstance(completions, list) else [raw]
            records.setdefault(content, []).extend(require(part, dict, "completions") for part in parts)
    for content, parts in records.items():
        with source.report_problems(path=ids[content][:60]):
            yield SourceRecord(_rated(ids[content], *content, parts, omissions))
    omissions.note(source)


def _rated(
    key: str,
    prompt: str,
    history: Sequence[Message],
    parts: Sequence[Mapping[str, Any]],
    omissions: Omissions,
) -> Dialogue:
    turns = tuple(turn_of(message, given=True) for message in history)
    continuations: dict[str, Continuation] = {}
    labels: list[LabelRecord] = []
    ranks: list[tuple[float, str]] = []
    for part in parts:
        text = content_text(next((part[k] for k in ("response", "answer", "output") if part.get(k)), ""))
        if not text.strip():
            omissions.add("Responses left out, because they are empty")
            continue
        system = (first_text(part, "model", "generator", "system") or ASSISTANT)[:NAME_LIMIT]
        trial = sum(other.system == system for other in continuations.values())
        own = f"{system}-{trial + 1}" if trial else system
        turn = Turn(ASSISTANT, text, at=len(turns))
        continuations[own] = Continuation(own, system, (turn,), mode="static", trial=trial)
        labels += [score.label(own, 0) for score in _scores(part)]
        rank = number(first_text(part, "rank"))
        ranks += [(rank, own)] if rank is not None else []
    if not turns and not continuations:
        raise ImportProblem("has neither a prompt nor a response")
    if len(ranks) == len(continuations) > 1:
        labels.append(_ranking(ranks, list(continuations)))
    speakers = dict.fromkeys(turn.speaker for turn in (*turns, *(p.turns[0] for p in continuations.values())))
    return Dialogue(
        id=id_of(key),
        turns=turns,
        participants=tuple(Participant(name, role=name) for name in speakers),
        continuations=tuple(continuations.values()),
        labels=numbered(labels),
        metadata={"system_prompt": prompt} if prompt else {},
    )


def _scores(part: Mapping[str, Any]) -> Iterator[Any]:
    annotations = part.get("annotations")
    for aspect, entry in annotations.items() if isinstance(annotations, dict) else ():
        if not isinstance(entry, dict) or "Rating" not in entry:
            continue
        rating = entry["Rating"]
        value = None if rating in ("N/A", "") else rating
        yield score_of(aspect, FEEDBACK_JUDGE, "judge", value, entry.get("Rationale"))
    if first_text(part, "overall_score"):
        yield score_of("overall_score", FEEDBACK_JUDGE, "judge", part["overall_score"], part.get("critique"))


def _ranking(ranks: Sequence[tuple[float, str]], names: Sequence[str]) -> LabelRecord:
    groups: dict[float, list[int]] = {}
    for rank, name in sorted(ranks):
        groups.setdefault(rank, []).append(names.index(name))
    pair = len(names) == 2
    order = list(groups.values())
    value = (TIE if len(order) == 1 else (FIRST, SECOND)[order[0][0]]) if pair else ranking_text(order)
    members = tuple((name, 0) for name in names)
    return LabelRecord(
        rater=UNNAMED,
        kind="",
        continuation=names[0],
        turn=0,
        question=QUESTIONS[2] if pair else RANKED,
        value=value,
        members=members,
    )


def _is_feedback(head: Head) -> bool:
    names = head.inner | names_in(head.paths)
    has_prompt = bool({"instruction", "prompt"} & names)
    is_rated = {"completions", "model", "response", "annotations"} <= names
    is_ranked = {"answers", "model", "rank"} <= names
    is_alpaca = {"instruction", "output", "generator"} <= names
    return has_prompt and (is_rated or is_ranked or is_alpaca)


FEEDBACK = Format(
    key="model-responses",
    title="Responses of several models: UltraFeedback, Nectar, AlpacaEval outputs",
    hint='{"instruction", "completions": [{"model", "response", "annotations"}]} a line; lists of outputs.',
    read=read_feedback,
    looks_like=_is_feedback,
    settings=(JUDGES,),
)
FORMATS = (PREFERENCES, FEEDBACK)

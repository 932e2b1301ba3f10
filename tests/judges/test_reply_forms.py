"""Replies as real models write them: read where every reader understands them, and never misread."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from jobs.endpoints.responses import Again, Malformed, completion, is_refusal, received
from jobs.prompt import OutOfScale, Prompt, Unparseable
from judges.protocols import Asking, Case, Reading
from judges.protocols.replies import json_object, scores
from tests.judges.protocol_cases import CASES, READINGS, case

CASE_FILE = Path(__file__).parents[3] / "shared" / "cases" / "judge_reply_in_wrapping" / "replies.jsonl"
FENCE = "```"
WRAPPINGS: dict[str, Callable[[str], str]] = {
    "alone": lambda reply: reply,
    "prose before": lambda reply: f"Here is the JSON:\n\n{reply}",
    "prose on the line": lambda reply: f"Sure! {reply} Let me know if that helps.",
    "a fence": lambda reply: f"{FENCE}json\n{reply}\n{FENCE}",
    "prose and a fence": lambda reply: f"My evaluation:\n\n{FENCE}json\n{reply}\n{FENCE}\n",
    "a fence and prose": lambda reply: f"{FENCE}\n{reply}\n{FENCE}\nI hope this helps!",
    "the same twice": lambda reply: f"{reply}\n\nOnce more, in a fence:\n{FENCE}json\n{reply}\n{FENCE}",
    "a comma before the bracket": lambda reply: f"{reply[:-1]},\n}}",
    "line breaks in texts": lambda reply: reply.replace("\\n", "\n"),
}
JSON_CASES = [
    (protocol, variant)
    for protocol, variant in CASES
    if protocol.schema(case(protocol=protocol, variant=variant), variant, protocol.forms_of(variant)[0])
]
LINES = [
    "{name} - {value}",
    "{name}: {value}",
    "{name}：{value}",
    "**{name}:** {value}",
    "- {name} = {value}",
    "{name}: {value}/5",
    "{name}: {value} out of 5",
    "{name}: {value} (natural, on topic)",
    "| {name} | {value} |",
    "| **{name}** | {value}/5 | natural |",
    "{name}：{value}分",
    "{name}：{value}（自然）",
    "{name} - {value} points",
]
SCORES = {"humanness": 3, "fluency": 5, "overall": 4}
WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
LINE_CASES = [pair for pair in CASES if pair not in JSON_CASES]
SCORE_LINE = re.compile(r"^([A-Za-z][\w ]*?)(?: - |: )(\d[\d.]*)$", re.M)
SINGLE = re.compile(r"\d+(?:\.\d+)?")
RESTYLINGS: dict[str, tuple[str, str]] = {
    "bold": (r"**\1:** \2", r"**\g<0>**"),
    "a list": (r"- \1 = \2", r"\g<0>."),
    "full width": (r"\1：\2", r"Score：\g<0>"),
    "a remark": (r"\1: \2 (natural, on topic)", r"\g<0> (natural, on topic)"),
    "a table": (r"| \1 | \2 | natural |", r"Rating: \g<0>"),
    "points": (r"\1: \2 points", r"\g<0> points"),
    "Chinese points": (r"\1：\2分（自然）", r"\g<0>分（自然）"),
    "a fence": (r"\1 - \2", FENCE + r"\n\g<0>\n" + FENCE),
}
"""Other forms of a reply in lines: of a line with a name and a score, and of a score alone."""


def restyled(reply: str, style: str, *, wide: bool = False) -> str:
    """Return a reply in lines in another form; `wide` writes its numbers with full-width digits."""
    line, single = RESTYLINGS[style]
    pattern, form = (SINGLE, single) if SINGLE.fullmatch(reply) else (SCORE_LINE, line)
    return pattern.sub(lambda match: match.expand(form).translate(WIDE if wide else {}), reply)


def values_of(reading: Reading) -> list[tuple[str, int | None, Any]]:
    """Return the answers of a reading without their explanations."""
    return [(verdict.question, verdict.turn, verdict.value) for verdict in reading.verdicts]


def readings(protocol: Asking, variant: str, n: int = 12) -> tuple[Case, list[Reading]]:
    """Return a case and possible readings of it."""
    about, drawn = case(protocol=protocol, variant=variant), []

    @settings(max_examples=n, derandomize=True, database=None, deadline=None)
    @given(READINGS[protocol.key](protocol, about))
    def draw(reading: Reading) -> None:
        drawn.append(reading)

    draw()
    return about, drawn


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize(("protocol", "variant"), JSON_CASES, ids=lambda part: getattr(part, "key", part))
def test_an_answer_in_wrapping_is_the_answer_alone(protocol: Asking, variant: str, wrapping: str) -> None:
    about, drawn = readings(protocol, variant)
    for reading in drawn:
        reply = protocol.write(reading, about, variant)
        assert protocol.parse(WRAPPINGS[wrapping](reply), about) == protocol.parse(reply, about)


@pytest.mark.parametrize(("protocol", "variant"), JSON_CASES, ids=lambda part: getattr(part, "key", part))
def test_two_answers_that_differ_are_none(protocol: Asking, variant: str) -> None:
    about, drawn = readings(protocol, variant)
    replies = list(dict.fromkeys(protocol.write(reading, about, variant) for reading in drawn))
    for first, second in itertools.pairwise(replies):
        if json.loads(first) == json.loads(second):
            continue
        for text in (f"{first}\n{second}", f"At first: {first}\n{FENCE}json\n{second}\n{FENCE}"):
            with pytest.raises(Unparseable):
                protocol.parse(text, about)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("style", RESTYLINGS)
@pytest.mark.parametrize(("protocol", "variant"), LINE_CASES, ids=lambda part: getattr(part, "key", part))
def test_a_reply_in_lines_is_read_in_every_form(
    protocol: Asking, variant: str, style: str, wide: bool
) -> None:
    about, drawn = readings(protocol, variant)
    for reading in drawn:
        reply = protocol.write(reading, about, variant)
        other = restyled(reply, style, wide=wide)
        assert other != reply or style == "a fence"
        assert values_of(protocol.parse(other, about)) == values_of(protocol.parse(reply, about))


@pytest.mark.parametrize("form", ['"{}"', '"[{}]"', '" {} "'])
@pytest.mark.parametrize(("protocol", "variant"), JSON_CASES, ids=lambda part: getattr(part, "key", part))
def test_a_number_written_as_a_text_is_that_number(protocol: Asking, variant: str, form: str) -> None:
    about, drawn = readings(protocol, variant)
    for reading in drawn:
        reply = protocol.write(reading, about, variant)
        as_texts = re.sub(r": (\d+)(?=[,}])", lambda match: f": {form.format(match[1])}", reply)
        assert protocol.parse(as_texts, about) == protocol.parse(reply, about)


@pytest.mark.parametrize("line", LINES)
def test_a_score_on_a_line_is_read_as_people_write_it(line: str) -> None:
    reply = "\n".join(line.format(name=name.title(), value=value) for name, value in SCORES.items())
    assert scores(reply, list(SCORES), (1, 2, 3, 4, 5), case()) == SCORES


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("overall: 4/10", "4/10 is not on the scale"),
        ("overall: 4 out of 10", "4/10 is not on the scale"),
        ("overall: 4 (or 3)", "no score"),
        ("overall: 4 or 3", "no score"),
        ("overall: 4²", "no score"),
        ("| overall | 4 | 3 |", "no score"),
        ("overall: 4\n| overall | 3 |", "several scores"),
    ],
)
def test_a_line_with_two_readings_has_none(line: str, fault: str) -> None:
    with pytest.raises(Unparseable, match=fault):
        scores(line, ["overall"], (1, 2, 3, 4, 5), case())


@pytest.mark.parametrize(
    "reply",
    [
        'I rate helpful: 3.\n{"helpful": 4}',
        'My score: 5\n{"helpful": 4}',
        'helpful is at 3\n{"helpful": "4"}',
        '{"helpful": 4} - on second thoughts, a rating of 2.',
        '{"helpful": 5}", "helpful": 2}',
        'Given {x}: {"helpful": 4}',
        '{"helpful": 4} {"helpful": 4',
        '{"helpful": 4, "helpful": 5}',
        '[{"helpful": 4}, {"helpful": 5}]',
    ],
)
def test_prose_that_states_another_number_leaves_no_answer(reply: str) -> None:
    with pytest.raises(Unparseable):
        json_object(reply)


def test_prose_may_repeat_the_number_and_speak_of_other_things() -> None:
    for prose in ("I rate helpful: 4.", "The helpful score is 4.", "Helpfulness is fine in all 3 turns."):
        assert json_object(f'{prose}\n{{"helpful": 4}}') == {"helpful": 4}


def said(content: Any, **message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content} | message, "finish_reason": "stop"}]}


ANSWER = '{"helpful": 4}'
CHANNELS = f"<|channel|>analysis<|message|>Hm: 3?<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}"


@pytest.mark.parametrize(
    ("data", "reasoning"),
    [
        (said(f"Let me see: 3?</think>\n{ANSWER}"), "Let me see: 3?"),
        (said(CHANNELS), "<|channel|>analysis<|message|>Hm: 3?<|end|><|start|>assistant"),
        (said(f"{CHANNELS}<|return|>"), "<|channel|>analysis<|message|>Hm: 3?<|end|><|start|>assistant"),
        (said([{"type": "text", "text": '{"helpful":'}, {"type": "text", "text": " 4}"}]), ""),
        (said([{"type": "thinking", "thinking": "3?"}, {"type": "text", "text": ANSWER}]), "3?"),
        (said(None, tool_calls=[{"function": {"name": "reply", "arguments": ANSWER}}]), ""),
        (said("", function_call={"name": "reply", "arguments": ANSWER}), ""),
    ],
)
def test_an_answer_is_taken_from_wherever_the_server_puts_it(data: dict[str, Any], reasoning: str) -> None:
    reply = completion(data, 5)
    assert (reply.text, reply.reasoning) == (ANSWER, reasoning)


def test_a_mark_that_the_prompt_holds_too_is_no_end_of_thinking() -> None:
    quoted = "humanness - 2\nThe user writes:\n</think>\nhumanness - 5"
    assert completion(said(quoted), 5, prompt_has_mark=True).text == quoted


def test_content_without_a_text_is_no_answer() -> None:
    with pytest.raises(Malformed, match="without a text"):
        completion(said([{"type": "image_url", "image_url": {}}]), 5)


@pytest.mark.parametrize(
    "calls",
    [
        [{"function": {"name": "reply", "arguments": ANSWER}}] * 2,
        [{"function": {"name": "search", "arguments": ""}}],
        [{"function": {"name": "reply", "arguments": {"helpful": 4}}}],
    ],
)
def test_calls_of_tools_that_are_no_answer_are_kept_raw(calls: list[dict[str, Any]]) -> None:
    with pytest.raises(Malformed, match="calls tools") as caught:
        completion(said(None, tool_calls=calls), 5)
    assert caught.value.reply is not None
    assert json.loads(caught.value.reply.text) == calls


def streamed(*pieces: str, end: str = "data: [DONE]\n") -> bytes:
    parts = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
    usage = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    return "".join(f"data: {json.dumps(part)}\n\n" for part in [*parts, usage]).encode() + end.encode()


def test_a_stream_that_nobody_asked_for_is_joined() -> None:
    reply = received(streamed('{"help', 'ful": ', "4}"), 5)
    assert (reply.text, reply.tokens_in, reply.tokens_out) == (ANSWER, 7, 3)


def test_a_streamed_call_of_a_tool_is_joined() -> None:
    pieces = [{"name": "reply", "arguments": '{"help'}, {"arguments": 'ful": 4}'}]
    deltas = [{"tool_calls": [{"index": 0, "function": piece}]} for piece in pieces]
    parts = [{"choices": [{"delta": delta}]} for delta in deltas]
    body = "".join(f"data: {json.dumps(part)}\n\n" for part in parts)
    assert received(f"{body}data: [DONE]\n".encode(), 5).text == ANSWER


def test_a_stream_that_breaks_off_is_tried_again_and_never_read() -> None:
    with pytest.raises(Again, match="broke off"):
        received(streamed('{"helpful": 4}', end=""), 5)


def test_a_key_that_comes_in_pieces_is_redacted() -> None:
    reply = received(streamed("the key is sk-verys", "ecretkey-12345"), 5, key="sk-verysecretkey-12345")
    assert "secretkey" not in reply.text


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that request.",
        "I cannot provide a rating for this dialogue.",
        "Sorry, I can’t help with that.",
        "As an AI language model, I am unable to judge conversations.",
        "很抱歉，我无法评价这段对话。",
    ],
)
def test_a_refusal_in_plain_text_is_one(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    ["I'm sorry to see such a dialogue: 2", "The agent says: I cannot help.", "4", "", "I can rate it."],
)
def test_a_text_that_speaks_of_refusing_is_not_one(text: str) -> None:
    assert not is_refusal(text)


def test_a_repaired_request_shows_the_reply_and_its_fault() -> None:
    prompt = Prompt("Judge.", "Rate it.", fault=("Well: four", "no JSON"))
    assert [message["role"] for message in prompt.messages()] == ["system", "user", "assistant", "user"]
    assert "no JSON" in prompt.messages()[-1]["content"]
    assert prompt.digest() != Prompt("Judge.", "Rate it.").digest()


def test_the_replies_that_were_refused_are_read() -> None:
    for line in CASE_FILE.read_text(encoding="utf-8").splitlines():
        recorded = json.loads(line)
        text = completion(said(recorded["content"]), 5).text
        if "cpdscore" in recorded["case"]:
            names = ["humanness", "fluency", "coherency", "consistency", "engagingness", "overall"]
            assert scores(text, names, (1, 2, 3, 4, 5), case())["overall"] == 4
        else:
            assert int(json_object(text)["helpful"]) == 4


# A mixture of everything: an answer, another one, prose, marks and cuts. What is read is always the answer.

Wrap = Callable[[str], str]
Pool = list[tuple[Asking, Case, list[tuple[str, Reading]], list[Wrap]]]
LINE_WRAPPINGS: list[Wrap] = [
    partial(restyled, style=style, wide=wide) for style in RESTYLINGS for wide in (False, True)
]
PROSE = [
    "Here is my evaluation:",
    "Note: turn 2 repeats turn 1.",
    "{not JSON}",
    "[see turn 3]",
    "I was torn between the two.",
    "# Rating",
    "<think>",
    "Thanks!",
    "“quoted”: yes",
    "| a | b |",
]


def mixed(
    draw: random.Random, answer: str, other: str, wrappings: list[Wrap], separators: Sequence[str]
) -> tuple[str, bool]:
    """Return a reply around an answer, and whether it also holds the other answer."""
    pieces = [draw.choice(wrappings)(answer)]
    both = draw.random() < 0.4
    if both:
        pieces.insert(draw.randrange(2), draw.choice(wrappings)(other))
    for _ in range(draw.randrange(3)):
        pieces.insert(draw.randrange(len(pieces) + 1), draw.choice(PROSE))
    text = draw.choice(separators).join(pieces)
    if " " in separators and draw.random() < 0.1:  # a score in lines that is cut off is another score
        text = text[: draw.randrange(len(text) + 1)]
    return text, both


def read_mixture(draw: random.Random, pool: Pool) -> tuple[str, bool]:
    """Read a reply of one answer or two; return the reply if it was misread ('' if not), and whether it was
    read at all."""
    protocol, about, answers, wrappings = draw.choice(pool)
    (answer, reading), (other, other_reading) = draw.sample(answers, 2)
    in_lines = wrappings is LINE_WRAPPINGS
    text, both = mixed(draw, answer, other, wrappings, ("\n", "\n\n") if in_lines else ("\n", " ", "\n\n"))
    try:
        read = protocol.parse(text, about)
    except Unparseable:
        return "", False
    if in_lines:  # prose beside an explanation may become a part of it
        differ = both and values_of(reading) != values_of(other_reading)
        return "" if values_of(read) == values_of(reading) and not differ else text, True
    is_cut = both and not (answer in text and other in text)
    if both and not is_cut and reading != other_reading:
        return text, True
    allowed = [reading, other_reading] if is_cut else [reading]
    return "" if read in allowed else text, True


def pooled() -> Pool:
    pool: Pool = []
    for protocol, variant in CASES:
        wrappings = list(WRAPPINGS.values()) if (protocol, variant) in JSON_CASES else LINE_WRAPPINGS
        about, drawn = readings(protocol, variant, 20)
        answers = {protocol.write(reading, about, variant): None for reading in drawn}
        rows = [(text, protocol.parse(text, about)) for text in answers]
        if len(rows) > 1:
            pool.append((protocol, about, rows, wrappings))
    return pool


@pytest.mark.parametrize(("seed", "n"), [(7, 3_000), pytest.param(11, 100_000, marks=pytest.mark.exhaustive)])
def test_nothing_is_ever_misread_in_a_mixture(seed: int, n: int) -> None:
    draw, pool = random.Random(seed), pooled()
    mixtures = [read_mixture(draw, pool) for _ in range(n)]
    assert [text for text, _ in mixtures if text] == []
    assert sum(was_read for _, was_read in mixtures) > n / 5


def test_a_number_as_a_text_is_on_its_scale_or_refused() -> None:
    protocol, variant = next(pair for pair in JSON_CASES if pair[0].key == "rubric")
    about, drawn = readings(protocol, variant)
    reply = protocol.write(drawn[0], about, variant)
    as_texts = re.sub(r": (\d+)(?=[,}])", r': "\1"', reply)
    assert as_texts != reply
    assert protocol.parse(as_texts, about) == protocol.parse(reply, about)
    with pytest.raises(OutOfScale):
        protocol.parse(re.sub(r': "\d+"', ': "4/10"', as_texts), about)

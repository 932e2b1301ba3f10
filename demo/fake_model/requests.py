"""Requests as a model sees them: quoted blocks, questions, and reply form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Any

# A request as a model sees it: quoted blocks, the instruction, and the reply form.
#
# Only the content that a real endpoint would get is read: no header, no name of a run.

BEGIN, END, CLOSE, QUOTE = "<<<BEGIN ", "<<<END ", ">>>", "| "
IMPROVED = ("SYSTEM PART", "USER PART")
"""Blocks of an instruction to improve."""
_NUMBERED = re.compile(r"\[(\d+)\] (.*)", re.S)
_FIELD = re.compile(r'"([A-Za-z_][\w-]*)"\s*:')
_SCORE_LINE = re.compile(r"^[ \t*-]*([A-Za-z][\w ]*?)(?: -|:) (?:x|x\.x)\s*$", re.M)
_SCALE = re.compile(r"\bfrom (\d+)(?: \([^()\n]*\))? to (\d+)")
_MORE = "      "


class BadRequest(ValueError):
    """A request that no server would accept; the message is one line."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A quoted turn: its number (or None), speaker and words; `full_text` is all after the number."""

    number: int | None
    text: str
    full_text: str = ""


@dataclass(frozen=True)
class Request:
    """Messages of a chat completion, and the parameters that affect the answer."""

    messages: tuple[tuple[str, str], ...]
    schema: Mapping[str, Any] | None = None
    seed: int | None = None
    logprobs: int | None = None
    most_tokens: int | None = None
    choices: int = 1
    raw: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def _instruction_and_blocks(self) -> tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]:
        own: list[str] = []
        blocks: list[tuple[str, tuple[str, ...]]] = []
        title, lines = "", list[str]()
        for line in "\n".join(text for _, text in self.messages).split("\n"):
            if title and line == f"{END}{title}{CLOSE}":
                blocks.append((title, tuple(lines)))
                title, lines = "", []
            elif title:
                lines.append(line.removeprefix(QUOTE))
            elif line.startswith(BEGIN) and line.endswith(CLOSE):
                title = line[len(BEGIN) : -len(CLOSE)]
            else:
                own.append(line)
        return "\n".join([*own, *([f"{BEGIN}{title}{CLOSE}", *lines] if title else [])]), tuple(blocks)

    @property
    def instruction(self) -> str:
        """All text outside quoted blocks: the researcher's text, and the reply form."""
        return self._instruction_and_blocks[0]

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the quoted blocks, in order."""
        return tuple(title for title, _ in self._instruction_and_blocks[1])

    def block(self, title: str) -> tuple[str, ...] | None:
        """Return the lines of the last block with a title (examples come before the material to judge)."""
        return next(
            (lines for name, lines in reversed(self._instruction_and_blocks[1]) if name == title), None
        )

    @property
    def improves(self) -> bool:
        """Whether it shows an instruction to improve, with a judge's material."""
        return any(title in self.titles for title in IMPROVED)

    def shows(self, title: str) -> bool:
        """Whether it has a block to judge under a title."""
        return title in self.titles and not self.improves

    def response(self) -> str | None:
        """Return the words of the one turn in the block RESPONSE."""
        lines = self.block("RESPONSE")
        return None if lines is None else " ".join(turn.text for turn in turns(lines)[-1:])

    def numbered(self, title: str = "TURNS") -> list[Spoken]:
        """Return the numbered turns of a block."""
        return [turn for turn in turns(self.block(title) or ()) if turn.number is not None]

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the requested JSON fields: from the schema, else from the form in the text."""
        if self.schema is not None:
            return tuple(self.schema.get("properties", {}))
        return tuple(dict.fromkeys(_FIELD.findall(self.instruction)))

    @property
    def score_lines(self) -> tuple[str, ...]:
        """Names of the requested score lines, such as `fluency - x` or `Humanness: x`."""
        return tuple(dict.fromkeys(_SCORE_LINE.findall(self.instruction)))

    def sign(self, name: str) -> str:
        """Return the separator between a name and its score: ` -` or `:`."""
        return ":" if re.search(rf"^[ \t*-]*{re.escape(name)}: x", self.instruction, re.M) else " -"

    def scale(self, low: int, high: int) -> tuple[int, ...]:
        """Return the first scale in the instruction (`from 1 to 5`), else the given one."""
        if (match := _SCALE.search(self.instruction)) and int(match[1]) < int(match[2]) <= 100:
            low, high = int(match[1]), int(match[2])
        return tuple(range(low, high + 1))

    @property
    def words(self) -> int:
        """Number of words in the messages: this model's token count."""
        return sum(len(text.split()) for _, text in self.messages)

    def key(self) -> str:
        """Return all content sent as one text, the key for equal requests."""
        return json.dumps(self.raw or self.messages, sort_keys=True, default=str)


def turns(lines: Sequence[str]) -> list[Spoken]:
    """Return the turns of quoted lines: continuation lines are indented, headings are in `==`."""
    texts: list[str] = []
    for line in lines:
        if line.startswith(_MORE) and texts:
            texts[-1] += "\n" + line.removeprefix(_MORE)
        elif not (line.startswith("== ") and line.endswith(" ==")):
            texts.append(line)
    return [_parse_turn(text) for text in texts]


def _parse_turn(text: str) -> Spoken:
    match = _NUMBERED.fullmatch(text)
    line = match[2] if match else text
    _, colon, words = line.partition(": ")
    return Spoken(int(match[1]) if match else None, words if colon else "", line)


def request(body: Any) -> Request:
    """Parse the request in a chat completion's body; raise BadRequest for an invalid one."""
    if not isinstance(body, dict):
        raise BadRequest("the body is not a JSON object")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("messages: a list with at least one message is needed")
    parsed = [_message(number, message) for number, message in enumerate(messages)]
    # What follows an earlier reply asks for the same once more.
    return Request(
        tuple(takewhile(lambda message: message[0] != "assistant", parsed)),
        _schema(body.get("response_format")),
        _integer(body, "seed"),
        _logprobs(body),
        _integer(body, "max_completion_tokens", least=1) or _integer(body, "max_tokens", least=1),
        _integer(body, "n", least=1, most=16) or 1,
        body,
    )


def _message(number: int, message: Any) -> tuple[str, str]:
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        raise BadRequest(f"messages[{number}]: a role and a text as content are needed")
    return str(message.get("role", "")), message["content"]


def _schema(form: Any) -> Mapping[str, Any] | None:
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        return None
    inner = form.get("json_schema")
    schema = inner.get("schema") if isinstance(inner, dict) else None
    if not isinstance(schema, dict) or not isinstance(schema.get("properties", {}), dict):
        raise BadRequest("response_format: json_schema holds no schema of an object")
    return schema


def _logprobs(body: Mapping[str, Any]) -> int | None:
    return (_integer(body, "top_logprobs", most=20) or 0) if body.get("logprobs") is True else None


def _integer(
    body: Mapping[str, Any], name: str, *, least: int | None = None, most: int | None = None
) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadRequest(f"{name}: {str(value)[:40]!r} is not a whole number")
    if (least is not None and value < least) or (most is not None and value > most):
        raise BadRequest(f"{name}: {value} is out of range")
    return value


# The questions of a prompt: those that its text lists under their keys, and those of a JSON schema.
#
# In the text a question is a paragraph: `key: wording`, then its values as lines (`- 1: very bad`, `- 2`,
# `- 4 to 6: good`) or after `One of:`, and `Asked only where other is at most 3; else null.`

_WIDEST = 1000
_STEPS = 40
_KEY = re.compile(r"([^\s:-][^:\n]{0,119}): \S")
_VALUE = re.compile(r"- ([^:\n]+?)(?:: .*)?")
_SPAN = re.compile(r"(-?\d+) to (-?\d+)")
_ENDS = re.compile(r"from (-?[\d.]+) to (-?[\d.]*\d)")
_ONE_OF = re.compile(r"One of: (.+)")
_WORDS, _NUMBER = ("Answer in words.", "Answer with a short text."), "Answer with a "
_ONLY = re.compile(
    r"Asked only where (.+?) is (?:at least (\S+?))?(?: and )?(?:at most (\S+?))?; else null\."
)

Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its values in order (none: free text, or a number between `low` and `high`), and its
    condition.
    """

    key: str
    values: Values
    in_words: bool = False
    other: str = ""
    least: float = float("-inf")
    most: float = float("inf")
    low: float = float("-inf")
    high: float = float("inf")

    def is_asked(self, answers: Mapping[str, Any]) -> bool:
        """Whether it applies, given the answers to other questions."""
        value = answers.get(self.other) if self.other else self.least
        return isinstance(value, int | float) and self.least <= value <= self.most


def listed_questions(request: Request) -> dict[str, Question]:
    """Return the questions that the instruction lists, by key."""
    candidates = (_question(paragraph.split("\n")) for paragraph in re.split(r"\n\s*\n", request.instruction))
    return {question.key: question for question in candidates if question is not None}


def questions(request: Request) -> dict[str, Values]:
    """Return the schema fields with values, in order."""
    properties = {} if request.schema is None else request.schema.get("properties", {})
    values_by_name = {
        name: _values(field) for name, field in properties.items() if isinstance(field, Mapping)
    }
    return {name: values for name, values in values_by_name.items() if values}


def _question(lines: list[str]) -> Question | None:
    key = _KEY.match(lines[0])
    if key is None:
        return None
    values: list[Any] = []
    for line in lines[1:]:
        if span := _VALUE.fullmatch(line):
            values += _expand_span(span[1])
        elif options := _ONE_OF.fullmatch(line):
            values += [_parse_value(text) for text in options[1].split(", ")]
    in_words = any(line in _WORDS for line in lines[1:])
    if not values and not in_words and not any(line.startswith(_NUMBER) for line in lines[1:]):
        return None
    only = next((match for line in lines if (match := _ONLY.fullmatch(line))), None)
    number = next((line for line in lines[1:] if line.startswith(_NUMBER)), "")
    if number:
        values = []  # the lines label the ends of a scale without steps
    ends = _ENDS.search(number)
    other, least, most = (only[1], only[2], only[3]) if only else ("", None, None)
    limits = float(least or "-inf"), float(most or "inf")
    between = (float(ends[1]), float(ends[2])) if ends else ()
    return Question(key[1], tuple(values), in_words, other, *limits, *between)


def _expand_span(text: str) -> list[Any]:
    match = _SPAN.fullmatch(text)
    if match and 0 < int(match[2]) - int(match[1]) <= _WIDEST:
        return list(range(int(match[1]), int(match[2]) + 1))
    return [_parse_value(text)]


def _parse_value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _values(field: Mapping[str, Any]) -> Values:
    for inner in field.get("anyOf", ()):
        if isinstance(inner, Mapping) and (values := _values(inner)):
            return values
    if isinstance(field.get("enum"), list):
        return tuple(value for value in field["enum"] if value is not None)
    if field.get("type") == "boolean":
        return (False, True)
    low, high = field.get("minimum"), field.get("maximum")
    if not isinstance(low, int | float) or not isinstance(high, int | float) or not low < high:
        return ()
    if field.get("type") == "integer" and high - low <= _WIDEST:
        return tuple(range(int(low), int(high) + 1))
    return tuple(round(low + (high - low) * step / _STEPS, 3) for step in range(_STEPS + 1))

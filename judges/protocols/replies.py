"""Parsers of replies: scores on separate lines, and JSON objects. Each takes time linear in the reply.

Repeated material does not count: quoted lines (`> overall - 5`), quoted blocks (`<<<BEGIN ...>>>`) and lines
copied word for word from the prompt's material (`material_lines`) are not the reply's own scores.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.text.views import clean
from jobs.prompt import OutOfScale, Token, Tokens, Unparseable
from judges.protocols.protocol import Case, format_number
from judges.protocols.quoting import Seen

# Distinguishing a reply's own statements from repetitions: the lines that a judge was shown about a case.

_NO_DRESS = str.maketrans("", "", "*_#`")


def plain(line: str) -> str:
    """Strip Markdown and list markup from a line and fold its case."""
    return " ".join(line.lstrip(" \t*#-").translate(_NO_DRESS).casefold().split())


def material_lines(case: Case, names: Sequence[str]) -> frozenset[str]:
    """Return the lines that a judge may have been shown about a case, normalised by `plain`.

    Empty if no word of `names` occurs in the material, since then none of its lines can state a score.
    """
    if not _mentions(case, names):
        return frozenset()
    seen = Seen(case)
    turns = (*case.dialogue.turns, *case.continuation.turns)
    spoken = [line for turn in turns for line in seen.view.spoken(turn.text).split("\n")]
    around = [*seen.people(), *seen.facts()]
    endings = [tail for line in around for tail in _endings(line)]
    return frozenset(map(plain, (*spoken, *seen.transcript(turns), *around, *endings)))


def is_copy(reply: str, case: Case) -> bool:
    """Whether a JSON reply occurs verbatim, white space aside, in a text of the case."""
    compact = "".join(clean(reply).split())
    return any(compact in "".join(clean(text).split()) for text in _texts(case) if "{" in text)


def _endings(line: str) -> Iterator[str]:
    """Yield the text after each colon of a line: the value of `setting: mood: 5` is `mood: 5` or `5`."""
    while ": " in line:
        line = line.partition(": ")[2]
        yield line


def _mentions(case: Case, names: Sequence[str]) -> bool:
    text = plain(clean("\n".join(_texts(case))).replace("_", " "))
    return any(plain(name) in text for name in names)


def _texts(case: Case) -> Iterator[str]:
    dialogue = case.dialogue
    for turn in (*dialogue.turns, *case.continuation.turns):
        yield from (turn.text, turn.speaker, turn.session)
    for person in dialogue.participants:
        yield from (person.name, person.role, *person.profile, *person.aliases)
        yield from _within(person.extra)
    yield dialogue.summary
    yield from dialogue.agenda.items.values() if dialogue.agenda else ()
    yield from _within(dialogue.metadata)
    if dialogue.scenario is not None:
        yield from (secret.text for secret in dialogue.scenario.secrets)
        yield from (shared.fact for shared in dialogue.scenario.common_ground)


def _within(value: Any) -> Iterator[str]:
    """Yield the keys and values of nested metadata as texts."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _within(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _within(inner)
    else:
        yield str(value)


# The expected value of a score under a model's token probabilities, after G-Eval (Liu et al. 2023).
#
# A reply with a single value begins with a token for the value or its first digits. The probabilities of the
# likeliest tokens at that place give the probability of each value, and the expected value is the weighted
# mean. Probability of anything else is left out, and flagged if it is large.

OUTSIDE = 0.05
"""Maximum unflagged probability off the values, and maximum to leave out when two values begin alike."""
MOST = 1.02
"""Maximum sum of the probabilities at one place; above 1 because they are rounded."""
_DRESS_EXPECTED_SCORE = " \t\r\n*_\"'`.▁Ġ"


class Unclear(ValueError):
    """The probabilities do not distinguish the values; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Expected:
    """An expected value: `shares` are the values' probabilities, renormalised to 1; `outside` is the
    probability not on any value."""

    value: float
    shares: Mapping[float, float]
    outside: float


def expected(tokens: Tokens, values: Sequence[float]) -> Expected:
    """Return the expected value of a reply that is one of `values`; raise Unclear if undeterminable."""
    place = next((n for n, token in enumerate(tokens) if _plain(token.text)), None)
    if place is None:
        raise Unclear("the reply's tokens have no probabilities")
    names = {format_number(value): value for value in values}
    mass: dict[float, float] = dict.fromkeys(values, 0.0)
    likeliest = _merged(tokens[place])
    if (total := math.fsum(likeliest.values())) > MOST:
        raise Unclear(f"the probabilities in one place add up to {total:.2f}")
    for text, chance in likeliest.items():
        for value, part in _share_by_value(text, text, chance, names, tokens, place).items():
            mass[value] += part
    inside = math.fsum(mass.values())
    if inside <= 0:
        raise Unclear("no value of the scale is among the likeliest tokens")
    shares = {value: part / inside for value, part in mass.items()}
    return Expected(math.fsum(v * p for v, p in shares.items()), shares, max(0.0, 1.0 - inside))


def _plain(text: str, *, within: bool = False) -> str:
    """Return the text of a token, with ASCII digits; a space `within` a number ends it."""
    folded = unicodedata.normalize("NFKC", text)
    folded = "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character for character in folded
    )
    return folded.rstrip(_DRESS_EXPECTED_SCORE) if within else folded.strip(_DRESS_EXPECTED_SCORE)


def _merged(token: Token, *, within: bool = False) -> dict[str, float]:
    """Return the probabilities at a place by token text, with ` 4` and `4` combined.

    Different tokens may have the same text; a token listed twice counts once.
    """
    top = set(token.top)
    if token.text not in dict(token.top):
        top.add((token.text, token.logprob))
    chances: dict[str, float] = {}
    for text, logprob in sorted(top):
        plain_text = _plain(text, within=within)
        chances[plain_text] = chances.get(plain_text, 0.0) + math.exp(min(logprob, 0.0))
    return chances


def _share_by_value(
    text: str, token_text: str, chance: float, names: Mapping[str, float], tokens: Tokens, place: int
) -> dict[float, float]:
    """Distribute a text's probability over the values that it may mean; empty if it means none.

    The text ends with the text of a token at this place.
    """
    longer = [name for name in names if text and name.startswith(text) and name != text]
    before = len(text) - len(token_text)
    chances = _merged(tokens[place], within=before > 0)
    apart = [name for name in longer if name[before:] not in chances]  # a separate token would be here
    if text in names and not apart:
        return {names[text]: chance}
    if text not in names and len(longer) == 1:
        return {names[longer[0]]: chance}
    if not longer:
        return {}
    if _plain(tokens[place].text, within=before > 0) == token_text and place + 1 < len(tokens):
        return _by_next(text, chance, names, tokens, place + 1)
    if chance <= OUTSIDE:
        return {}
    readings = " or ".join([*([text] if text in names else []), *apart])
    raise Unclear(f"a token {text!r} may begin {readings}")


def _by_next(
    text: str, chance: float, names: Mapping[str, float], tokens: Tokens, place: int
) -> dict[float, float]:
    """Distribute a text's probability by the token that follows: `1` then `0`, or `1` and nothing more.

    A digit that does not lead to a value of the scale leads to another number, which is left out.
    """
    chances: dict[float, float] = {}
    continued = 0.0
    for token_text, part in _merged(tokens[place], within=True).items():
        continues = bool(token_text) and any(name.startswith(text + token_text) for name in names)
        if not continues and not token_text[:1].isdecimal():
            continue
        continued += part
        if continues:
            for value, share in _share_by_value(
                text + token_text, token_text, chance * part, names, tokens, place
            ).items():
                chances[value] = chances.get(value, 0.0) + share
    if text in names:
        chances[names[text]] = chances.get(names[text], 0.0) + chance * max(0.0, 1.0 - continued)
    return chances


_MOST = 200_000
_LONGEST_LINE = 200
"""Maximum length of a line with a score, in characters; a longer line is prose."""
_LEAD = " \t*#-.)_0123456789"
_DRESS = " \t*_"
_SEPARATORS = "-–—:="
_TEXT_DRESS = " \t\r\n*_`\"'[]"
_LONGEST_NUMBER = 40
_NUMBER = re.compile(
    r"(-?[0-9]+(?:\.[0-9]+)?)(?:\s?/\s?([0-9]+)| out of ([0-9]+)|\s?(?:points?|分))?\.?(?:\s*\([^()0-9]*\))?",
    re.I,
)
"""A number, out of another one or in points or not, and a remark in brackets that has no digit."""
_WIDE = str.maketrans("０１２３４５６７８９：＝／（）．｜", "0123456789:=/().|")
_INTEGER_TEXT = re.compile(r"[\s\[]*[0-9]{1,9}[\s\]]*")
_BEGIN, _END = "<<<BEGIN ", "<<<END "


def scores(reply: str, names: Sequence[str], values: Sequence[int], case: Case) -> dict[str, int]:
    """Return the score of each name from lines such as `fluency - 4`, in any order and case.

    Raises Unparseable if a score is missing, given twice with different values, not one of `values`, out of a
    number other than the greatest of them (`4/10`), or only repeated from the material of the case.
    """
    texts = _agreed_numbers(reply, names, (values[0], values[-1]), case)
    return {name: on_scale(name, text, values) for name, text in texts.items()}


def numbers(reply: str, names: Sequence[str], ends: tuple[int, int], case: Case) -> dict[str, float]:
    """Return the number of each name from such lines, decimals allowed; raise Unparseable as `scores` does,
    where every number between the two `ends` is a valid value."""
    return {
        name: _between(name, text, ends) for name, text in _agreed_numbers(reply, names, ends, case).items()
    }


def on_scale(name: str, text: str, values: Sequence[int]) -> int:
    """Parse a score; raise Unparseable if it is not one of `values`."""
    try:
        number = float(text)
    except ValueError:
        raise Unparseable(f"{name}: {text[:40]!r} is not a number") from None
    if number not in values:
        raise OutOfScale(f"{name}: {text[:40]} is not on the scale {values[0]} to {values[-1]}")
    return int(number)


def explained(text: str, until: str) -> str:
    """Format an explanation as the line or lines that `explanation` reads back; '' for none."""
    lines = text.strip().splitlines()
    if any(_begins(line.lstrip(" \t*#-"), until) for line in lines[1:]):
        lines = [" ".join(lines)]
    return "\n".join([f"Explanation: {lines[0]}", *lines[1:]]) if lines else ""


def explanation(reply: str, until: str) -> str:
    """Return the text after `Explanation:`, up to a line that begins with the word `until`; '' if missing."""
    lines: list[str] | None = None
    for line in limited(reply).splitlines():
        bare = line.lstrip(" \t*#-")
        if lines is None:
            head, colon, rest = bare.partition(":")
            if colon and head.rstrip(_DRESS).casefold() == "explanation":
                lines = [rest.lstrip(_DRESS)]
        elif _begins(bare, until):
            break
        else:
            lines.append(line)
    return "\n".join(lines or ()).strip()


def limited(reply: str) -> str:
    """Return the reply; raise Unparseable if it is too long."""
    if len(reply) > _MOST:
        raise Unparseable(f"the reply has {len(reply):,} characters; at most {_MOST:,} are read")
    return reply


# JSON in a reply: a document alone, in a fence or in prose. Two documents that differ, or prose that states
# another number than the document, are two answers, and neither is read.

_STRING = r'"(?:[^"\\]|\\.)*(?:"|\Z)'
_BRACKET = re.compile(rf"{_STRING}|[\[\]{{}}]", re.S)
_OPENING = re.compile(r"\{|(?:\A|```[a-zA-Z]*\s*\n)\s*\[")
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.S)
_STATED = re.compile(r"\W{1,6}(?:(?:is|at|of|as|an?|the|score|rating)\W{1,3}){0,4}(-?\d+(?:\.\d+)?)", re.I)
_VERDICT = re.compile(r"\b(?:score|rating|rate|grade|answer|verdict)\b[^\d\n]{0,24}(\d+(?:\.\d+)?)", re.I)


def json_object(reply: str, case: Case | None = None) -> dict[str, Any]:
    """Return the reply's JSON object; raise Unparseable if it has none, two that differ, or only one that is
    copied from the material of the case."""
    value = json_value(reply, case)
    if not isinstance(value, dict):
        raise Unparseable("the JSON is not an object")
    return value


def json_value(reply: str, case: Case | None = None) -> Any:
    """Return the reply's JSON, alone, in a code fence or in prose.

    Line breaks in a text and commas before a closing bracket are tolerated. Raises Unparseable if the JSON is
    not valid, an object has a field twice, there are two answers, or the only one is copied from the material
    of the case.
    """
    text = unfenced(limited(reply)).strip()
    documents, prose = _documents(text)
    own = [document for document in documents if case is None or not is_copy(document, case)]
    if documents and not own:
        raise Unparseable("the reply repeats a text of the dialogue")
    values = [_parsed(document) for document in own or [text]]
    if len({json.dumps(value, sort_keys=True) for value in values}) > 1:
        raise Unparseable(f"the reply has {len(values)} JSON answers that differ")
    if isinstance(values[0], dict) and (otherwise := _stated_otherwise(prose, values[0])):
        raise Unparseable(f"beside its JSON, the reply says: {otherwise[:80]!r}")
    return values[0]


def _documents(text: str) -> tuple[list[str], str]:
    """Split a text into its JSON documents, by their brackets, and the prose around them."""
    documents: list[str] = []
    prose: list[str] = []
    at = 0
    while opening := _OPENING.search(text, at):
        start = opening.end() - 1
        prose.append(text[at:start])
        at = _closing(text, start)
        documents.append(text[start:at])
    around = "".join([*prose, text[at:]])
    if documents and "}" in around:
        raise Unparseable("not valid JSON: a bracket is not opened")
    return documents, around


def _closing(text: str, start: int) -> int:
    """Return the position after the bracket that closes the one at `start`."""
    depth = 0
    for match in _BRACKET.finditer(text, start):
        depth += (match[0] in "[{") - (match[0] in "]}")
        if not depth and match[0] in "]}":
            return match.end()
    raise Unparseable("not valid JSON: a bracket is not closed")


def _parsed(document: str) -> Any:
    """Parse a JSON document; raise Unparseable."""
    plain_commas = _TRAILING_COMMA.sub(lambda match: match[1] or "", document)
    try:
        return json.loads(
            plain_commas, strict=False, parse_constant=_no_constant, object_pairs_hook=_no_duplicates
        )
    except Unparseable:
        raise
    except json.JSONDecodeError as error:
        raise Unparseable(f"not valid JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise Unparseable("not valid JSON: nested too deeply") from None
    except ValueError:
        raise Unparseable("not valid JSON: a number has too many digits") from None


def _stated_otherwise(prose: str, fields: Mapping[str, Any]) -> str:
    """Return words of the prose that state another number for a field, or a verdict that is in no field."""
    numbers = {
        plain(key.replace("_", " ")): number
        for key, value in fields.items()
        if (number := _number_of(value)) is not None
    }
    if not numbers or not prose.strip():
        return ""
    text = prose.replace("_", " ")
    names = "|".join(sorted(map(re.escape, numbers), key=len, reverse=True))
    for match in re.finditer(rf"(?<!\w)(?:{names})(?!\w)", text, re.I):
        stated = _STATED.match(text, match.end())
        if stated and float(stated[1]) != numbers.get(plain(match[0])):
            return text[match.start() : stated.end()]
    for match in _VERDICT.finditer(text):
        if float(match[1]) not in numbers.values():
            return match[0]
    return ""


def _number_of(value: Any) -> float | None:
    """Return the number of a field's value, also of one that is written as a text."""
    match = _NUMBER.fullmatch(str(value).strip(_TEXT_DRESS)) if not isinstance(value, bool) else None
    return float(match[1]) if match else None


def written_number(text: str, most: float | None) -> float | None:
    """Return the number in a text such as `4`, `[4]`, `4/5`, `4 out of 5` or `4 (natural)`, None if none.

    Raises OutOfScale if it is out of another number than `most`.
    """
    match = _NUMBER.fullmatch(_ascii(text).strip(_TEXT_DRESS))
    if match is None or len(match[1]) > _LONGEST_NUMBER:
        return None
    total = match[2] or match[3]
    if total and (most is None or float(total) != most):
        raise OutOfScale(f"{match[1]}/{total[:40]} is not out of {format_number(most) if most else 'any'}")
    return float(match[1])


def whole_number(data: dict[str, Any], key: str, most: int) -> int:
    """Return an integer field from 0 to `most`; raise Unparseable if it is missing or anything else."""
    if key not in data:
        raise Unparseable(f"the field {key} is missing")
    value = integer(data[key])
    if value is None:
        raise Unparseable(f"{key}: {str(data[key])[:40]!r} is not a whole number")
    if not 0 <= value <= most:
        raise Unparseable(f"{key}: {str(value)[:40]} is not between 0 and {most}, the number of turns")
    return value


def integer(value: Any, most: int | None = None) -> int | None:
    """Return a whole number, also of one that is written as a text (`"4"`, `"[4]"`); None for anything else.

    On a scale up to `most`, `"4/5"` and the other forms of `written_number` are read as well; raises
    OutOfScale as that does.
    """
    if isinstance(value, str):
        number = written_number(value, most) if most or _INTEGER_TEXT.fullmatch(value) else None
        return int(number) if number is not None and number.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _agreed_numbers(reply: str, names: Sequence[str], ends: tuple[int, int], case: Case) -> dict[str, str]:
    """Return the number of each name, as written; raise Unparseable unless there is exactly one."""
    by_name: dict[str, set[tuple[str, str]]] = {name: set() for name in names}
    echoed: set[str] = set()
    material: frozenset[str] | None = None
    for score in _scores(limited(reply), names):
        material = material_lines(case, names) if material is None else material
        if all(plain(line) in material for line in score.lines):
            echoed.add(score.name)
        else:
            by_name[score.name].add((score.number, score.total))
    return {name: _agreed_number(name, pairs, ends, echo=name in echoed) for name, pairs in by_name.items()}


def _agreed_number(
    name: str, pairs: Collection[tuple[str, str]], ends: tuple[int, int], *, echo: bool
) -> str:
    """Return the number on which all lines of a name agree."""
    if not pairs and echo:
        raise Unparseable(f"{name}: the only score repeats a line of the dialogue")
    if not pairs:
        raise Unparseable(f"no score for {name}")
    for number, total in sorted(pairs):
        if total and total.lstrip("0") != str(ends[1]):
            fraction = f"{number[:40]}/{total[:40]}"
            raise OutOfScale(f"{name}: {fraction} is not on the scale {ends[0]} to {ends[1]}")
    distinct = sorted({number for number, _ in pairs})
    if len(distinct) > 1:
        raise Unparseable(f"several scores for {name}: {', '.join(distinct)[:200]}")
    return distinct[0]


def _between(name: str, text: str, ends: tuple[int, int]) -> float:
    number = float(text)
    if not ends[0] <= number <= ends[1]:
        raise OutOfScale(f"{name}: {text[:40]} is not on the scale {ends[0]} to {ends[1]}")
    return number


@dataclass(frozen=True, slots=True)
class _WrittenScore:
    """A score as written in a reply, with its lines; `total` is '' unless it is written as `4/5`."""

    name: str
    number: str
    total: str
    lines: tuple[str, ...]


def _scores(reply: str, names: Sequence[str]) -> Iterator[_WrittenScore]:
    """Yield the scores of lines such as `name - 4`, `**Name:** 4`, `- name = 4/5`, `name: 4 out of 5`,
    `name: 4 (natural)` and `| name | 4 |`.

    A number may stand on the line after its name.
    """
    waiting, head = "", ""
    for line in _own_lines(reply):
        if waiting:
            before, waiting = waiting, ""
            if value := _value(line):
                yield _WrittenScore(before, *value, (head, line))
                continue
        if row := _row(line, names):
            yield row
            continue
        bare = _ascii(line).lstrip(_LEAD)
        name = next((name for name in names if _begins(bare, name)), "")
        rest = bare[len(name) :].lstrip(_DRESS)
        if not name or not rest or rest[0] not in _SEPARATORS:
            continue
        remainder = rest[1:].strip(_DRESS)
        if not remainder:
            waiting, head = name, line
        elif value := _value(remainder):
            yield _WrittenScore(name, *value, (line,))


def _row(line: str, names: Sequence[str]) -> _WrittenScore | None:
    """Return the score of a table's row, `| name | 4 | remark |`; None if a remark has a digit too."""
    cells = [cell.strip(_DRESS) for cell in _ascii(line).strip().strip("|").split("|")]
    if not line.lstrip().startswith("|") or len(cells) < 2:
        return None
    name = next((name for name in names if cells[0].casefold() == name.casefold()), "")
    value = _value(cells[1]) if name else None
    if value is None or any(character.isdigit() for cell in cells[2:] for character in cell):
        return None
    return _WrittenScore(name, *value, (line,))


def _own_lines(reply: str) -> Iterator[str]:
    """Yield the lines that may state a score: not empty, not long, and not inside a quoted block."""
    quoted = False
    for line in reply.splitlines():
        if len(line) > _LONGEST_LINE:
            continue
        bare = line.strip()
        if bare.startswith((_BEGIN, _END)):
            quoted = bare.startswith(_BEGIN)
        elif bare and not quoted:
            yield bare


def _value(text: str) -> tuple[str, str] | None:
    match = _NUMBER.fullmatch(_ascii(text).strip(_DRESS + "."))
    return (match[1], match[2] or match[3] or "") if match else None


def _ascii(text: str) -> str:
    """Return a text with the digits, colons and strokes of Chinese typesetting in their ASCII form."""
    return text.translate(_WIDE)


def _begins(text: str, word: str) -> bool:
    """Whether a text begins with a word, in any case."""
    rest = text[len(word) : len(word) + 1]
    return text[: len(word)].casefold() == word.casefold() and not rest.isalnum()


def unfenced(reply: str) -> str:
    """Return the text inside a code fence that encloses the whole reply, or the reply."""
    text = reply.strip()
    opening, _, rest = text.partition("\n")
    label = opening.rstrip()[3:]
    fenced = text.startswith("```") and text.endswith("```") and rest and (not label or label.isalpha())
    return rest[:-3] if fenced else reply


def _no_constant(text: str) -> None:
    raise Unparseable(f"not valid JSON: {text}")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise Unparseable(f"the field {key[:80]} is there twice")
        fields[key] = value
    return fields

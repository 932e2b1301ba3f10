"""Dialogues in one cell of a table: JSON messages, lines of `Ana: ...`, or texts between marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from annotation.formats.header_words import SPEAKER_WORDS, tokens_of
from annotation.formats.nested_values import parse_nested
from annotation.formats.source import ImportProblem
from annotation.formats.table_file import Cell

USER, ASSISTANT = "user", "assistant"
"""Speakers of texts that name none, in turn."""
SAID = re.compile(r"^\s*(?:\[[^\]]{1,40}\]\s*)?([^:：\n]{1,60})[:：][ \t]*(.*)$", re.DOTALL)
"""A line of a transcript: `Ana: Shall we start?`."""
END_OF_TURN = re.compile(
    r"__eo[ut]__|\|EO[MTU]\||\[(?:EOT|EOU|SEP|TURN)\]|<(?:/s|eot|eou|sep|turn)>|<\|(?:eot|eou|sep|endofturn)\|>"
)
"""Marks between the turns of a dialogue in one text."""
MOST_NAME_WORDS = 4
ADDRESS = re.compile(r"https?", re.IGNORECASE)


def turns_of_transcript(cell: Cell) -> list[tuple[str, str]]:
    """Return (speaker, text) of a dialogue in one cell: a list, lines of `Ana: ...`, or texts between marks.

    Lines without a speaker belong to the line before them; texts without speakers alternate between two.
    """
    if isinstance(cell, list):
        return _turns_of_texts([text for text in cell if isinstance(text, str)])
    text = (cell or "").strip()
    if text.startswith("["):
        try:
            return _messages(parse_nested(text))
        except (ValueError, TypeError):
            pass  # a transcript may begin with a bracket
    if END_OF_TURN.search(text):
        return _turns_of_texts([part for piece in END_OF_TURN.split(text) if (part := piece.strip())])
    turns: list[tuple[str, str]] = []
    for line in text.splitlines():
        match = SAID.match(line)
        if match:
            turns.append((match[1].strip(), match[2].strip()))
        elif turns and line.strip():
            turns[-1] = (turns[-1][0], f"{turns[-1][1]}\n{line.strip()}".strip())
        elif line.strip():
            raise ImportProblem(f"{line.strip()[:40]!r} does not say who speaks: write `Ana: ...`")
    return [turn for turn in turns if turn[1]]


def names_speakers(texts: Sequence[str]) -> bool:
    """Whether each text says who speaks, and few do: `doctor: How are you?`, or a pair with the speaker."""
    pairs = [pair for text in texts if (pair := _pair(text))]
    names = [speaker for speaker, _ in pairs] if pairs else _names_before_colons(texts)
    return (
        len(names) == len(texts) > 0
        and len(set(names)) <= max(2, len(texts) // 2)
        and all(map(_is_name, names))
    )


def _names_before_colons(texts: Sequence[str]) -> list[str]:
    return [match[1].strip() for text in texts if (match := SAID.match(text)) and match[2].strip()]


def _is_name(text: str) -> bool:
    is_known = any({token.base, token.word} & SPEAKER_WORDS for token in tokens_of(text))
    is_short = len(text.split()) <= MOST_NAME_WORDS and text[-1:] not in ".?!,。？！"
    return is_short and (is_known or text[:1] == text[:1].upper()) and not ADDRESS.fullmatch(text)


def _pair(text: str) -> tuple[str, str] | None:
    """Return the two texts of a list in a list, as its cell has it."""
    match parse_nested(text) if text.startswith(('["', "['")) else None:
        case [str(first), str(second)] if first.strip():
            return first.strip(), second.strip()
    return None


def is_pair(cell: Cell) -> bool:
    """Whether a text is a list of two texts."""
    return isinstance(cell, str) and _pair(cell) is not None


def _turns_of_texts(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the turns of texts that say who speaks, of pairs of a user's and an assistant's, or in turn."""
    pairs = [pair for text in texts if (pair := _pair(text))]
    if texts and len(pairs) == len(texts):
        if names_speakers(texts):
            return pairs
        turns = [turn for user, answer in pairs for turn in ((USER, user), (ASSISTANT, answer))]
        return [turn for turn in turns if turn[1]]
    if names_speakers(texts):
        return [(match[1].strip(), match[2].strip()) for text in texts if (match := SAID.match(text))]
    return [((USER, ASSISTANT)[place % 2], text) for place, text in enumerate(texts)]


SPEAKER_KEYS = ("speaker", "role", "from", "author", "name", "sender")
TEXT_KEYS = ("text", "content", "value", "utterance", "message")


def _messages(messages: Any) -> list[tuple[str, str]]:
    """Return the turns of a JSON list of messages or texts; ValueError for any other list."""
    if all(isinstance(message, str) for message in messages):
        return _turns_of_texts(messages)
    turns = []
    for message in messages:
        if not isinstance(message, dict):
            raise ValueError("not a list of messages")
        speaker = next((message[key] for key in SPEAKER_KEYS if isinstance(message.get(key), str)), "")
        text = next((message[key] for key in TEXT_KEYS if isinstance(message.get(key), str)), "")
        if not speaker or not text:
            raise ValueError("not a list of messages")
        turns.append((speaker, text))
    return turns

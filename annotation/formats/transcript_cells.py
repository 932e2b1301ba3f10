"""Dialogues in one cell of a table: JSON messages, lines of `Ana: ...`, or texts between `__eou__`."""

from __future__ import annotations

import json
import re
from typing import Any

from annotation.formats.source import ImportProblem
from annotation.formats.table_file import Cell

USER, ASSISTANT = "user", "assistant"
"""Speakers of texts that name none, in turn."""
SAID = re.compile(r"^\s*(?:\[[^\]]{1,40}\]\s*)?([^:\n]{1,60}):[ \t]*(.*)$")
"""A line of a transcript: `Ana: Shall we start?`."""
END_OF_TURN = "__eou__"


def turns_of_transcript(cell: Cell) -> list[tuple[str, str]]:
    """Return (speaker, text) of a dialogue in one cell: JSON messages, `Ana: ...` lines, or `__eou__`.

    Lines without a speaker belong to the line before them; texts without speakers alternate between two.
    """
    if isinstance(cell, list):
        texts = [text for text in cell if isinstance(text, str)]
        return [((USER, ASSISTANT)[n % 2], text) for n, text in enumerate(texts)]
    text = (cell or "").strip()
    if text.startswith("["):
        try:
            return _messages(json.loads(text))
        except (ValueError, RecursionError):
            pass  # a transcript may begin with a bracket
    if "__eou__" in text:
        texts = [part for piece in text.split(END_OF_TURN) if (part := piece.strip())]
        return [((USER, ASSISTANT)[n % 2], part) for n, part in enumerate(texts)]
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


SPEAKER_KEYS = ("speaker", "role", "from", "author", "name", "sender")
TEXT_KEYS = ("text", "content", "value", "utterance", "message")


def _messages(messages: Any) -> list[tuple[str, str]]:
    """Return the turns of a JSON list of messages or texts; ValueError for any other list."""
    turns = []
    for index, message in enumerate(messages):
        if isinstance(message, str):
            turns.append(((USER, ASSISTANT)[index % 2], message))
            continue
        if not isinstance(message, dict):
            raise ValueError("not a list of messages")
        speaker = next((message[key] for key in SPEAKER_KEYS if isinstance(message.get(key), str)), "")
        text = next((message[key] for key in TEXT_KEYS if isinstance(message.get(key), str)), "")
        if not speaker or not text:
            raise ValueError("not a list of messages")
        turns.append((speaker, text))
    return turns

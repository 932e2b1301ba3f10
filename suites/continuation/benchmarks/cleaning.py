"""Cleaning the utterances of a verbatim transcript: words that nobody would write are removed.

Utterances are sent in batches. Nothing may be added: an utterance whose new text has a word that the old one
lacks, or has more often, keeps its original and the flag `not_a_reduction`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.records import Dialogue
from annotation.text import words as tokens
from annotation.text.views import clean
from jobs.prompt import TEXT, Prompt, Unparseable, list_schema
from judges.protocols.quoting import quote
from judges.protocols.replies import json_object
from suites.continuation.benchmarks.summary import numbered, spoken
from suites.continuation.generators.generator import (
    Done,
    Generator,
    Reply,
    Setting,
    Settings,
    State,
    Value,
    filled,
)

# Words of utterances, for comparing a cleaned utterance with its original.

_JOINTS = re.compile(r"['’\-_]+")


def words(text: str) -> list[str]:
    """Return the words of a text in order, folded: without case, punctuation and compatibility forms.

    An apostrophe or a hyphen ends a word, so that `uh-huh` and `uh huh` have the same words.
    """
    return [part for token in tokens.words(text) for part in _JOINTS.split(token) if part]


def added(old: str, new: str) -> list[str]:
    """Return the words that a new text has more often than the old one, in order; none for a reduction."""
    remaining = Counter(words(old))
    new_words: list[str] = []
    for word in words(new):
        if remaining[word]:
            remaining[word] -= 1
        else:
            new_words.append(word)
    return new_words


def counted(texts: Iterable[str]) -> int:
    """Return the total number of words of some texts."""
    return sum(len(words(text)) for text in texts)


NOT_A_REDUCTION = "not_a_reduction"
LIST = "utterances"
ENTRY = {"number", "text"}
SCHEMA = list_schema(LIST, {"number": {"type": "integer"}, "text": TEXT})
_FENCE = re.compile(r"\A```[a-z]*\s*\n(.*)```\Z", re.S)


class CocoevalCleaning(Generator):
    """All batches are sent at once, as the prompts of one step.

    State: `utterances` ([position, text] of every turn with text), `batch`, and after the replies the new
    `texts` and the positions `kept` unchanged. Result: {"turns": [{"number", "text"}], "not_a_reduction":
    [numbers]}, where a number is a turn's position in its conversation; only changed turns are listed.
    """

    key = "cocoeval_cleaning"
    title = "CoCoEval: cleaning the utterances of a verbatim transcript"
    produces = "text"
    settings = (Setting("batch", 20, "Utterances that are cleaned in one request.", low=1, high=20),)

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model and the task."""
        return f"{model} cleaning"

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Keep the texts of all turns with text."""
        utterances = [[place, turn.text] for place, turn in enumerate(dialogue.turns) if spoken(turn)]
        return {"utterances": utterances, "batch": settings["batch"]}

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return a prompt for each batch, or the cleaned texts."""
        if "texts" in state or not state["utterances"]:
            return _done(state)
        return [_prompt(batch) for batch in _batches(state)]

    def check(self, state: State, part: int, reply: str) -> None:
        """Parse the reply to one batch."""
        read(reply, [number for number, _ in _batches(state)[part]])

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Keep each new text that is a reduction of the old one."""
        texts: list[list[Any]] = []
        unreduced: list[int] = []
        for batch, reply in zip(_batches(state), replies, strict=True):
            new = read(reply.text, [number for number, _ in batch])
            for number, old in batch:
                if added(clean(old), new[number]):
                    unreduced.append(number)
                elif new[number] != clean(old).strip():
                    texts.append([number, new[number]])
        return {**state, "texts": texts, "kept": unreduced}

    def pretend(self, state: State) -> Sequence[str]:
        """Return the texts unchanged."""
        return [
            json.dumps({LIST: [{"number": n, "text": clean(t)} for n, t in batch]}, ensure_ascii=False)
            for batch in _batches(state)
        ]

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Refuse a conversation without text."""
        return "" if any(map(spoken, dialogue.turns)) else "nothing is said in it"


def read(reply: str, numbers: Sequence[int]) -> dict[int, str]:
    """Return the new text by number, stripped of white space.

    The reply is a list of {"number", "text"}, alone or as the field `utterances` of an object. Raises
    Unparseable where an entry has another form, or the numbers are not exactly the requested ones.
    """
    data = json_object(_as_object(reply))
    entries = data.get(LIST)
    if not isinstance(entries, list) or set(data) != {LIST}:
        raise Unparseable(f"a list of utterances, or one field {LIST} with it, is needed")
    texts: dict[int, str] = {}
    for entry in entries:
        number, text = _entry(entry)
        if number in texts:
            raise Unparseable(f"utterance {number} is there twice")
        texts[number] = text
    if missing := [number for number in numbers if number not in texts]:
        raise Unparseable(f"utterance {missing[0]} is missing")
    if extra := sorted(set(texts) - set(numbers)):
        raise Unparseable(f"utterance {extra[0]} was not asked for")
    return texts


def _entry(entry: Any) -> tuple[int, str]:
    if not isinstance(entry, dict) or set(entry) != ENTRY:
        raise Unparseable("an entry is not an object with number and text alone")
    number, text = entry["number"], entry["text"]
    if not isinstance(number, int) or isinstance(number, bool):
        raise Unparseable(f"number: {str(number)[:40]!r} is not a whole number")
    if not isinstance(text, str):
        raise Unparseable(f"utterance {number}: its text is not a text")
    return number, clean(text).strip()


def _as_object(reply: str) -> str:
    """Return a bare list, fenced or not, as the only field of an object."""
    bare = reply.strip()
    fenced = _FENCE.match(bare)
    bare = fenced[1].strip() if fenced else bare
    return f'{{"{LIST}": {bare}}}' if bare.startswith("[") else reply


def _batches(state: State) -> list[list[list[Any]]]:
    utterances, size = state["utterances"], state["batch"]
    return [utterances[start : start + size] for start in range(0, len(utterances), size)]


def _prompt(batch: Sequence[Sequence[Any]]) -> Prompt:
    lines = [numbered(number, text) for number, text in batch]
    numbers = ", ".join(str(number) for number, _ in batch)
    return filled(
        "cocoeval_cleaning", 1, {"utterances": quote("UTTERANCES", lines), "numbers": numbers}, SCHEMA
    )


def _done(state: State) -> Done:
    unreduced = state.get("kept", [])
    result = {
        "turns": [{"number": number, "text": text} for number, text in state.get("texts", [])],
        NOT_A_REDUCTION: unreduced,
    }
    return Done(text=result, flags=(f"{NOT_A_REDUCTION}: {len(unreduced)}",) if unreduced else ())

"""The summary of a conversation up to a cut: one paragraph about everything before the visible turns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from annotation.records import Dialogue, Participant, Turn
from annotation.text.context import Names, happening, heading
from annotation.text.views import Blind, clean
from jobs.prompt import TEXT, Prompt, Unparseable, object_schema
from judges.protocols.quoting import quote
from judges.protocols.replies import json_object
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

# Turns of a source conversation in prompts, as lines to quote.

MORE = "      "
"""Indent of a turn's further lines."""


def spoken(turn: Turn) -> bool:
    """Whether a turn has spoken text, and so counts as a turn of a benchmark."""
    return turn.act in ("message", "reaction") and bool(turn.text.strip())


def speakers(turns: Iterable[Turn]) -> list[str]:
    """Return the ids of the people who speak, in order of first appearance."""
    return list(dict.fromkeys(turn.speaker for turn in turns if spoken(turn)))


def by_id(dialogue: Dialogue) -> Names:
    """Return the names for prompts that need ids: each person's id, on one line."""
    participants = [Participant(person.id) for person in dialogue.participants]
    return _met(Names(participants, Blind()), dialogue)


def by_name(dialogue: Dialogue) -> Names:
    """Return the names for other prompts: each person's name, else the id."""
    return _met(Names(dialogue.participants, Blind()), dialogue)


def _met(names: Names, dialogue: Dialogue) -> Names:
    names.meet(turn.speaker for turn in dialogue.turns)
    return names


def transcript(turns: Sequence[Turn], names: Names) -> list[str]:
    """Return one entry per turn: a heading where session or date change, then the speaker and the text."""
    entries: list[str] = []
    for turn, before in zip(turns, (None, *turns), strict=False):
        above = heading(turn, before)
        first, *rest = happening(turn, names, clean(turn.text)).line().split("\n")
        lines = [*([f"== {above} =="] if above else []), first, *(MORE + line for line in rest)]
        entries.append("\n".join(lines))
    return entries


def numbered(number: int, text: str) -> str:
    """Return an utterance with its number, further lines indented."""
    first, *rest = clean(text).split("\n")
    return "\n".join([f"[{number}] {first}", *(MORE + line for line in rest)])


NO_SUMMARY = "no_summary"
LONGEST = 10_000
SCHEMA = object_schema({"summary": TEXT})


class CocoevalSummary(Generator):
    """Summarises in one call. State: the `lines` to summarise, and the `summary` after the reply."""

    key = "cocoeval_summary"
    title = "CoCoEval: a summary of a conversation up to a cut, one paragraph"
    produces = "text"
    settings = (
        Setting(
            "until",
            0,
            "How many turns with text are summed up, from the first; 0 for all.",
            low=-1,
            high=10_000_000,
            varies=True,
        ),
    )

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model and the task."""
        return f"{model} summaries"

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Keep the first `until` turns with text, as lines; 0 means all turns, -1 none."""
        turns = [turn for turn in dialogue.turns if spoken(turn)]
        until = int(settings["until"])
        window = turns[:until] if until > 0 else turns if until == 0 else []
        return {"lines": transcript(window, by_name(dialogue))}

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the prompt, or the summary; an empty one where there are no turns to summarise."""
        if "summary" in state:
            return Done(text=state["summary"])
        if not state["lines"]:
            return Done(text="", flags=(NO_SUMMARY,))
        values = {"conversation": quote("CONVERSATION", state["lines"])}
        return [filled("cocoeval_summary", 1, values, SCHEMA)]

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Keep the paragraph."""
        return {**state, "summary": read(replies[0].text)}

    def pretend(self, state: State) -> Sequence[str]:
        """Return a paragraph of usual length."""
        return [json.dumps({"summary": "They went through what was open. " * 25})]


def read(reply: str) -> str:
    """Return the one paragraph of a reply; raise Unparseable for none, several, or a very long one."""
    data = json_object(reply)
    summary = data.get("summary")
    if not isinstance(summary, str) or set(data) != {"summary"}:
        raise Unparseable("one field summary with a text is needed")
    paragraphs = [line for line in clean(summary).split("\n") if line.strip()]
    if len(paragraphs) != 1:
        raise Unparseable("the summary is empty" if not paragraphs else "the summary is not one paragraph")
    text = " ".join(paragraphs[0].split())
    if len(text) > LONGEST:
        raise Unparseable(f"the summary has {len(text):,} characters, not at most {LONGEST:,}")
    return text

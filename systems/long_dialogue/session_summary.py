"""What a model's memory keeps of a session: a summary of all that the main character heard in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from annotation.records import Dialogue
from jobs.prompt import Prompt
from judges.protocols.quoting import quote
from systems.benchmarks.summary import SCHEMA, read
from systems.generators.base import Done, Generator, Reply, Setting, Settings, State, Value, filled
from systems.long_dialogue.heard import Heard
from systems.long_dialogue.material import text_digest

TEXT = "text"
NO_SESSION = "no session in which its main character hears this text"


class DialsimSessionSummary(Generator):
    """One call. The condition names the session by the `text_digest` of what is heard in it, so that it is
    summed up once, whoever asks. It is found fastest in a dialogue that has this one session alone.

    State: the `listener`, the `lines` that are summed up, and the `summary` once it came.
    """

    key = "dialsim_session_summary"
    title = "DialSim: a summary of a session as the main character heard it"
    produces = "text"
    settings = (
        Setting(TEXT, "", "The SHA-256 of what is heard in the session, in hexadecimal.", varies=True),
    )

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model and what it does."""
        return f"{model} session summaries"

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """A script is needed that has the session."""
        if dialogue.script is None:
            return "it is no script of dated sessions"
        return "" if _lines(dialogue, str(settings[TEXT])) else NO_SESSION

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Keep what is heard in the session; its date is no part of what is summed up."""
        return _lines(dialogue, str(settings[TEXT]))

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the one prompt, or the summary."""
        if "summary" in state:
            return Done(text=state["summary"])
        values = {
            "listener": quote("LISTENER", [state["listener"]]),
            "session": quote("SESSION", state["lines"]),
        }
        return [filled("dialsim_session_summary", 1, values, SCHEMA)]

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Keep the paragraph."""
        return {**state, "summary": read(replies[0].text)}

    def pretend(self, state: State) -> Sequence[str]:
        """Return a paragraph of usual length."""
        return [json.dumps({"summary": "They talked about who lives where. " * 15})]

    def calls(self, settings: Settings) -> int:
        """One call."""
        return 1


def _lines(dialogue: Dialogue, digest: str) -> State:
    """Return the first state for the session that is heard as this text, {} where there is none."""
    heard = Heard(dialogue)
    for number in heard.numbers:
        text = heard.text(number)
        if text and text_digest(text) == digest:
            return {"listener": heard.name(heard.sessions.main), "lines": text.split("\n")}
    return {}

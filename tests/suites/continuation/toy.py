"""A generator for tests of the engine: it writes `turns` turns, one per step, each in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from annotation.records import Dialogue, Turn
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import Response, failure, ok
from jobs.prompt import Prompt, Unparseable
from suites.continuation.generators.generator import Done, Failed, Generator, Reply, Setting, Settings, State


class Toy(Generator):
    """Writes `turns` turns. With `parts` above 1, a step sends several prompts at once."""

    key = "toy"
    title = "A toy"
    produces = "rollout"
    settings = (
        Setting("turns", 3, "turns to write", low=1, high=1000),
        Setting("parts", 1, "prompts of a step", low=1, high=10),
        Setting("tone", "plain", "how it sounds", choices=("plain", "loud"), varies=True),
    )

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        first = dialogue.turns[0].text if dialogue.turns else ""
        return {"left": settings["turns"], "parts": settings["parts"], "first": first, "said": []}

    def request(self, state: State) -> Sequence[Prompt] | Done:
        if not state["left"]:
            return Done(tuple(Turn("B", text) for text in state["said"]), flags=("toy_flag",))
        told = f"{state['first']} | left {state['left']}"
        return [Prompt("", f"say {told} part {part}") for part in range(state["parts"])]

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        said = [_said(reply.text) for reply in replies]
        if "too much" in said:
            raise Failed("it said too much")
        return {**state, "left": state["left"] - 1, "said": [*state["said"], *said]}

    def check(self, state: State, part: int, reply: str) -> None:
        _said(reply)

    def pretend(self, state: State) -> Sequence[str]:
        return [json.dumps({"say": "some words as usual"})] * state["parts"]

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        return "" if dialogue.turns else "it has no turns"


class Sharing(Toy):
    """One static turn per dialogue; `batch` dialogues share a request."""

    key = "toy_sharing"
    title = "A toy that shares requests"
    produces = "static"
    settings = (Setting("batch", 5, "dialogues of a request", low=1, high=20),)

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        return {"first": dialogue.turns[0].text, "at": len(dialogue.turns) - 1, "said": None}

    def request(self, state: State) -> Sequence[Prompt] | Done:
        if state["said"] is not None:
            own = Turn("A", "what was really said", at=state["at"])
            return Done((Turn("B", state["said"], at=state["at"]),), people=(own,))
        return [Prompt("", f"answer 1: {state['first']}")]

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        return {**state, "said": _said(replies[0].text)}

    def pretend(self, state: State) -> Sequence[str]:
        return [json.dumps({"say": "some words"})]

    def together(self, settings: Settings) -> int:
        return int(settings["batch"])

    def shared(self, states: Sequence[State]) -> Prompt:
        lines = [f"answer {number}: {state['first']}" for number, state in enumerate(states, start=1)]
        return Prompt("", "\n".join(lines))

    def apart(self, states: Sequence[State], reply: str) -> Sequence[str | None]:
        told = json.loads(reply) if reply.startswith("{") else None
        if not isinstance(told, Mapping):
            raise Unparseable("not an object")
        own = [told.get(str(number)) for number in range(1, len(states) + 1)]
        return [None if one is None else json.dumps({"say": one}) for one in own]


class Text(Toy):
    """Writes a text instead of a continuation."""

    key = "toy_text"
    title = "A toy of texts"
    produces = "text"
    settings = ()

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        return super().begin(dialogue, {"turns": 1, "parts": 1})

    def request(self, state: State) -> Sequence[Prompt] | Done:
        asked = super().request(state)
        return Done(text={"said": state["said"]}) if isinstance(asked, Done) else asked


TOYS: dict[str, Generator] = {one.key: one for one in (Toy(), Sharing(), Text())}


def _said(reply: str) -> str:
    try:
        told = json.loads(reply)
    except ValueError:
        raise Unparseable("not JSON") from None
    if not isinstance(told, dict) or not isinstance(told.get("say"), str):
        raise Unparseable("it says nothing")
    return str(told["say"])


class ToyModel:
    """Answers the toys. `instead` maps a word of a prompt to replies that replace the usual reply."""

    def __init__(self) -> None:
        self.instead: dict[str, list[str]] = {}
        self.asked: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.refused: str = ""
        self._lock = Lock()
        self._server = LocalServer(self._respond)
        self.url = self._server.url

    def __enter__(self) -> ToyModel:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    def _respond(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Response:
        if self.refused and self.refused in body:
            return failure(400, f"{self.refused} is not supported", "unsupported_parameter", self.refused)
        prompt = body["messages"][-1]["content"]
        with self._lock:
            self.asked.append(prompt)
            self.bodies.append(body)
            word = next((word for word in self.instead if word in prompt and self.instead[word]), None)
            text = self.instead[word].pop(0) if word else _usual(prompt)
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split())}
        message = {"role": "assistant", "content": text}
        return ok({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})


def _usual(prompt: str) -> str:
    found = re.findall(r"^answer (\d+): (.*)$", prompt, re.M)
    if len(found) > 1:
        return json.dumps({number: f"to {text}" for number, text in found})
    return json.dumps({"say": f"reply to {prompt}"})

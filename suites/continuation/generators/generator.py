"""Interface of generators: pure functions that write continuations, texts or records with a model.

  begin(dialogue, settings) -> State             kept between steps, plain JSON
  request(State)            -> prompts, or Done  one step is one request, of one or several prompts
  receive(State, replies)   -> State             after the step was answered; raises Unparseable or Failed

A generator uses neither database nor network. Its state is stored after every step, so that no answered
prompt is ever sent again; the state holds everything that later steps need, and the same state always leads
to the same prompts. Material is quoted as for judges (`judges.protocols.quoting`).

ValueError
  Unparseable      (jobs.prompt) the reply does not have the requested format: it is requested once more
  Failed           the production ends here, and a retry would not help: a limit was exceeded
  WrongSettings    settings that do not go together; the message names them, and the remedy
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Generic, Literal, TypeVar

from annotation.formats.fields import ID_LIMIT
from annotation.records import Dialogue, Turn
from annotation.text.views import clean, one_line
from jobs.prompt import Prompt, Unparseable, about_tokens
from judges.protocols.replies import json_value

# Prompts of generators: files `prompts/<name>_v<version>.txt`, in the same format as those of judges.
#
# The system and the user part are separated by a line `=== user ===`; `{{name}}` is a placeholder. A released
# file is never edited: a change is a new version, because continuations refer to it.

FOLDER = Path(__file__).resolve().parent.parent / "prompts"
SEPARATOR = "\n=== user ===\n"
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@cache
def released(name: str, version: int, folder: Path = FOLDER) -> tuple[str, str]:
    """Return the system and the user part of a prompt text shipped with Concord; the first may be empty."""
    text = (folder / f"{name}_v{version}.txt").read_text(encoding="utf-8")
    system, user = ("\n" + text).split(SEPARATOR)
    return system.strip(), user.strip()


def filled(
    name: str,
    version: int,
    values: Mapping[str, str],
    schema: Mapping[str, Any] | None = None,
    *,
    folder: Path = FOLDER,
) -> Prompt:
    """Return a prompt with its placeholders filled, in one pass: values are not searched for placeholders.

    Raises KeyError for a placeholder without a value.
    """
    system, user = (
        _PLACE.sub(lambda place: values[place[1]], part) for part in released(name, version, folder)
    )
    return Prompt(system, user, schema)


# Strict parsing of JSON replies: lists, fields and texts.


def array(reply: str) -> list[Any]:
    """Return a reply's JSON array, or the only value of its object; raise Unparseable if it is no array."""
    value = json_value(reply)
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    if not isinstance(value, list):
        raise Unparseable("the reply is neither a JSON array nor an object with one key that holds one")
    return value


def fields(entry: Any, names: Sequence[str], where: str) -> dict[str, Any]:
    """Return an object that has all the fields; raise Unparseable for another value."""
    if not isinstance(entry, dict):
        raise Unparseable(f"{where} is not a JSON object")
    if missing := [name for name in names if name not in entry]:
        raise Unparseable(f"{where}: the field {missing[0]} is missing")
    return entry


def only(entry: Mapping[str, Any], names: Collection[str], where: str) -> None:
    """Raise Unparseable for an unexpected field."""
    if unknown := sorted(set(entry) - set(names)):
        raise Unparseable(f"{where}: there is no field {unknown[0][:40]!r} in the form that was asked for")


def message(value: Any, where: str) -> str:
    """Return a text that is not empty and can be stored; raise Unparseable for anything else."""
    if not isinstance(value, str):
        raise Unparseable(f"{where} is not a text")
    if not clean(value).strip():
        raise Unparseable(f"{where} is empty")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise Unparseable(f"{where} holds characters that are no text")
    return value


def speaker(value: Any, where: str) -> str:
    """Return a name on one line; raise Unparseable for an empty or too long one."""
    name = one_line(message(value, where))
    if len(name) > ID_LIMIT:
        raise Unparseable(f"{where} has {len(name):,} characters; a name has at most {ID_LIMIT}")
    return name


Produces = Literal["rollout", "static", "text", "record"]
Value = bool | int | str
Settings = Mapping[str, Value]
"""A value for each of a generator's settings."""
State = dict[str, Any]
"""Plain JSON."""


class Failed(ValueError):
    """The production cannot be finished; the message gives the reason in one line."""


class WrongSettings(ValueError):
    """Invalid settings; the message names the setting and its possible values."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a generator: its default (which gives the type), a help sentence, and its limits.

    A setting that `varies` is part of the condition, by which tables are grouped; the others are part of the
    system's identity.
    """

    name: str
    default: Value
    help: str
    low: int | None = None
    high: int | None = None
    choices: tuple[Value, ...] = ()
    varies: bool = False

    def checked(self, value: Any) -> Value:
        """Return the parsed value; raise WrongSettings for an invalid one."""
        parsed = self._read(value)
        if type(parsed) is not type(self.default):
            raise WrongSettings(f"{self.name}: {str(value)[:40]!r} is not {_kind(self.default)}.")
        if self.choices and parsed not in self.choices:
            raise WrongSettings(
                f"{self.name}: {str(value)[:40]!r} is not one of {', '.join(map(str, self.choices))}."
            )
        if isinstance(parsed, str) and (len(parsed) > 2000 or "\x00" in parsed):
            raise WrongSettings(f"{self.name}: a text of at most 2,000 characters is needed.")
        if isinstance(parsed, int) and not isinstance(parsed, bool):
            self._bounded(parsed)
        return parsed

    def _read(self, value: Any) -> Any:
        if not isinstance(value, str) or isinstance(self.default, str):
            return value
        text = value.strip()
        if isinstance(self.default, bool):
            return {"yes": True, "true": True, "no": False, "false": False}.get(text.lower(), value)
        return int(text) if text.removeprefix("-").isascii() and text.removeprefix("-").isdigit() else value

    def _bounded(self, value: int) -> None:
        low, high = self.low, self.high
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = f"at least {low}" if high is None else f"between {low} and {high:,}"
            raise WrongSettings(f"{self.name} must be {bounds}, not {value}.")


def _kind(default: Value) -> str:
    if isinstance(default, bool):
        return "yes or no"
    return "a whole number" if isinstance(default, int) else "a text"


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply to one prompt.

    Tokens are None where the server does not report them; `attempts` counts the paid completions up to the
    first readable one, `seconds` is the duration of the last of them (None where not measured). `error` is
    the reason for a missing reply, for generators that take failures.
    """

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    attempts: int = 1
    seconds: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class MadeRecord:
    """A record of the dialogue drafted by a generator: its kind, key, and content in stored form.

    `supersedes` is the key of the record it replaces, '' for a new one. If the key is taken by another
    content, a number is added on writing.
    """

    kind: str
    key: str
    content: Mapping[str, Any]
    supersedes: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """Result of a production.

    `turns` are those of a rollout or a static continuation (then with their `at`). `people` are the
    dialogue's own turns at the same points, stored as a static continuation of system `human` unless it
    exists. `text` is the result of a generator of texts: plain JSON. `records` are the drafts of a generator
    of records. `flags` mark oddities to look at.
    """

    turns: tuple[Turn, ...] = ()
    people: tuple[Turn, ...] = ()
    text: Any = None
    flags: tuple[str, ...] = ()
    records: tuple[MadeRecord, ...] = ()


class Generator(ABC):
    """Base class of generators: one file each, listed in `GENERATORS`.

    `version` is raised with every change of prompts or of parsing, since it is part of a system's identity.
    """

    key: ClassVar[str]
    version: ClassVar[int] = 1
    title: ClassVar[str]
    produces: ClassVar[Produces]
    settings: ClassVar[tuple[Setting, ...]] = ()
    identity: ClassVar[str] = ""
    """Key in a system's identity: the generator's own, unless several generators are tasks of one system."""
    condition: ClassVar[Mapping[str, Value]] = {}
    """Fixed entries of its condition, such as that the speaker is given."""
    needs: ClassVar[str] = ""
    """Kind of material it reads beside its state, '' for none; it then works only when `bound` to it."""
    takes_failures: ClassVar[bool] = False
    """Whether a failed call counts as a reply, with its `error`, so that the production continues."""

    @property
    def continues(self) -> bool:
        """Whether it produces continuations of a system."""
        return self.produces in ("rollout", "static")

    def bound(self, material: Any) -> Generator:
        """Return the generator bound to the material of one dialogue, which states do not hold."""
        return self

    def rough(self) -> Generator:
        """Return a version for estimates: prompts of the same number and length, made faster."""
        return self

    def calls_left(self, state: State) -> int | None:
        """Return the number of calls left from a state on, None where only a simulation can tell."""
        return None

    def begin_trial(self, dialogue: Dialogue, settings: Settings, trial: int) -> State:
        """Return the first state of a trial, from 0; for most generators it does not depend on the trial."""
        return self.begin(dialogue, settings)

    @abstractmethod
    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Return the first state. `dialogue` has its own turns only, without those written by systems."""

    @abstractmethod
    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the prompts of the next step, at least one, or the result."""

    @abstractmethod
    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Return the state after a step; `replies` are in the order of its prompts. `state` is not changed.

        Raises Unparseable for a reply without the requested format, Failed where the production ends here.
        """

    @abstractmethod
    def pretend(self, state: State) -> Sequence[str]:
        """Return realistic replies to the next step: in the right format and of usual length.

        Used for estimates, and by tests of every generator.
        """

    def anew(self, reply: str) -> str:
        """Return the new part of a reply, without material repeated from the prompt."""
        return reply

    def check(self, state: State, part: int, reply: str) -> None:
        """Raise Unparseable for a reply to one prompt of a step without the requested format.

        By default the step is received as a check; generators with several prompts per step override this.
        """
        self.receive(state, [Reply(reply)])

    def checked(self, settings: Settings) -> None:  # noqa: B027  (most have nothing to add)
        """Raise WrongSettings for values that are valid individually, but not together."""

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Return why a dialogue cannot be written for, in a few words; '' where it can."""
        return ""

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the default name of a system: the model, and the varying settings."""
        varying = (str(condition[setting.name]) for setting in self.settings if setting.varies)
        return " ".join([model, *varying])

    def reasks(self, settings: Settings) -> int:
        """Return how often an unparseable reply is requested again."""
        return 1

    def calls(self, settings: Settings) -> int | None:
        """Return the number of calls of every production, None where it depends on the dialogue."""
        return None

    def together(self, settings: Settings) -> int:
        """Return the number of dialogues per request; more than 1 only for generators with a single step."""
        return 1

    def shared(self, states: Sequence[State]) -> Prompt:
        """Return the prompt shared by several productions."""
        raise NotShared(self.key)

    def apart(self, states: Sequence[State], reply: str) -> Sequence[str | None]:
        """Return each production's own reply, as `receive` reads it alone; None where it is missing.

        Raises Unparseable for a reply that cannot be split.
        """
        raise NotShared(self.key)

    def resolved(self, values: Mapping[str, Any]) -> dict[str, Value]:
        """Return a value for every setting: the given one, else the default. Raises WrongSettings."""
        settings = {setting.name: setting for setting in self.settings}
        if unknown := sorted(set(values) - set(settings)):
            names = ", ".join(settings) or "none"
            raise WrongSettings(f"{self.key} has no setting {unknown[0]!r}; it has {names}.")
        complete = {
            name: setting.checked(values.get(name, setting.default)) for name, setting in settings.items()
        }
        self.checked(complete)
        return complete


class NotShared(TypeError):
    """A shared request was made to a generator whose productions do not share requests."""


@dataclass(frozen=True, slots=True)
class StoredTurns:
    """Turns as stored in generators' states: to plain JSON and back."""

    turns: tuple[Turn, ...] = field(default_factory=tuple)

    def as_json(self) -> list[dict[str, Any]]:
        """Return the turns as plain JSON: speaker, text, and the other fields where set."""
        return [
            {
                "speaker": turn.speaker,
                "text": turn.text,
                **({"act": turn.act} if turn.act != "message" else {}),
                **({"addressees": list(turn.addressees)} if turn.addressees else {}),
                **({"audience": list(turn.audience)} if turn.audience is not None else {}),
                **({"session": turn.session} if turn.session else {}),
                **({"time": turn.time} if turn.time else {}),
            }
            for turn in self.turns
        ]

    @classmethod
    def from_json(cls, rows: Sequence[Mapping[str, Any]]) -> StoredTurns:
        """Return turns from the data of `as_json`."""
        return cls(
            tuple(
                Turn(
                    speaker=row["speaker"],
                    text=row["text"],
                    act=row.get("act", "message"),
                    addressees=tuple(row.get("addressees", ())),
                    audience=tuple(row["audience"]) if "audience" in row else None,
                    session=row.get("session", ""),
                    time=row.get("time", ""),
                )
                for row in rows
            )
        )


# Limits on what a production may spend: calls, tokens and time. Beyond a limit it fails and names the limit.

CALLS, TOKENS_IN, TOKENS_OUT, SECONDS = "calls_per_turn", "tokens_in", "tokens_out", "seconds"
DIALOGUES = 50
"""The time limit is for this many dialogues; each has its share of it."""
SETTINGS = (
    Setting(CALLS, 2, "How many calls one response may take.", low=1, high=10),
    Setting(TOKENS_IN, 10_000, "How many tokens the prompts of a dialogue may have.", low=1, high=1_000_000),
    Setting(TOKENS_OUT, 1_000, "How many tokens the replies of a dialogue may have.", low=1, high=1_000_000),
    Setting(SECONDS, 0, f"How many seconds the calls of {DIALOGUES} dialogues may take; 0 is no limit.",
            low=0, high=1_000_000),
)  # fmt: skip
Spent = Mapping[str, float]
"""Tokens in and out, and seconds."""
NOTHING: Spent = {TOKENS_IN: 0, TOKENS_OUT: 0, SECONDS: 0.0}


def spend(spent: Spent, prompt: Prompt, reply: Reply, settings: Settings, where: str) -> dict[str, float]:
    """Return the totals after a reply; raise Failed where they exceed a limit.

    Where the server does not report tokens, they are counted with `about_tokens`, once per completion. Each
    of several completions counts as long as the last one; a reply reused from another run costs no time.
    """
    if reply.attempts > int(settings[CALLS]):
        raise Failed(f"{CALLS}: {where} took {reply.attempts} calls, and {settings[CALLS]} are allowed")
    times = max(1, reply.attempts)
    prompt_tokens = times * about_tokens("\n".join(part for part in (prompt.system, prompt.user) if part))
    reply_tokens = times * about_tokens(reply.text)
    totals = {
        TOKENS_IN: spent[TOKENS_IN] + (prompt_tokens if reply.tokens_in is None else reply.tokens_in),
        TOKENS_OUT: spent[TOKENS_OUT] + (reply_tokens if reply.tokens_out is None else reply.tokens_out),
        SECONDS: spent[SECONDS] + reply.attempts * (reply.seconds or 0.0),
    }
    for name in (TOKENS_IN, TOKENS_OUT):
        if totals[name] > int(settings[name]):
            raise Failed(f"{name}: {totals[name]:,} tokens after {where}, and {settings[name]:,} are allowed")
    _timed(totals[SECONDS], reply, int(settings[SECONDS]), where)
    return totals


def _timed(seconds: float, reply: Reply, limit: int, where: str) -> None:
    share = limit / DIALOGUES
    if limit and reply.attempts and reply.seconds is None:
        raise Failed(f"{SECONDS}: how long {where} took is not known; set the limit to 0")
    if limit and seconds > share:
        raise Failed(
            f"{SECONDS}: {seconds:.1f} seconds after {where}, and {share:.1f} are allowed "
            f"({limit:,} for {DIALOGUES} dialogues)"
        )


# Cache of computed values, limited in size and shared by threads.

T = TypeVar("T")


class LruCache(Generic[T]):
    """At most `most` values by key; the least recently used one is dropped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, made if missing; two threads may both make it."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value

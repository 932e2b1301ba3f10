"""Raters' view in a campaign or a run: an allow-list, the names to hide, and an optional length limit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from annotation.records import EVENTS, HUMAN, SELF, Continuation, Dialogue, Turn

# Cleaning of quoted text: people and judges see the same characters.
#
# Invisible characters (controls, tag characters, soft hyphens, variation selectors, zero-width and direction
# marks) are removed, because they could carry words to a judge that no person reads. A joiner stays where the
# scripts written with it need it. Runs of brackets that look like Concord's marks around quoted material
# become one bracket. Special tokens of chat templates (`<|im_start|>`, `[INST]`, `</s>`) get other brackets:
# some servers parse them as the token itself wherever they occur. Every kind of line break becomes a plain
# one.

# Transcription marks in the text of a turn, like {vocalsound}: kept, and hidden on request.
#
# Pure: independent of any framework. Pages wrap the marks in an element that a toggle hides.

MARK = re.compile(r"\{[a-z][a-z_ -]{0,30}\}")


def parts(text: str) -> list[tuple[str, bool]]:
    """Split a text into (part, is a mark) pairs; the joined parts are the text."""
    pieces: list[tuple[str, bool]] = []
    end = 0
    for match in MARK.finditer(text):
        if match.start() > end:
            pieces.append((text[end : match.start()], False))
        pieces.append((match.group(), True))
        end = match.end()
    if end < len(text):
        pieces.append((text[end:], False))
    return pieces


def has_marks(text: str) -> bool:
    """Whether a text contains a mark."""
    return MARK.search(text) is not None


_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINED = (
    "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\u2600-\u27bf\U0001f000-\U0001faff"
)
_JOINER = re.compile(f"[\u200c\u200d](?![{_JOINED}])|(?<![{_JOINED}])[\u200c\u200d]")
_LEFT, _RIGHT = "<＜﹤‹«⟨⟪≪❬❮❰˂ᐸ", ">＞﹥›»⟩⟫≫❭❯❱˃ᐳ"
_WIDE_LEFT, _WIDE_RIGHT = "〈〈《", "〉〉》"
_OPENING = re.compile(f"[{_LEFT}{_WIDE_LEFT}]{{3,}}|[{_LEFT}]{{2,}}|⋘")
_CLOSING = re.compile(f"[{_RIGHT}{_WIDE_RIGHT}]{{3,}}|[{_RIGHT}]{{2,}}|⋙")
_TOKEN = re.compile(
    "<([|｜][^\\s|｜<>]{1,60}[|｜]|/?s|/?bos|/?eos|pad|unk|start_of_turn|end_of_turn|start_of_image)>"
    "|\\[(/?INST|/?SYSTEM_PROMPT|/?AVAILABLE_TOOLS|/?TOOL_RESULTS|/?TOOL_CALLS|IMG)\\]"
)


def clean(text: str) -> str:
    """Return a text as raters see it; its line breaks are all `\\n`. Idempotent."""
    if not text.isascii():
        text = _JOINER.sub("", _INVISIBLE.sub("", _BREAKS.sub("\n", text)))
    elif not text.isprintable():
        text = _INVISIBLE.sub("", _BREAKS.sub("\n", text))
    return _CLOSING.sub("›", _OPENING.sub("‹", _TOKEN.sub(_as_text, text)))


def _as_text(token: re.Match[str]) -> str:
    return f"‹{token[1] or token[2]}›"


STEPS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_BREAKS, "\n"),
    (_INVISIBLE, ""),
    (_JOINER, ""),
    (_TOKEN, _as_text),
    (_OPENING, "‹"),
    (_CLOSING, "›"),
)
"""Replacements of `clean`, in order, for code that has to trace each character to its origin."""


def one_line(text: str) -> str:
    """Return a cleaned text on one line."""
    return " ".join(clean(text).split())


# Blinding: raters must not learn which system they rate, under what condition, and the right answer.
#
# The names of all systems of a corpus are hidden, not only that of the system in view: otherwise the missing
# name would be the answer. So are the conditions of a dialogue's continuations. Screens and prompts
# never carry systems, continuation ids or conditions; a name that appears in the text around the turns, or
# as a distinctive word in a turn, is replaced.
#
# Texts are compared as people read them: regardless of case, of hyphens, underscores and spaces, of how
# a letter is composed (é as one character or two) and of its width.

HIDDEN = "[name hidden]"
WITHHELD = "[hidden]"
SHORTEST, LONGEST = 3, 1000
ORDINARY = frozenset(
    [
        "default",
        "false",
        "full",
        "no",
        "none",
        "normal",
        "off",
        "on",
        "other",
        "true",
        "with",
        "without",
        "yes",
    ]
)
"""Values of conditions that are meaningless by themselves, and stay visible."""
SETTINGS = frozenset(
    {
        "addressees",
        "content",
        "from",
        "max in a row",
        "max turns",
        "min each",
        "min turns",
        "mode",
        "objective",
        "own outputs",
        "personas",
        "point",
        "profiles",
        "speaker",
        "stance",
        "strategy",
        "turns",
        "window",
    }
)
"""Entries of conditions that describe a generator's setup: their names also occur in dialogues (an objective,
a stance), and their values are everyday words (`last`, `history`, `given`).
"""
_TELLTALE = re.compile(
    r"(?:(?:answer|base|chat|dialog|dialogue|generating|generator|language|response|source|target) )?"
    r"(?:agent|bot|chatbot|engine|generator|llm|model|system)s?"
    r"(?: (?:id|name|type|version|[a-z]|\d+)s?)?"
    r"|condition(?:s| id| name)?|prompting|checkpoint|generated by|produced by"
    r"|(?:.* )?splits?|(?:gold|ground truth)(?: .*)?|golden (?:answer|label|rating|score)s?"
    r"|answer key|reference (?:label|rating|score)s?"
)
_JOINTS = re.compile(r"[-_\s\u2010-\u2015]+")
_JOINT = r"[-_\s\u2010-\u2015]*"
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
)
"""Scripts without spaces between words, or with particles attached: a name ends where they begin."""
_ASIDE = f"(?<![^\\W_{_UNSPACED}]){{}}(?![^\\W_{_UNSPACED}])"


class Blind:
    """Hides the names of systems.

    In names, profiles, summaries and metadata every mention is hidden, in any case, with any hyphens or
    spaces; a name of one or two characters only where it is the entire text, or where it has a letter and a
    digit (`o1`). In the turns' own text only a distinctive name is hidden: as a whole word of at least four
    characters, in any case where it has a digit or a sign, in its own case where only capitals make it
    distinctive. So a system called `baseline` does not remove that word from any dialogue.
    """

    def __init__(self, *systems: str) -> None:
        names = {one_line(name) for name in systems}
        names = {name for name in names if name and name.casefold() != HUMAN}
        long = [name for name in names if len(name) >= SHORTEST or _is_coded(name)]
        long = [name for name in long if _squeezed(name)]
        distinctive = [name for name in names if len(name) >= 4 and re.search(r"[^a-z\s]", name)]
        by_case = [name for name in distinctive if re.fullmatch(r"[A-Za-z\s]+", name)]
        self._alone = frozenset(_squeezed(name) or name for name in names)
        self._anywhere = _Names(long, any_case=True)
        self._in_text = _Names([name for name in distinctive if name not in by_case], any_case=True)
        self._in_case = _Names(by_case, any_case=False)

    def about(self, text: str) -> str:
        """Hide the names in a text from around the turns (a profile, a summary)."""
        return HIDDEN if self._is_alone(text) else self._anywhere.hidden(text)

    def spoken(self, text: str) -> str:
        """Hide distinctive names in a turn's text."""
        return self._in_case.hidden(self._in_text.hidden(text))

    @property
    def turn_finders(self) -> tuple[Callable[[str], list[tuple[int, int]]], ...]:
        """Finders of names in a turn's text, in order: matches of one are hidden before the next runs."""
        return self._in_text.spans, self._in_case.spans

    def names(self, text: str) -> bool:
        """Whether text from around the turns mentions a system."""
        return self._is_alone(text) or self._anywhere.hidden(text) != text

    def _is_alone(self, text: str) -> bool:
        return len(text) <= LONGEST and (_squeezed(text) or text.strip()) in self._alone


class _Names:
    """A pattern for many names, tried only on texts that contain the beginning of one."""

    def __init__(self, names: Iterable[str], *, any_case: bool) -> None:
        self._any_case = any_case
        folded = {_folded(name, any_case) for name in names}
        parts = {name: [part for part in _JOINTS.split(name) if part] or [name] for name in folded}
        self._beginnings = tuple({split[0] for split in parts.values()})
        forms = [
            _JOINT.join(re.escape(part) for part in parts[name])
            for name in sorted(parts, key=lambda name: (-len(name), name))
        ]
        self._pattern = re.compile(_ASIDE.format(f"(?:{'|'.join(forms)})"))

    def hidden(self, text: str) -> str:
        return _replaced(text, self.spans(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of names, including accents right after them."""
        if not self._beginnings:
            return []
        folded = _folded(text, self._any_case)
        if not any(start in folded for start in self._beginnings):
            return []
        if len(folded) == len(text) and text.isascii():
            return [match.span() for match in self._pattern.finditer(folded)]
        folded, places = _mapped(text, self._any_case)
        spans = ((places[m.start()], places[m.end() - 1] + 1) for m in self._pattern.finditer(folded))
        return [(start, _past_accents(text, stop)) for start, stop in spans]


def _past_accents(text: str, stop: int) -> int:
    while stop < len(text) and unicodedata.combining(text[stop]):
        stop += 1
    return stop


def _replaced(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Replace spans of a text with the mark."""
    out, end = [], 0
    for start, stop in spans:
        out += [text[end:start], HIDDEN]
        end = stop
    return "".join((*out, text[end:])) if out else text


def _folded(text: str, any_case: bool = True) -> str:
    """Return a text's form for comparison: compatible forms unified, letters and accents separated."""
    if text.isascii():
        return text.lower() if any_case else text
    return "".join(_folded_character(character, any_case) for character in text)


@lru_cache(maxsize=4096)
def _folded_character(character: str, any_case: bool) -> str:
    plain = unicodedata.normalize("NFKD", character)
    return unicodedata.normalize("NFKD", plain.casefold()) if any_case else plain


def _mapped(text: str, any_case: bool) -> tuple[str, list[int]]:
    """Return the folded text, and for each of its characters the index of the original one."""
    pieces = [_folded_character(character, any_case) for character in text]
    return "".join(pieces), [index for index, piece in enumerate(pieces) for _ in piece]


@lru_cache(maxsize=64)
def blind(systems: tuple[str, ...]) -> Blind:
    """Return the blind for a corpus's systems, cached for its next task or call."""
    return Blind(*systems)


class Giveaways(NamedTuple):
    """Names of condition entries, and their texts, that would give the conditions away."""

    keys: frozenset[str] = frozenset()
    values: tuple[str, ...] = ()

    def and_of(self, other: Giveaways) -> Giveaways:
        """Combine two sets of giveaways."""
        return Giveaways(self.keys | other.keys, tuple(sorted({*self.values, *other.values})))


NO_GIVEAWAYS = Giveaways()


def giveaways_of(conditions: Iterable[Mapping[str, Any]]) -> Giveaways:
    """Collect the giveaways of conditions. Numbers occur everywhere, and are hidden by name alone."""
    entries = [entry for condition in conditions for entry in _entries(condition)]
    entries = [(name, value) for key, value in entries if (name := _squeezed(key)) not in SETTINGS]
    texts = {value for _, value in entries if value and value.casefold() not in ORDINARY}
    return Giveaways(frozenset(name for name, _ in entries), tuple(sorted(texts)))


def _entries(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _entries(part, str(name))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _entries(part, key)
    else:
        yield key, one_line(value) if isinstance(value, str) else ""


def is_telltale(key: str, giveaways: Giveaways = NO_GIVEAWAYS) -> bool:
    """Whether an entry's name gives away the system, how it was run, or the right answer."""
    folded = _squeezed(_HUMP.sub(" ", key))
    return _TELLTALE.fullmatch(folded) is not None or bool(
        giveaways.keys and _squeezed(key) in giveaways.keys
    )


def _squeezed(text: str) -> str:
    """Return the comparison form of a complete text: joints become single spaces."""
    return _JOINTS.sub(" ", _folded(text)).strip()


def _is_coded(name: str) -> bool:
    """Whether a short name has a letter and a digit, as `o1`: no word of a language looks like it."""
    return len(name) > 1 and any(map(str.isalpha, name)) and any(map(str.isdigit, name))


# A text as raters see it, with the position of each of its characters in the stored text.
#
# Evidence is selected in the shown text and stored by positions in the stored text, so that it stays valid
# whatever is hidden from whom. Positions count Unicode code points.


class Traced(NamedTuple):
    """A shown text; its n-th character represents the stored ones from `starts[n]` to `ends[n]`."""

    text: str
    starts: list[int]
    ends: list[int]

    def replaced(self, spans: Iterable[tuple[int, int, str]]) -> Traced:
        """Replace spans with other texts, each character of which represents its whole span."""
        text: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        last = 0
        for start, stop, replacement in spans:
            text += [self.text[last:start], replacement]
            starts += self.starts[last:start] + [self.starts[start]] * len(replacement)
            ends += self.ends[last:start] + [self.ends[stop - 1]] * len(replacement)
            last = stop
        if not last:
            return self
        return Traced(
            "".join([*text, self.text[last:]]), starts + self.starts[last:], ends + self.ends[last:]
        )

    def stored(self, start: int, end: int) -> tuple[int, int]:
        """Return the stored range of a shown range `start` to `end` (not empty, within the text)."""
        return self.starts[start], self.ends[end - 1]

    def shown_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the shown range of a stored range `start` to `end`, None where none of it is shown."""
        inside = [
            n
            for n, (low, high) in enumerate(zip(self.starts, self.ends, strict=True))
            if low < end and high > start
        ]
        return (inside[0], inside[-1] + 1) if inside else None


def untouched(text: str) -> Traced:
    """Trace a text that is shown as it is stored."""
    return Traced(text, list(range(len(text))), list(range(1, len(text) + 1)))


def spoken(text: str, hide: Blind) -> Traced:
    """Return a turn's text as raters see it (`View.spoken`), traced to the stored text."""
    traced = untouched(text)
    for pattern, replacement in STEPS:
        traced = traced.replaced(_matches(pattern, replacement, traced.text))
    for spans in hide.turn_finders:
        traced = traced.replaced([(start, stop, HIDDEN) for start, stop in spans(traced.text)])
    return traced


def _matches(
    pattern: re.Pattern[str], replacement: str | Callable[[re.Match[str]], str], text: str
) -> list[tuple[int, int, str]]:
    return [
        (*match.span(), replacement if isinstance(replacement, str) else replacement(match))
        for match in pattern.finditer(text)
    ]


# Which turns a viewer may see before a turn.

ALL = "all"
"""Viewer who sees everything; private turns are then marked."""


def visible(dialogue: Dialogue, continuation: Continuation, turn: int, viewer: str = ALL) -> tuple[Turn, ...]:
    """Return the turns before a turn that a viewer may see, in order.

    `viewer` is a participant's id, or ALL. From the turn's context (`Dialogue.context`) a participant does
    not see: turns whose audience leaves them out, events before they joined (unless that join `sees_history`)
    or between leaving and rejoining, and sessions without them: nothing is said by them, to them or for them
    to hear, and a script does not list them there.
    """
    context = dialogue.context(continuation, turn)
    if viewer == ALL:
        return context
    all_turns = (
        continuation.turns if continuation.id == SELF else dialogue.turns + continuation.turns[: turn + 1]
    )
    sessions = {each.session for each in all_turns if _takes_part(each, viewer)}
    if dialogue.script is not None:
        sessions |= {session.id for session in dialogue.script.sessions if viewer in session.present}
    begins = next(
        (each.act != "join" for each in all_turns if each.speaker == viewer and each.act in EVENTS), True
    )
    return tuple(
        each
        for each, is_there in zip(context, _presence(context, viewer, begins), strict=True)
        if is_there and hears(each, viewer) and (not each.session or each.session in sessions)
    )


def hears(turn: Turn, viewer: str) -> bool:
    """Whether everybody can hear a turn, or the viewer is its speaker or in its audience."""
    return turn.audience is None or turn.speaker == viewer or viewer in turn.audience


def _takes_part(turn: Turn, viewer: str) -> bool:
    return viewer == turn.speaker or viewer in turn.addressees or viewer in (turn.audience or ())


def _presence(turns: Sequence[Turn], viewer: str, begins: bool) -> list[bool]:
    """Return for each turn whether the viewer was present, or may read it because of a later join.

    `begins`: whether the viewer is present at the beginning, like those who never join, or leave before
    joining.
    """
    present, presence = begins, list[bool]()
    for turn in turns:
        if turn.speaker == viewer and turn.act == "join":
            present = True
            if turn.sees_history:
                presence = [True] * len(presence)
        presence.append(present)
        if turn.speaker == viewer and turn.act == "leave":
            present = False
    return presence


RENDERING = 3
"""Version of the dialogue rendering, a part of every judge's identity: increase it with each change.

Labels of judges without a version were given on the first rendering.
"""

METADATA = "metadata."
PARTS = {
    "summary": "summary",
    "agenda": "agenda",
    "participants.role": "participants' roles",
    "participants.profile": "participants' profiles",
    "participants.aliases": "participants' other names",
    "participants.extra": "what else is known of participants",
}
DEFAULT = (
    "agenda",
    "metadata.goal",
    "metadata.task_goal",
    "metadata.topic",
    "participants.profile",
    "participants.role",
    "summary",
)


def no_cut(text: str) -> str:
    """Leave a text as it is."""
    return text


@dataclass(frozen=True, slots=True)
class View:
    """Visible parts of a dialogue. `systems` are the corpus's; `cut` shortens texts that are too long.

    `shows` names parts (PARTS) and entries of the metadata as `metadata.KEY`. `giveaways` are texts that
    would give away the conditions of the dialogue's continuations.
    """

    systems: tuple[str, ...] = ()
    shows: tuple[str, ...] = DEFAULT
    cut: Callable[[str], str] = no_cut
    giveaways: Giveaways = NO_GIVEAWAYS

    @property
    def hide(self) -> Blind:
        """The blind that hides the systems' names and their conditions."""
        return blind(self.systems + self.giveaways.values)

    def shows_part(self, part: str) -> bool:
        """Whether the summary, the agenda or a field of participants is shown."""
        return part in self.shows

    def shows_entry(self, key: str) -> bool:
        """Whether an entry of the metadata is shown."""
        return METADATA + key in self.shows and not self.withholds(key)

    def withholds(self, key: str) -> bool:
        """Whether the value of an entry, at any depth, is never shown."""
        return is_telltale(key, self.giveaways)

    def about(self, text: str) -> str:
        """Return the visible form of a text from around the turns."""
        return self.cut(self.hide.about(clean(text).strip()))

    def line(self, text: str) -> str:
        """Return a short text from around the turns on one line."""
        return self.cut(self.hide.about(one_line(text)))

    def spoken(self, text: str) -> str:
        """Return the visible form of a turn's text."""
        return self.cut(self.hide.spoken(clean(text)))


def checked(shows: Iterable[str]) -> tuple[str, ...]:
    """Return the names of shown parts, each once and in order.

    Raises ValueError for a name that is unknown or would break the blinding.
    """
    names = sorted({name.strip() for name in shows} - {""})
    for name in names:
        if name.startswith(METADATA) and len(name) > len(METADATA):
            if is_telltale(name.removeprefix(METADATA)):
                raise ValueError(
                    f"“{name}” would say which system spoke, or what the right answer is, and is never shown."
                )
        elif name not in PARTS:
            raise ValueError(
                f"There is no “{name}” to show: there are {', '.join(PARTS)} and entries of the metadata as "
                "metadata.KEY."
            )
    return tuple(names)


def titles(shows: Iterable[str]) -> list[str]:
    """Return titles of the shown parts for people."""
    return [PARTS.get(name) or name.removeprefix(METADATA).replace("_", " ") for name in shows]


class Cut:
    """Cuts the middle out of texts above a limit, marks the place, and counts the removed characters."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left_out = 0

    def __call__(self, text: str) -> str:
        """Return a text of about `limit` characters (and the mark) where it is longer."""
        excess = len(text) - self.limit
        if excess <= 0:
            return text
        half = self.limit // 2
        self.left_out += excess
        return f"{text[: self.limit - half]}[... {excess} characters left out]{text[len(text) - half :]}"

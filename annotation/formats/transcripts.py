"""Transcripts as text: chats of WhatsApp and Zoom, subtitles with speakers, IRC, and lines like `Ana: hello`.

A file is one dialogue, named after the file; a plain transcript may hold several. A folder is a file a
dialogue. A message over several lines is one turn; lines that nobody says (`Ana joined`) are left out and
counted. The reader says with the import what it had to guess: the order of day and month, who the speakers
are, whether blank lines divide dialogues.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import dropwhile, pairwise
from pathlib import Path
from typing import Any

from annotation.formats.corpus_format import Format, Head, SourceRecord
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT
from annotation.formats.source import ImportProblem, Source
from annotation.records import Dialogue, Participant, Turn

MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
"""Marks of writing direction, with which WhatsApp begins names and its own texts."""
M = f"[{MARKS}]*+"
MOST_NAMES = 20
"""Maximum number of speakers that a note lists."""


@dataclass(slots=True)
class Transcript:
    """A dialogue as it is read: its turns, what its file says about it, and lines that became no turn."""

    turns: list[Turn] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)

    def add(self, speaker: str, text: str, time: str = "", line: int | None = None, **more: Any) -> None:
        """Add a turn."""
        name = speaker.strip(MARKS).strip()
        if not name or len(name) > NAME_LIMIT:
            raise ImportProblem(f"a speaker has a name of 1 to {NAME_LIMIT} characters", line=line)
        self.turns.append(Turn(name, text.strip(), time=time, **more))

    def extend(self, text: str, joint: str = "\n") -> None:
        """Add text to the last turn."""
        last = self.turns[-1]
        self.turns[-1] = replace(last, text=joint.join(filter(None, (last.text, text.strip()))))


@dataclass(slots=True)
class Notes:
    """Notes about all files of an import."""

    left_out: Counter[str] = field(default_factory=Counter)
    cues: Counter[str] = field(default_factory=Counter)
    speakers: Counter[str] = field(default_factory=Counter)
    others: dict[str, None] = field(default_factory=dict)
    sentences: dict[str, None] = field(default_factory=dict)

    def say(self, sentence: str) -> None:
        """Say a sentence once."""
        self.sentences[sentence] = None

    def pass_over(self, names: Iterable[str], speakers: frozenset[str]) -> None:
        """Record names before a colon that are no speakers."""
        others = (name for name in names if name not in speakers and not ABOUT.fullmatch(name))
        self.others.update(dict.fromkeys(others))

    def all(self) -> Iterator[str]:
        """Yield all notes as sentences."""
        if self.left_out:
            listing = ", ".join(f"{kind} ({count})" for kind, count in self.left_out.items())
            yield f"Left out: {listing}."
        yield from self.sentences
        if self.cues:
            yield f"Cues of one speaker in a row are one turn: {self.cues['all']} cues."
        if nameless := self.cues["nameless"]:
            yield f"Cues without a speaker are read as said by the speaker before: {nameless}."
        if self.speakers:
            listing = ", ".join(f"{name} ({count})" for name, count in self.speakers.most_common(MOST_NAMES))
            rest = f" and {len(self.speakers) - MOST_NAMES} more" if len(self.speakers) > MOST_NAMES else ""
            yield f"Speakers, with their turns: {listing}{rest}."
        if self.others:
            rest = f" and {len(self.others) - MOST_NAMES} more" if len(self.others) > MOST_NAMES else ""
            yield f"Before a colon, but no speakers: {', '.join(list(self.others)[:MOST_NAMES])}{rest}."


Parse = Callable[[list[str], Notes], list[Transcript]]
"""Reads the lines of a file into its dialogues; raises ImportProblem where nobody speaks in it."""


def read_files(source: Source, parse: Parse) -> Iterator[SourceRecord]:
    """Yield the dialogues of a transcript, or of each one in a folder."""
    notes = Notes()
    for file in source.files():
        name = source.called(file)
        with source.report_problems(file):
            text = _decoded(source.document(file), notes)
            if "\0" in text:
                raise ImportProblem("holds a NUL character, which cannot be stored")
            transcripts = parse(re.split(r"\r\n|\r|\n", text), notes)
            key = str(source.settings.get("dialogue", "")) or Path(name).stem
            for number, transcript in enumerate(transcripts, start=1):
                own = f"{key}-{number}" if len(transcripts) > 1 else key
                yield SourceRecord(_dialogue(own[-ID_LIMIT:], transcript), file=name)
    source.notes += notes.all()


def _dialogue(key: str, transcript: Transcript) -> Dialogue:
    speakers = dict.fromkeys(
        name for turn in transcript.turns for name in (turn.speaker, *turn.addressees, *(turn.audience or ()))
    )
    return Dialogue(
        id=key,
        turns=tuple(transcript.turns),
        participants=tuple(map(Participant, speakers)),
        metadata=transcript.metadata,
    )


def _decoded(content: bytes, notes: Notes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        notes.say("Text that is not UTF-8 was read as Windows-1252.")
        return content.decode("cp1252", errors="replace")


def _lines(head: Head) -> list[str]:
    """Return the first complete lines of a file."""
    lines = re.split(r"\r\n|\r|\n", head.text)
    return lines[:-1] if len(head.content) >= 2**16 and len(lines) > 1 else lines


def _first(lines: Sequence[str]) -> str:
    return next((line for line in lines if line.strip()), "")


def _refuse(kind: str, expected: str) -> ImportProblem:
    return ImportProblem(f"no line says who speaks in this {kind}: expected {expected}")


# WhatsApp's exported chats: `12/01/2024, 10:01 - Ana: Hi` (Android) or `[12.01.24, 10:01:23] Ana: Hi` (iOS).
#
# Dates and times are written as the telephone's language does. The order of day and month follows from the
# dates: some order puts a 13th month into it, or runs backwards.

MORNING = ("a", "上午", "午前", "오전", "ص", "öö", "π")
AFTERNOON = ("p", "下午", "午後", "오후", "م", "ös", "μ")
HALVES = "上午|下午|午前|午後|오전|오후|[AaPp]\\.?\\s?[Mm]\\b\\.?|ص|م|ÖÖ|ÖS|[πμ]\\.μ\\."
WHATSAPP_LINE = re.compile(
    rf"{M}(?P<open>\[)?{M}"
    rf"(?P<date>\d{{1,4}}{M}[./-]\s?\d{{1,2}}{M}[./-]\s?\d{{1,4}}\.?|\d{{4}}年\d{{1,2}}月\d{{1,2}}日)"
    rf"(?:\s?г\.)?[,،]?\s{{0,2}}(?:à|um|klo|kl\.|at|в)?\s{{0,2}}(?P<before>{HALVES})?\s{{0,2}}"
    rf"(?P<hour>\d{{1,2}})[:.h](?P<minute>\d{{2}})(?:[:.](?P<second>\d{{2}}))?(?:\s?ч\.)?"
    rf"\s?(?P<after>{HALVES})?{M}(?(open)\]\s?|(?:\s[-–—]\s|:\s|,\s))(?P<rest>.*)",
    re.DOTALL,
)
WHATSAPP_SPEAKER = re.compile(
    rf"{M}(?:~\s*)?(?P<speaker>[^:\n]{{1,100}}?)\s?:(?:\s(?P<text>.*)|$)", re.DOTALL
)
PLACEHOLDER = re.compile(
    r"<[^<>]+>|.*\b(?:omitted|weggelassen|ausgeschlossen|ausgelassen|omitid[oa]s?|oculto|omess[oa]|absente?|"
    r"weggelaten|pominięto|opuščen|deleted|gelöscht|eliminad[oa]|eliminato|apagada|supprimé|verwijderd)\b.*",
    re.IGNORECASE,
)
"""Texts of WhatsApp that stand in the place of a message: of pictures, and of deleted messages."""
SYSTEM_LINES = "lines of the system"
WHATSAPP_EXPECTED = "lines like `12/01/2024, 10:01 - Ana: Hi` or `[12/01/2024, 10:01:23] Ana: Hi`"


def _whatsapp(lines: list[str], notes: Notes) -> list[Transcript]:
    transcript, stamps = Transcript(), list[re.Match[str]]()
    in_message = has_begun = False
    for number, line in enumerate(lines, start=1):
        stamp = WHATSAPP_LINE.match(line)
        if stamp is None:
            if in_message:
                transcript.extend(line)
            elif line.strip(MARKS).strip() and not has_begun:
                raise ImportProblem(f"begins no chat of WhatsApp: expected {WHATSAPP_EXPECTED}", line=number)
            continue
        has_begun = True
        message = WHATSAPP_SPEAKER.match(stamp["rest"])
        in_message = message is not None and not _is_system(message)
        if message is None or not in_message:
            notes.left_out[SYSTEM_LINES] += 1
            continue
        transcript.add(message["speaker"], (message["text"] or "").lstrip(MARKS), line=number)
        stamps.append(stamp)
    if not transcript.turns:
        raise _refuse("chat", WHATSAPP_EXPECTED)
    times = _times(stamps, notes)
    transcript.turns = [replace(turn, time=time) for turn, time in zip(transcript.turns, times, strict=True)]
    return [transcript]


def _is_system(message: re.Match[str]) -> bool:
    """Whether a line with a colon is WhatsApp's own: quotes a subject, or begins with a mark (on iOS)."""
    speaker, text = message["speaker"], message["text"] or ""
    if speaker.count('"') % 2 or speaker.count("“") != speaker.count("”"):
        return True
    return text.startswith("\u200e") and not PLACEHOLDER.fullmatch(text.strip(MARKS).strip())


def _times(stamps: list[re.Match[str]], notes: Notes) -> list[str]:
    """Return the times in ISO 8601, in the one order of day, month and year that fits all dates."""
    numbers = [[int(part) for part in re.findall(r"\d+", stamp["date"])] for stamp in stamps]
    orders = {"year/month/day": (0, 1, 2)} if numbers[0][0] > 999 else ORDERS
    readings: dict[str, list[datetime]] = {}
    for order, places in orders.items():
        try:
            readings[order] = [
                _moment(stamp, *(date[place] for place in places))
                for stamp, date in zip(stamps, numbers, strict=True)
            ]
        except ValueError:
            continue
    if not readings:
        raise ImportProblem("its dates fit no order of day, month and year: export the chat again")
    steps_back = {
        order: sum(later < earlier for earlier, later in pairwise(times)) for order, times in readings.items()
    }
    american = all(AMERICAN.fullmatch(f"{stamp['date']} {stamp['after']}") for stamp in stamps)
    best = min(readings, key=lambda order: (steps_back[order], american != order.startswith("month")))
    if len({tuple(times) for times in readings.values()}) > 1:
        notes.say(f"Dates like {stamps[0]['date']} are read as {best}.")
    detail = "seconds" if stamps[0]["second"] else "minutes"
    return [moment.isoformat(timespec=detail) for moment in readings[best]]


AMERICAN = re.compile(r"[1-9]\d?/[1-9]\d?/\d\d [AP]M")
ORDERS = {"day/month/year": (2, 1, 0), "month/day/year": (2, 0, 1)}
"""Where year, month and day stand."""


def _moment(stamp: re.Match[str], year: int, month: int, day: int) -> datetime:
    half = (stamp["before"] or stamp["after"] or "").lower()
    hour = int(stamp["hour"])
    if half:
        hour = hour % 12 + (12 if half.startswith(AFTERNOON) and not half.startswith(MORNING) else 0)
    return datetime(
        year + 2000 if year < 100 else year, month, day, hour, int(stamp["minute"]), int(stamp["second"] or 0)
    )


WHATSAPP = Format(
    key="whatsapp",
    title="WhatsApp, an exported chat",
    hint="The .txt file that WhatsApp exports from a chat, or a folder of them.",
    read=lambda source: read_files(source, _whatsapp),
    looks_like=lambda head: WHATSAPP_LINE.match(head.text) is not None,
    folder=True,
    settings=("dialogue",),
)


# Names of speakers, in lines like `Ana: hello`.
#
# A name stands before several lines, is a role, or is a few words with capitals (where the others are no
# roles). So `Two things: first` in the midst of a text is no speaker, nor is `Note: x` of an assistant.

WORD = r"(?!\d{4}[-/.]\d{1,2}[-/.]\d)[^\W_][\w.'’&/#@+-]*"
NAME = rf"{WORD}(?:[ \u00a0]{WORD}){{0,5}}(?:\s?\((?!\d+:)[^()\n]{{1,40}}\))?"
ROLE = re.compile(
    r"(?:user|assistant|human|bot|agent|customer|system|ai|chatbot|person|participant|speaker|interviewer|"
    r"interviewee|moderator|operator|client|therapist|patient|doctor|student|teacher|tutor|seller|buyer|"
    r"persuader|persuadee|wizard|[a-dpq])[\s_#-]*\d*",
    re.IGNORECASE,
)
PARTICLE = re.compile(r"a|al|and|bin|da|de|del|della|der|des|di|dos|du|el|la|le|of|ter|the|van|von|y|zu")
ABOUT = re.compile(
    r"attendees|bcc|cc|created|critical|date|debug|duration|error|fatal|file|from|https?|id|info|language|"
    r"location|meeting|participants|"
    r"place|present|recorded|recording|sent|source|speakers|subject|time|title|to|topic|transcript|"
    r"transcribed|trace|url|warn(?:ing)?",
    re.IGNORECASE,
)
"""Words before a colon that tell about a text, as headers of letters do, or that begin a log's lines."""


def _is_plain_name(name: str) -> bool:
    """Whether a name is written with capitals, as names are, or in a script without them."""
    words = re.sub(r"\(.*", "", name).split()
    return all(word[0] == word[0].upper() or PARTICLE.fullmatch(word) for word in words)


def speakers_of(names: Iterable[str]) -> frozenset[str]:
    """Return the names, of all that stand before a colon, that are speakers."""
    counts = Counter(names)
    roles = {name for name in counts if ROLE.fullmatch(name)}
    return frozenset(
        name
        for name, count in counts.items()
        if not ABOUT.fullmatch(name)
        and (count > 1 or name in roles or (len(roles) < 2 and _is_plain_name(name)))
    )


# Subtitles: WebVTT and SRT, of Zoom, Teams, Webex and others. Cues of one speaker in a row are one turn.

CUE_TIME = re.compile(
    r"\s*(?P<start>(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})(?:\s*-->\s*|,)(?P<end>(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})"
)
VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^>]*)>")
TAG = re.compile(r"</?(?:[a-zA-Z][^<>]*)?>|<[\d:.]+>|\{\\an?\d\}")
CUE_SPEAKER = re.compile(
    rf"(?:>>+\s*|[-–]\s*)?(?:\[(?P<bracketed>{NAME})\]\s*:?|(?P<speaker>{NAME})\s*:)(?:\s+(?P<text>.*)|$)"
)
WEBEX_SPEAKER = re.compile(r'\d+\s+"(?P<speaker>[^"]+)"\s+\(\d+\)\s*$')
SUBTITLES_EXPECTED = "cues like `<v Ana>Hello</v>` or `Ana: Hello`"
LEAST_NAMED = 20
"""At least one cue in this many names its speaker."""
UNKNOWN = "unknown"


@dataclass(slots=True)
class _Cue:
    """A cue, or a part of it: its text, and its speaker where it names one."""

    text: str
    start: str
    end: str
    line: int
    speaker: str = ""


def _subtitles(lines: list[str], notes: Notes) -> list[Transcript]:
    cues = list(_cues(lines))
    if not any(cue.speaker for cue in cues):
        cues = _named_in_text(cues, notes)
    n_named = sum(bool(cue.speaker) for cue in cues)
    if not n_named or n_named * LEAST_NAMED < len(cues):
        number = f"only {n_named} of {len(cues)} cues say" if n_named else "no cue says"
        raise ImportProblem(f"{number} who speaks: expected {SUBTITLES_EXPECTED}")
    transcript = Transcript()
    for cue in cues:
        speaker = cue.speaker or (transcript.turns[-1].speaker if transcript.turns else UNKNOWN)
        if transcript.turns and transcript.turns[-1].speaker == speaker.strip():
            transcript.extend(cue.text, " ")
            transcript.turns[-1] = replace(transcript.turns[-1], extra={"end": cue.end})
        else:
            transcript.add(speaker, cue.text, cue.start, cue.line, extra={"end": cue.end})
    notes.cues.update(all=len(cues), nameless=len(cues) - n_named)
    notes.speakers.update(turn.speaker for turn in transcript.turns)
    return [transcript]


def _cues(lines: list[str]) -> Iterator[_Cue]:
    """Yield the cues with their text; a cue with several voices is one for each."""
    texts: list[str] = []
    time: re.Match[str] | None = None
    place, before = 0, ""
    cue_speaker = ""
    for number, line in enumerate([*lines, ""], start=1):
        if match := CUE_TIME.match(line):
            if time is not None:  # no blank line between the cues: the line before is the number of this one
                yield from _parts(
                    texts[:-1] if texts and texts[-1].isdigit() else texts, time, place, cue_speaker
                )
            webex = WEBEX_SPEAKER.match(before)
            time, texts, place, cue_speaker = match, [], number, webex["speaker"] if webex else ""
        elif not line.strip() and time is not None:
            yield from _parts(texts, time, place, cue_speaker)
            time = None
        elif time is not None:
            texts.append(line.strip())
        before = line.strip()


def _parts(texts: list[str], time: re.Match[str], line: int, cue_speaker: str) -> Iterator[_Cue]:
    start, end = time["start"].replace(",", "."), time["end"].replace(",", ".")
    before, *voices = VOICE.split("\n".join(texts))
    for speaker, text in [(cue_speaker, before), *zip(voices[::2], voices[1::2], strict=True)]:
        if plain := _plain(text):
            yield _Cue(plain, start, end, line, html.unescape(speaker).strip())


def _plain(text: str) -> str:
    return html.unescape(TAG.sub("", text)).strip()


def _named_in_text(cues: list[_Cue], notes: Notes) -> list[_Cue]:
    """Return the cues with the speakers that their lines begin with; a cue of two speakers becomes two."""
    matches = [[(line, CUE_SPEAKER.match(line)) for line in cue.text.split("\n")] for cue in cues]
    names = [_name(match) for lines in matches for _, match in lines if match]
    speakers = speakers_of(names)
    notes.pass_over(names, speakers)
    parts: list[_Cue] = []
    for cue, lines in zip(cues, matches, strict=True):
        is_first = True
        for line, match in lines:
            if match and _name(match) in speakers:
                parts.append(replace(cue, speaker=_name(match), text=match["text"] or ""))
            elif is_first:
                parts.append(replace(cue, text=line))
            else:
                parts[-1].text = f"{parts[-1].text} {line}".strip()
            is_first = False
    return parts


def _name(match: re.Match[str]) -> str:
    return str(match["bracketed"] or match["speaker"])


def _looks_like_subtitles(head: Head) -> bool:
    if head.text.startswith("WEBVTT"):
        return True
    lines = [line for line in _lines(head)[:4] if line.strip()]
    if len(lines) > 1 and lines[0].strip().isdigit():
        lines = lines[1:]
    return len(lines) > 1 and CUE_TIME.match(lines[0]) is not None


SUBTITLES = Format(
    key="subtitles",
    title="Subtitles with speakers: WebVTT, SRT, SBV",
    hint="A .vtt, .srt or .sbv file that names its speakers, as of Zoom or Teams, or a folder of them.",
    read=lambda source: read_files(source, _subtitles),
    looks_like=_looks_like_subtitles,
    folder=True,
    settings=("dialogue",),
)


# Zoom's chats: `10:01:23 From Ana to Everyone: Hi`, the text behind the colon or below, moved in.

ZOOM_LINE = re.compile(
    r"(?P<time>(?:\d{4}-\d{2}-\d{2}\s+)?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp][Mm])?)\s+From\s+"
    r"(?P<speaker>[^:\n]{1,150}?)(?:\s+[tT]o\s+(?P<to>[^:\n]{1,150}?))?\s*:(?:\s+(?P<text>.*)|$)"
)
PRIVATE = re.compile(r"\s*\((?:direct message|privately)\)\s*$", re.IGNORECASE)
EVERYBODY = re.compile(r"(?:everyone|everybody|all .*|hosts? and panelists)\s*$", re.IGNORECASE)
ZOOM_EXPECTED = "lines like `10:01:23 From Ana to Everyone: Hi`"


def _zoom_chat(lines: list[str], _: Notes) -> list[Transcript]:
    transcript = Transcript()
    for number, line in enumerate(lines, start=1):
        match = ZOOM_LINE.match(line.strip(MARKS).strip())
        if match is None:
            if transcript.turns:
                transcript.extend(line)
            elif line.strip():
                raise ImportProblem(f"is no line of a chat of Zoom: expected {ZOOM_EXPECTED}", line=number)
            continue
        speaker, to = match["speaker"].strip(), match["to"] or ""
        listener = PRIVATE.sub("", to).strip()
        listeners = () if not listener or EVERYBODY.match(listener) else (listener,)
        is_private = bool(listeners and PRIVATE.search(to))
        transcript.add(
            speaker,
            match["text"] or "",
            match["time"],
            number,
            addressees=listeners,
            audience=(speaker, *listeners) if is_private else None,
        )
    if not transcript.turns:
        raise _refuse("chat", ZOOM_EXPECTED)
    return [transcript]


ZOOM_CHAT = Format(
    key="zoom-chat",
    title="Zoom, the chat of a meeting",
    hint="The .txt file of a meeting's chat that Zoom saves, or a folder of them.",
    read=lambda source: read_files(source, _zoom_chat),
    looks_like=lambda head: ZOOM_LINE.match(_first(_lines(head)).strip(MARKS).strip()) is not None,
    folder=True,
    settings=("dialogue",),
)


# Logs of IRC: `[10:01] <ana> hi`; `* ana waves` is a turn of ana.

IRC_TIME = r"\[?(?P<time>(?:\d{4}-\d{2}-\d{2}[T ])?\d{1,2}:\d{2}(?::\d{2})?)\]?\s+"
IRC_LINE = re.compile(rf"(?:{IRC_TIME})?<[ @+%&~]?(?P<speaker>[^<>\s]{{1,40}})>\s(?P<text>.*)")
IRC_ACTION = re.compile(rf"(?:{IRC_TIME})?\*\s(?P<speaker>[^<>\s*]{{1,40}})\s(?P<text>.*)")
IRC_EXPECTED = "lines like `[10:01] <ana> hi`"


def _irc(lines: list[str], notes: Notes) -> list[Transcript]:
    speakers = {match["speaker"] for match in map(IRC_LINE.match, lines) if match}
    transcript = Transcript()
    for number, line in enumerate(lines, start=1):
        match = IRC_LINE.match(line)
        action = None if match else IRC_ACTION.match(line)
        if action and action["speaker"] in speakers:
            transcript.add(
                action["speaker"], f"* {action['text']}", action["time"] or "", number, extra={"action": True}
            )
        elif match:
            transcript.add(match["speaker"], match["text"], match["time"] or "", number)
        elif line.strip():
            notes.left_out[SYSTEM_LINES] += 1
    if not transcript.turns:
        raise _refuse("log", IRC_EXPECTED)
    return [transcript]


def _looks_like_irc(head: Head) -> bool:
    lines = [line for line in _lines(head)[:200] if line.strip()]
    n_said = sum(IRC_LINE.match(line) is not None for line in lines)
    return n_said > 1 and n_said * 3 >= len(lines)


IRC = Format(
    key="irc",
    title="IRC, a log",
    hint="A log of a channel, with lines like [10:01] <ana> hi, or a folder of them.",
    read=lambda source: read_files(source, _irc),
    looks_like=_looks_like_irc,
    folder=True,
    settings=("dialogue",),
)


# Plain transcripts: `Ana: hello`, `[00:01:02] Ana: hello`, and Otter's and Rev's names above their texts.

CLOCK = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}[T ])?(?:\d{1,2}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?(?:\s?[AaPp][Mm])?"
SPAN = rf"(?P<AT>{CLOCK})(?:\s*(?:-->|[-–—])\s*(?P<AT_end>{CLOCK}))?"
BEFORE, AFTER, BESIDE = (SPAN.replace("AT", name) for name in ("before", "after", "beside"))
BESIDE = BESIDE.replace(">", r">(?:\d{1,2}[./]\d{1,2}[./]\d{2,4},? )?", 1)
TRANSCRIPT_LINE = re.compile(
    rf"\s*(?:>{{1,3}}\s*)?(?:\d{{1,4}}[.)]\s+)?(?:[\[(<{{]?{BEFORE}[\])>}}]?\s*[-–|]?\s*)?"
    rf"(?:\*\*|__)?(?:\[(?P<bracketed>{NAME})\]\s*(?=:|\s)|(?P<speaker>{NAME}))"
    rf"(?:\s*[\[(]{AFTER}[\])])?(?:\*\*|__)?"
    r"(?:\s*:(?:\*\*|__)?(?:\s+|$)|\s*：\s*|>\s+)(?P<text>.*)"
)
NAME_LINE = re.compile(
    rf"\s*(?P<speaker>{NAME})"
    rf"(?:\s*[\[(]{AFTER}[\])]|\s+(?:[—–-]\s+)?(?:(?:Today|Yesterday) at )?{BESIDE})\s*:?\s*$"
)
"""A line with a name and a time, above the text."""
TELEGRAM_LINE = re.compile(
    r"(?P<speaker>[^\[\]\n]{1,80}), \[(?P<time>\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}:\d{2}(?::\d{2})?"
    r"(?:\s?[AaPp][Mm])?)\]:?\s*(?P<text>.*)$"
)
"""Messages copied from Telegram: `Ana, [12.01.2024 10:01]`, text below."""
DIVIDER = re.compile(
    r"\s*(?:[-=*_—]{3,}|#{3,}\s*(?P<title>.*?)\s*#*|"
    r"[#\s]*(?P<numbered>(?:dialog(?:ue)?|conversation|chat|session|scene|example)\s*#?\d+)\s*:?)\s*$",
    re.IGNORECASE,
)
CAPTION_LINE = re.compile(rf"\s*\[(?P<speaker>[^\[\]\n]{{1,80}})\]\s+(?P<time>{CLOCK})\s*$")
"""A line of Zoom's saved captions, above the text: `[Ana Smith] 13:01:02`."""
ALONE = re.compile(rf"\s*{CLOCK}\s*")
"""A line with only the time of the next turn."""
FOOTER = re.compile(r"\s*transcribed by\b.*otter", re.IGNORECASE)
LONGEST_BEGINNING = 400
"""Characters of a line in which its speaker and time stand."""
TRANSCRIPT_EXPECTED = "lines like `Ana: Hello` or `[00:01:02] Ana: Hello`"


@dataclass(slots=True)
class _Line:
    """A line of a plain transcript, with its speaker if it names one."""

    number: int
    text: str
    speaker: str = ""
    time: str = ""
    end: str = ""
    is_certain: bool = False

    @property
    def is_divider(self) -> bool:
        is_short = not self.speaker and len(self.text) <= LONGEST_BEGINNING
        return is_short and DIVIDER.match(self.text) is not None


def _line(number: int, line: str) -> _Line:
    start = line[:LONGEST_BEGINNING]
    if start == line and (match := TELEGRAM_LINE.match(line)):
        return _Line(number, match["text"], match["speaker"].strip(), match["time"], is_certain=True)
    if start == line and (match := CAPTION_LINE.match(line)):
        return _Line(number, "", match["speaker"].strip(), match["time"], is_certain=True)
    if start == line and (match := NAME_LINE.match(line)):
        time, end = match["after"] or match["beside"], match["after_end"] or match["beside_end"]
        return _Line(number, "", match["speaker"], time, end or "")
    match = TRANSCRIPT_LINE.match(start)
    if match is None or match["text"].startswith("//"):
        return _Line(number, line)
    text = line[match.start("text") :]
    time, end = match["before"] or match["after"], match["before_end"] or match["after_end"]
    return _Line(number, text, _name(match), time or "", end or "")


COUNTED = re.compile(r"([^\W\d_]{1,12})[ .#]?(\d{1,4})")
"""A speaker with the number of the turn: `T1`, `C1`, `T2`."""
LONGEST_NAME_LINE = 40
NAME_ALONE = re.compile(rf"\s*(?P<speaker>{NAME})\s*")


def _drop_counts(entries: list[_Line]) -> None:
    """Take the numbers of turns off the speakers, where each turn has its own."""
    turn_lines = [entry for entry in entries if entry.speaker]
    matches = [match for entry in turn_lines if (match := COUNTED.fullmatch(entry.speaker))]
    stems = {match[1] for match in matches}
    numbers = [int(match[2]) for match in matches]
    if (
        len(matches) == len(turn_lines) >= 4
        and 1 < len(stems) <= 4
        and numbers == sorted(numbers)
        and len({entry.speaker for entry in turn_lines}) * 5 >= 4 * len(turn_lines)
    ):
        for entry, match in zip(turn_lines, matches, strict=True):
            entry.speaker = match[1]


def _name_blocks(entries: list[_Line]) -> None:
    """Take the first line of each block for its speaker, where no line names one and most blocks do."""
    if any(entry.speaker for entry in entries):
        return
    openers = [
        (entry, match)
        for before, entry, after in zip([None, *entries], entries, [*entries[1:], None], strict=False)
        if (before is None or not before.text.strip()) and entry.text.strip()
        if after is not None
        and after.text.strip()
        and len(entry.text) <= LONGEST_NAME_LINE
        and (match := NAME_ALONE.fullmatch(entry.text))
    ]
    n_blocks = sum(
        bool(entry.text.strip()) and (before is None or not before.text.strip())
        for before, entry in zip([None, *entries], entries, strict=False)
    )
    counts = Counter(match["speaker"] for _, match in openers)
    recurring = [(entry, match) for entry, match in openers if counts[match["speaker"]] > 1]
    if (
        len(recurring) >= 4
        and len(recurring) * 5 >= n_blocks * 4
        and len({m["speaker"] for _, m in recurring}) > 1
    ):
        for entry, match in recurring:
            entry.speaker, entry.text = match["speaker"], ""


def _marked(lines: list[str], notes: Notes) -> list[_Line]:
    """Return the lines, with a speaker where one begins to speak."""
    entries = [_line(number, line) for number, line in enumerate(lines, start=1)]
    _name_blocks(entries)
    _drop_counts(entries)
    turn_lines = [entry for entry in entries if entry.speaker]
    from_first_time = list(dropwhile(lambda entry: not entry.time, turn_lines))
    n_timed = sum(bool(entry.time) for entry in turn_lines)
    is_timed = n_timed > 0 and n_timed * 5 >= len(from_first_time) * 4
    speakers = speakers_of(entry.speaker for entry in turn_lines if entry.time or not is_timed)
    speakers |= {entry.speaker for entry in turn_lines if entry.is_certain}
    notes.pass_over((entry.speaker for entry in turn_lines), speakers)
    return [
        entry if entry.speaker in speakers and (entry.time or not is_timed) else _Line(entry.number, line)
        for entry, line in zip(entries, lines, strict=True)
    ]


def _plain_transcript(lines: list[str], notes: Notes) -> list[Transcript]:
    marked = _marked(lines, notes)
    if not any(line.speaker for line in marked):
        raise _refuse("text", TRANSCRIPT_EXPECTED)
    dialogues = []
    above: list[str] = []
    for title, block in _divided(marked, notes):
        transcript, clock = Transcript(metadata={"title": title} if title else {}), ""
        for line in block:
            if line.speaker:
                more = {"extra": {"end": line.end}} if line.end else {}
                transcript.add(line.speaker, line.text, line.time or clock, line.number, **more)
                clock = ""
            elif len(line.text) < LONGEST_BEGINNING and ALONE.fullmatch(line.text):
                clock = line.text.strip()
            elif FOOTER.match(line.text):
                notes.left_out[SYSTEM_LINES] += 1
            elif transcript.turns:
                transcript.extend(line.text)
            elif line.text.strip():
                above.append(line.text.strip())
        if transcript.turns:
            dialogues.append(transcript)
            if above:
                transcript.metadata["heading"] = "\n".join(above)
            above = []
    if above:
        notes.left_out["lines where nobody speaks"] += len(above)
    notes.speakers.update(turn.speaker for dialogue in dialogues for turn in dialogue.turns)
    return dialogues


def _divided(lines: list[_Line], notes: Notes) -> list[tuple[str, list[_Line]]]:
    """Divide the lines into dialogues with their titles: at dividers, else at blank lines where these do."""
    if any(line.is_divider for line in lines):
        blocks: list[tuple[str, list[_Line]]] = [("", [])]
        for line in lines:
            if line.is_divider:
                match = DIVIDER.match(line.text)
                blocks.append(((match["title"] or match["numbered"] or "") if match else "", []))
            else:
                blocks[-1][1].append(line)
        n_dialogues = sum(any(line.speaker for line in block) for _, block in blocks)
        if n_dialogues > 1:
            notes.say("Lines like --- or ### divide dialogues.")
        return blocks
    groups: list[list[_Line]] = [[]]
    for line in lines:
        if line.speaker or line.text.strip():
            groups[-1].append(line)
        elif groups[-1]:
            groups.append([])
    groups = [group for group in groups if group]
    openers = {next((line.speaker for line in group if line.speaker), "") for group in groups}
    if len(groups) > 1 and all(sum(bool(line.speaker) for line in group) > 1 for group in groups):
        if len(openers) == 1:
            notes.say("Blank lines divide dialogues, each begun by the same speaker.")
            return [("", group) for group in groups]
        notes.say("Blank lines do not divide dialogues: put --- between them if they should.")
    return [("", lines)]


def _looks_like_transcript(head: Head) -> bool:
    """Whether most lines are turns, of speakers who speak again: no table, no Markdown, no settings."""
    every_line = _lines(head)[:300]
    lines = [line for line in every_line if line.strip()]
    first = lines[0] if lines else ""
    if (
        first.startswith(("{", "[{", "[[", "<", "%", "==", "# ", "---\n"))
        or "\t" in first
        or "\0" in head.text
    ):
        return False
    if any(line.startswith(("# ", "## ", "```", "| ", "- ", "* ")) for line in lines):
        return False
    marked = [line for line in _marked(every_line, Notes()) if line.speaker or line.text.strip()]
    turn_lines = [line for line in marked if line.speaker]
    if len(turn_lines) < 2 or (not marked[0].speaker and re.search(r"[,;|]", first)):
        return False
    n_above = marked.index(turn_lines[0])
    n_lines, n_texts_below = len(lines) - n_above, sum(not line.text for line in turn_lines)
    counts = Counter(line.speaker for line in turn_lines)
    recurring = sum(count for name, count in counts.items() if count > 1 or ROLE.fullmatch(name))
    return (
        n_above <= MOST_ABOVE
        and (len(turn_lines) + n_texts_below) * 2 >= n_lines
        and (recurring * 2 >= len(turn_lines) or all(line.time for line in turn_lines))
        and len(counts) > 1
    )


MOST_ABOVE = 20
"""Lines of a heading above a transcript."""
TRANSCRIPT = Format(
    key="transcript",
    title="A transcript as text",
    hint="Lines like Ana: hello, with times or without, also of Otter and Rev; or a folder of such files.",
    read=lambda source: read_files(source, _plain_transcript),
    looks_like=_looks_like_transcript,
    folder=True,
    settings=("dialogue",),
)
FORMATS = (SUBTITLES, WHATSAPP, ZOOM_CHAT, IRC, TRANSCRIPT)

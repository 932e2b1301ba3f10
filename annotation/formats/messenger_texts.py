"""Chats that messengers export as text with the date on a line of its own: KakaoTalk, LINE, iMessage."""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotation.formats.corpus_format import Format
from annotation.formats.source import ImportProblem
from annotation.formats.transcripts import SYSTEM_LINES, Notes, Parse, Transcript, read_files

HALF = r"(?:오전|오후|上午|下午|午前|午後|[AaPp]\.?[Mm]\.?)"
CLOCK = rf"(?:{HALF} ?)?\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?: ?{HALF})?"


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of a messenger: of a day, of a message, and those that nobody says."""

    day: re.Pattern[str]
    message: re.Pattern[str]
    event: re.Pattern[str]
    expected: str

    def parse(self, lines: list[str], notes: Notes) -> list[Transcript]:
        """Return the chat; lines below a message belong to it."""
        transcript, day, is_open, is_quoted = Transcript(), "", False, False
        for number, line in enumerate(lines, start=1):
            if match := self.day.fullmatch(line.strip()):
                day, is_open = match["day"], False
            elif match := self.message.fullmatch(line):
                text = match["text"]
                is_quoted = text.startswith('"') and text.count('"') == 1  # and goes on below
                moment = f"{day} {match['time']}".strip()
                transcript.add(match["speaker"], text[1:] if is_quoted else text, moment, number)
                is_open = True
            elif self.event.match(line):
                notes.left_out[SYSTEM_LINES] += 1
                is_open = False
            elif is_open:
                is_end = is_quoted and line.endswith('"')
                transcript.extend(line[:-1] if is_end else line)
                is_quoted = is_quoted and not is_end
        if not transcript.turns:
            raise ImportProblem(f"no line is a message: expected {self.expected}")
        notes.speakers.update(turn.speaker for turn in transcript.turns)
        return [transcript]


KAKAO = _Lines(
    day=re.compile(r"-{5,} (?P<day>[^-].{0,60}?) -{5,}"),
    message=re.compile(
        rf"\[(?P<speaker>[^\[\]]{{1,80}})\] \[(?P<time>{CLOCK})\] (?P<text>.*)",
    ),
    event=re.compile(r".{1,80}?님[이을] .*(?:습니다|했습니다)\.?$|.{1,80}? (?:joined|left) this chat"),
    expected="lines like `[Ana] [10:00 AM] Hello`",
)
KAKAO_MOBILE = _Lines(
    day=re.compile(r"(?P<day>\d{4}년 \d{1,2}월 \d{1,2}일(?: \S+)?)"),
    message=re.compile(
        rf"(?P<time>\d{{4}}년 \d{{1,2}}월 \d{{1,2}}일 {CLOCK}), (?P<speaker>[^:]{{1,80}}?) : (?P<text>.*)"
    ),
    event=re.compile(rf"\d{{4}}년 \d{{1,2}}월 \d{{1,2}}일 {CLOCK}"),
    expected="lines like `2024년 1월 1일 오후 3:11, Ana : Hello`",
)
LINE = _Lines(
    day=re.compile(r"(?P<day>\d{4}[/.]\d{1,2}[/.]\d{1,2})(?: ?\(.{1,10}\)| .{1,12})?"),
    message=re.compile(rf"(?P<time>{CLOCK})\t(?P<speaker>[^\t]{{1,80}})\t(?P<text>.*)"),
    event=re.compile(rf"{CLOCK}\t"),
    expected="lines of a time, a name and a text with tabs between them",
)


def _parse_kakao(lines: list[str], notes: Notes) -> list[Transcript]:
    is_mobile = any(KAKAO_MOBILE.message.fullmatch(line) for line in lines[:200])
    return (KAKAO_MOBILE if is_mobile else KAKAO).parse(lines, notes)


IMESSAGE_TIME = re.compile(r"\w{3} \d{2}, \d{4} {1,2}\d{1,2}:\d{2}:\d{2} [AP]M(?: \(.*\))?")


def _parse_imessage(lines: list[str], notes: Notes) -> list[Transcript]:
    """Return the chat: a line with the time, one with the sender, and the text up to the next time."""
    transcript, time = Transcript(), ""
    for number, line in enumerate(lines, start=1):
        if IMESSAGE_TIME.fullmatch(line.strip()):
            time = line.partition(" (")[0].strip()
        elif time and line.strip():
            transcript.add(line, "", time, number)
            time = ""
        elif transcript.turns and not time:
            transcript.extend(line)
    if not transcript.turns:
        raise ImportProblem("no line is a message: expected a time, a sender and a text below one another")
    notes.speakers.update(turn.speaker for turn in transcript.turns)
    return [transcript]


def _format(key: str, title: str, hint: str, parse: Parse, start: str) -> Format:
    pattern = re.compile(start)
    return Format(
        key=key,
        title=title,
        hint=hint,
        read=lambda source: read_files(source, parse),
        looks_like=lambda head: pattern.match(head.text) is not None,
        folder=True,
        settings=("dialogue",),
    )


FORMATS = (
    _format(
        "kakaotalk",
        "KakaoTalk, an exported chat",
        "The .txt file that KakaoTalk exports from a chat, or a folder of them.",
        _parse_kakao,
        r"[^\n]{0,200}(?:KakaoTalk|카카오톡 대화)",
    ),
    _format(
        "line",
        "LINE, an exported chat",
        "The .txt file that LINE exports from a chat, or a folder of them.",
        LINE.parse,
        r"\[LINE\] ",
    ),
    _format(
        "imessage",
        "iMessage, exported as text",
        "A .txt file of imessage-exporter, or a folder of them.",
        _parse_imessage,
        IMESSAGE_TIME.pattern + r"\n[^\n]+\n",
    ),
)

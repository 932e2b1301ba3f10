"""Transcripts of speech recognition in JSON, and of linguists' programs: ELAN, Praat, CHAT."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

from annotation.formats.chat_records import Form, Raw, Record, at, has_paths, records, text_of
from annotation.formats.corpus_format import Format, Head
from annotation.formats.fields import is_number
from annotation.formats.source import ImportProblem, Source
from annotation.formats.transcripts import UNKNOWN, Notes, Transcript, read_files
from annotation.records import Turn

# Speech recognition: segments with a speaker, or words with one.

SEGMENTS = {
    "results.audio_segments": 1,  # Amazon Transcribe
    "Transcript": 1000,  # Amazon's call analytics
    "results.utterances": 1,  # Deepgram
    "results.channels.0.alternatives.0.paragraphs.paragraphs": 1,
    "utterances": 1000,  # AssemblyAI
    "monologues": 1,  # Rev
    "recognizedPhrases": 1,  # Azure
    "segments": 1,  # WhisperX
    "sentences": 1,  # Fireflies
    "transcript": 1000,  # Gong
}
"""Where the segments of a recording are, and how many of its units of time are a second."""
SPEAKERS = (
    "speaker", "speaker_name", "speakerName", "speaker_label", "ParticipantRole", "speakerId", "speaker_id",
    "speakerTag", "speakerLabel",
)  # fmt: skip
CHANNELS = ("channel_label", "channel")
TEXTS = (
    "text", "transcript", "Content", "sentence", "elements", "sentences", "nBest.0.display",
    "punctuated_word", "word",
)  # fmt: skip
STARTS = (
    "start", "start_time", "startTime", "BeginOffsetMillis", "elements.0.ts", "sentences.0.start", "offset",
    "startOffset",
)  # fmt: skip
LATEST = 1e12
"""More than any time in a recording."""
UNSAID = "nobody says who speaks: transcribe the recording again with labels of speakers (diarization)"


def _at(raw: Any, path: str) -> Any:
    """Return the value at a path, in which numbers are places in lists."""
    for name in path.split("."):
        if isinstance(raw, list):
            raw = raw[int(name)] if name.isdigit() and int(name) < len(raw) else None
        else:
            raw = at(raw, name)
    return raw


def _first(raw: Raw, paths: Iterable[str]) -> Any:
    """Return the first value at these paths that is there: a speaker may be 0."""
    return next((value for path in paths if (value := _at(raw, path)) not in (None, "", [])), None)


def _prepare(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    """Yield a recording with a turn for each run of segments by one speaker."""
    recording = inner if isinstance(inner := _at(raw, "data.transcript"), dict) else raw
    path, segments = _segments(recording)
    if not segments:
        raise ImportProblem("holds no segments with a text")
    names = {str(person.get("id")): person.get("name") for person in _objects(recording.get("speakers"))}
    speakers = [_first(segment, SPEAKERS) for segment in segments]
    if not any(speaker is not None for speaker in speakers):
        channels = [_first(segment, CHANNELS) for segment in segments]
        if len({str(channel) for channel in channels}) < 2:
            raise ImportProblem(UNSAID)
        speakers = [f"channel {channel}" if is_number(channel) else channel for channel in channels]
    turns: list[Raw] = []
    for number, (segment, speaker) in enumerate(zip(segments, speakers, strict=True)):
        text = _text(_first(segment, TEXTS), f"{path}[{number}]")
        name = names.get(str(speaker)) or speaker
        name = UNKNOWN if name is None else f"speaker {name}" if str(name).isdigit() else name
        if not text:
            continue
        if turns and turns[-1]["speaker"] == name:
            turns[-1]["text"] += f" {text}"
        else:
            turns.append({"speaker": name, "text": text, "time": _time(segment, path)})
    yield {**raw, "id": _first(recording, ("callId", "jobName", "JobName", "id")), "turns": turns}


def _objects(value: Any) -> list[Raw]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _segments(raw: Raw) -> tuple[str, list[Raw]]:
    """Return the segments of a recording with their path; words that have speakers are joined to such."""
    for path in SEGMENTS:
        if segments := _objects(_at(raw, path)):
            return path, segments
    results = raw.get("results")
    if isinstance(results, list):
        labels = _objects(raw.get("speaker_labels"))
        words = _words_of_watson(results, labels) if labels else _words_of_google(results)
        return "results", _of_words(words)
    if items := _objects(_at(results, "items")):
        return "results.items", _of_words(_words_of_amazon(items, results))
    return "results.channels", _of_words(_objects(_at(results, "channels.0.alternatives.0.words")))


def _words_of_google(results: list[Any]) -> list[Raw]:
    """Return the words with speakers: the last result has those of all, or each has its own."""
    parts = [_objects(_at(result, "alternatives.0.words")) for result in results]
    tagged = [[word for word in words if _first(word, SPEAKERS) not in (None, 0)] for words in parts if words]
    tagged = [words for words in tagged if words]
    if len(tagged) > 1 and _first(tagged[0][0], STARTS) == _first(tagged[-1][0], STARTS):
        return tagged[-1]
    return [word for words in tagged for word in words] or [word for words in parts for word in words]


def _words_of_watson(results: list[Any], labels: list[Raw]) -> list[Raw]:
    """Return the words with the speakers of their beginnings."""
    speakers = {str(label.get("from")): label.get("speaker") for label in labels}
    words = [word for result in results for word in _at(result, "alternatives.0.timestamps") or ()]
    return [
        {"speaker": speakers.get(str(word[1])), "text": word[0], "start": word[1]}
        for word in words
        if isinstance(word, list) and len(word) == 3
    ]


def _words_of_amazon(items: list[Raw], results: Any) -> list[Raw]:
    """Return the words with their speakers; punctuation belongs to the word before it."""
    speakers = {
        str(item.get("start_time")): item.get("speaker_label")
        for segment in _objects(_at(results, "speaker_labels.segments"))
        for item in _objects(segment.get("items"))
    }
    words: list[Raw] = []
    for number, item in enumerate(items):
        text = text_of(_at(item, "alternatives.0.content"), f"results.items[{number}]")
        if item.get("type") == "punctuation" and words:
            words[-1]["text"] += text
        else:
            speaker = item.get("speaker_label") or speakers.get(str(item.get("start_time")))
            words.append({"speaker": speaker, "text": text, "start": item.get("start_time")})
    return words


def _of_words(words: list[Raw]) -> list[Raw]:
    return [
        {"speaker": _first(word, SPEAKERS), "text": _first(word, TEXTS), "start": _first(word, STARTS)}
        for word in words
    ]


def _text(value: Any, path: str) -> str:
    """Return the text of a segment, also of its sentences, or of its words and the spaces between them."""
    if isinstance(value, list):
        parts = _objects(value)
        joint = "" if any("value" in part for part in parts) else " "
        return joint.join(text_of(_first(part, ("text", "value")), path) for part in parts).strip()
    return text_of(value, path).strip()


def _time(segment: Raw, path: str) -> Any:
    """Return a start in seconds, where it is a number: whole ones may count milliseconds."""
    value = _first(segment, STARTS)
    if not is_number(value) or abs(value) >= LATEST:
        return value
    is_fine = isinstance(value, int) and (path != "transcript" or "sentences" in segment)
    return round(value / SEGMENTS.get(path, 1), 3) if is_fine else value


def _read(source: Source, left_out: Counter[str]) -> Iterator[Record]:
    """Yield the recordings of a file; a list of segments is one."""
    segments: list[Raw] = []
    for record in records(source, ("callTranscripts",)):
        if isinstance(record.raw.get("text", record.raw.get("sentence")), str) and not any(
            isinstance(_at(record.raw, path), list) for path in SEGMENTS
        ):
            segments.append(record.raw)
        else:
            yield record
    if segments:
        yield Record({"segments": segments})


MARKS = (
    ("segments[].start", "segments[].end", "segments[].text"),
    ("results.speaker_labels", "results.items"),
    ("results.transcripts", "results.items"),
    ("results.audio_segments",),
    ("Transcript[].ParticipantRole", "Transcript[].Content"),
    ("results.channels[].alternatives",),
    ("utterances[].speaker", "utterances[].start", "utterances[].text"),
    ("monologues[].elements",),
    ("recognizedPhrases[].nBest",),
    ("results[].alternatives[].transcript",),
    ("results[].alternatives[].words[].word",),
    ("sentences[].speaker_name",),
    ("transcript[].speakerId", "transcript[].sentences"),
    ("transcript[].speaker", "transcript[].text", "transcript[].start"),
    ("sentence", "speaker_name", "startTime"),
    ("text", "start", "duration"),
)
"""The paths that tell such a file, of one program each."""
SPEECH = Form(
    key="speech",
    title="Transcripts of speech recognition",
    hint='JSON with speakers, of WhisperX ({"segments": [{"speaker", "text", "start", "end"}]}) and others.',
    looks_like=lambda head: head.is_json and any(has_paths(head, *mark) for mark in MARKS),
    time=("time",),
    metadata=("language", "language_code", "title"),
    is_named_by_file=True,
    roles=None,
    read=_read,
    prepare=_prepare,
)


# Tiers with times, one or several a speaker: ELAN and Praat.


LEVEL = re.compile(
    r"(?P<speaker>.*?)[\s_:-]*(?P<level>words?|ort|transcription|utterances?|text|phon(?:e|eme)s?|segments?|"
    r"syllables?|mau|sounds?)",
    re.IGNORECASE,
)
"""Names of tiers after what is in them, as aligners write: `Ana - words`, `phones`."""
PARTS = re.compile(r"phon|seg|syl|mau|sound", re.IGNORECASE)
Tier = tuple[str, list[tuple[float, str]]]


def _of_tiers(tiers: Iterable[Tier], notes: Notes) -> Transcript:
    """Return the texts of the speakers' tiers as turns in the order of their times."""
    spoken: list[tuple[float, str, str]] = []
    for name, texts in tiers:
        match = LEVEL.fullmatch(name.strip())
        if match and PARTS.match(match["level"]):
            notes.left_out["tiers of sounds or syllables"] += 1
        elif texts := [(start, text) for start, text in texts if text]:
            speaker = match["speaker"] if match else name
            if not speaker.strip():
                raise ImportProblem(
                    f"the tier {name.strip()[:40]!r} names no speaker: name tiers after speakers"
                )
            spoken += [(start, speaker, text) for start, text in texts]
    spoken.sort(key=lambda entry: entry[0])
    transcript = Transcript()
    for start, name, text in spoken:
        if transcript.turns and transcript.turns[-1].speaker == name.strip():
            transcript.extend(text, " ")
        else:
            transcript.add(name, text, f"{start:.3f}".rstrip("0").rstrip("."))
    if not transcript.turns:
        raise ImportProblem("no tier has a text with times")
    return transcript


TIME = re.compile(r"\d{1,12}", re.ASCII)


def _elan(lines: list[str], notes: Notes) -> list[Transcript]:
    text = "\n".join(lines)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ImportProblem("defines entities, which no file of ELAN does")
    try:
        root = ElementTree.fromstring(text.encode())
    except ElementTree.ParseError as error:
        raise ImportProblem(f"is not valid XML: {error}") from None
    slots: dict[str, float] = {}
    time = 0.0
    for slot in root.iter("TIME_SLOT"):  # in the order of time; some have none of their own
        value = slot.get("TIME_VALUE", "")
        time = int(value) / 1000 if TIME.fullmatch(value) else time
        slots[slot.get("TIME_SLOT_ID", "")] = time
    tiers = []
    for tier in root.iter("TIER"):
        name = tier.get("PARTICIPANT") or tier.get("TIER_ID") or UNKNOWN
        if tier.get("PARENT_REF"):
            notes.left_out["tiers below others (translations, glosses)"] += 1
            continue
        tiers.append((name, list(_annotations(tier, slots))))
    several = Counter(name for name, texts in tiers if texts)
    if repeated := [name for name, count in several.items() if count > 1]:
        raise ImportProblem(f"has several tiers of {repeated[0][:40]}: keep the one with the words")
    return [_of_tiers(tiers, notes)]


def _annotations(tier: ElementTree.Element, slots: dict[str, float]) -> Iterator[tuple[float, str]]:
    for annotation in tier.iter("ALIGNABLE_ANNOTATION"):
        start = slots.get(annotation.get("TIME_SLOT_REF1", ""))
        text = (annotation.findtext("ANNOTATION_VALUE") or "").strip()
        if start is not None:
            yield start, text


ELAN = Format(
    key="elan",
    title="ELAN",
    hint="An .eaf file with a tier for each speaker, or a folder of them.",
    read=lambda source: read_files(source, _elan),
    looks_like=lambda head: "<ANNOTATION_DOCUMENT" in head.text[:2000],
    folder=True,
    settings=("dialogue",),
)

VALUE = re.compile(r'"((?:[^"]|"")*+)"|(?<![\w"])(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w"\]])')
"""The texts and numbers of a TextGrid, long or short; not the numbers in brackets."""
INTERVALS, POINTS = "IntervalTier", "TextTier"


def _praat(lines: list[str], notes: Notes) -> list[Transcript]:
    values = [
        text.replace('""', '"') if number == "" else float(number)
        for text, number in VALUE.findall("\n".join(lines))
    ]
    tiers: list[Tier] = []
    place = 0
    while place + 4 < len(values):
        kind, name, _, _, size = values[place : place + 5]
        place += 1
        if kind not in (INTERVALS, POINTS) or not isinstance(size, float) or not size < len(values):
            continue
        width = 3 if kind == INTERVALS else 2
        first, place = place + 4, place + 4 + int(size) * width
        entries = [values[start : start + width] for start in range(first, place, width)]
        if kind == POINTS:
            notes.left_out["tiers of points"] += 1
            continue
        times = [(entry[0], entry[-1]) for entry in entries if len(entry) == width]
        tiers.append(
            (str(name), [(start, str(text).strip()) for start, text in times if isinstance(start, float)])
        )
    return [_of_tiers(tiers, notes)]


PRAAT = Format(
    key="praat",
    title="Praat",
    hint="A TextGrid with a tier of intervals for each speaker, or a folder of them.",
    read=lambda source: read_files(source, _praat),
    looks_like=lambda head: "ooTextFile" in head.text[:200] and '"TextGrid"' in head.text[:300],
    folder=True,
    settings=("dialogue",),
)


# CHAT, the form of CHILDES and TalkBank: `*MOT:` and the text, which goes on in lines that a tab begins.

CHAT_LINE = re.compile(r"\*(?P<speaker>[^\s:]{1,20}):\s*(?P<text>.*)")
BULLET = re.compile(r"\x15(\d{1,12})_\d{1,12}\x15", re.ASCII)
PARTICIPANT = re.compile(r"\s*(?P<code>\w+)\s+(?P<rest>[^,]*)")


def _chat(lines: list[str], notes: Notes) -> list[Transcript]:
    transcript = Transcript()
    speakers: dict[str, str] = {}
    is_said = False
    for number, line in enumerate(lines, start=1):
        if line.startswith("\t") and is_said:
            transcript.extend(line, " ")
        elif match := CHAT_LINE.match(line):
            code, is_said = match["speaker"], True
            transcript.add(
                code, match["text"], line=number, extra={"role": speakers[code]} if code in speakers else {}
            )
        else:
            is_said = False
            if line.startswith("@Participants:"):
                for part in line.partition(":")[2].split(","):
                    if participant := PARTICIPANT.match(part):
                        speakers[participant["code"]] = " ".join(participant["rest"].split())
            elif line.startswith(("@Date:", "@Languages:", "@Situation:", "@Location:")):
                name, _, value = line.partition(":")
                transcript.metadata[name[1:].lower()] = value.strip()
            elif line.startswith("%"):
                notes.left_out["dependent tiers (%mor, %com and others)"] += 1
    if not transcript.turns:
        raise ImportProblem("no line says who speaks in this transcript: expected lines like `*MOT: hello .`")
    transcript.turns = [_without_times(turn) for turn in transcript.turns]
    return [transcript]


def _without_times(turn: Turn) -> Turn:
    """Return a turn without the times of its recording in the text, but with the first as its time."""
    times = BULLET.findall(turn.text)
    text = " ".join(BULLET.sub("", turn.text).split())
    return replace(turn, text=text, time=f"{int(times[0]) / 1000:g}" if times else "")


def _begins_chat(head: Head) -> bool:
    start = head.text[:2000]
    return start.startswith(("@UTF8", "@Begin")) and ("@Begin" in start or "@Participants" in start)


CHAT = Format(
    key="chat",
    title="CHAT, of CHILDES and TalkBank",
    hint="A .cha file, with lines like *MOT: hello ., or a folder of them.",
    read=lambda source: read_files(source, _chat),
    looks_like=_begins_chat,
    folder=True,
    settings=("dialogue",),
)


FORMATS = (SPEECH.format(), ELAN, PRAAT, CHAT)

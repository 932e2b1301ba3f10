"""Corpora in ConvoKit's form: `utterances.jsonl` with `conversations.json` and `speakers.json` beside it.

Older field names are accepted: `users.json`, `user`, `root` and `reply_to`, and metadata of a conversation
or speaker without `meta` around it. ConvoKit writes JSON by Python's rules: NaN is a missing value. The
utterances of a conversation may be anywhere in the file; their order is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.formats.corpus_format import Format, Head, SourceRecord
from annotation.formats.fields import Fields, decode_python, plain, require
from annotation.formats.source import ImportProblem, Source
from annotation.records import SELF, Dialogue, LabelRecord, Participant, Turn

UTTERANCES = "utterances.jsonl"
CONVERSATIONS = "conversations.json"
SPEAKERS = ("speakers.json", "users.json")
OTHERS = ("corpus.json", "index.json")
"""Files of the form without any dialogue data."""
UTTERANCE = frozenset(
    {
        "id",
        "conversation_id",
        "root",
        "text",
        "speaker",
        "user",
        "meta",
        "reply-to",
        "reply_to",
        "timestamp",
        "vectors",
    }
)


@dataclass(frozen=True, slots=True)
class Utterance:
    """One utterance: its text, speaker, time and metadata, with its line number."""

    id: str
    speaker: str
    text: str
    time: str
    reply_to: str
    meta: dict[str, Any]
    line: int


@dataclass(slots=True)
class Conversation:
    """A conversation with its utterances in the file's order, and its metadata."""

    id: str
    meta: dict[str, Any]
    utterances: list[Utterance] = field(default_factory=list)


@dataclass(slots=True)
class Convokit:
    """A complete corpus. `speakers` is the metadata of each; `missing` are files that were not found."""

    conversations: dict[str, Conversation]
    speakers: dict[str, dict[str, Any]]
    missing: tuple[str, ...]


def read(source: Source) -> Convokit:
    """Read a corpus from a folder, or from `utterances.jsonl` alone; raise or report ImportProblem."""
    files = source.files_by_name(UTTERANCES)
    utterances = files.pop(UTTERANCES, None)
    if utterances is None:
        raise ImportProblem(f"there is no {UTTERANCES} among the files")
    about = _read_meta(source, files.pop(CONVERSATIONS, None))
    speakers_file = next((files.pop(name) for name in SPEAKERS if name in files), None)
    speakers = _read_meta(source, speakers_file)
    if extra := sorted(files.keys() - set(OTHERS)):
        raise ImportProblem("is no file of a corpus in ConvoKit's form: leave it out", file=extra[0])
    corpus = Convokit({}, speakers, _missing(about, speakers))
    lines: dict[str, int] = {}
    for line, content in source.lines(utterances):
        with source.report_problems(utterances, line):
            _add(corpus, about, content, line, lines)
    return corpus


def _missing(about: Mapping[str, Any], speakers: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name, records in ((CONVERSATIONS, about), (SPEAKERS[0], speakers)) if not records)


def _read_meta(source: Source, file: Path | None) -> dict[str, dict[str, Any]]:
    """Read the metadata of each conversation or speaker, by id."""
    if file is None:
        return {}
    try:
        content = require(decode_python(source.document(file)), dict, expected="an object by id")
        return {key.strip(): _meta(value, key) for key, value in content.items()}
    except ImportProblem as problem:
        raise problem.placed(file=file.name) from None


def _meta(value: Any, path: str) -> dict[str, Any]:
    """Return the metadata of one record: `meta` in the current form, all but `vectors` in the older."""
    content = require(value, dict, path)
    inner = content.get("meta", {name: part for name, part in content.items() if name != "vectors"})
    return dict(Fields({"meta": inner}, path).object("meta"))


def _add(
    corpus: Convokit, about: dict[str, dict[str, Any]], content: bytes, line: int, lines: dict[str, int]
) -> None:
    fields = Fields(decode_python(content), "", UTTERANCE)
    key = fields.id("conversation_id" if fields.has("conversation_id") else "root")
    if about and key not in about:
        raise fields.problem("conversation_id", f"{key[:60]!r} is not in {CONVERSATIONS}")
    speaker = fields.id("speaker" if "speaker" in fields.raw else "user")
    if corpus.speakers and speaker not in corpus.speakers:
        raise fields.problem("speaker", f"{speaker[:60]!r} is not in {SPEAKERS[0]}")
    own = fields.id("id")
    if own in lines:
        raise fields.problem("id", f"{own[:60]!r} is there twice, first on line {lines[own]}")
    lines[own] = line
    utterance = Utterance(
        own,
        speaker,
        fields.text("text"),
        fields.text_or_number("timestamp"),
        fields.text("reply-to" if "reply-to" in fields.raw else "reply_to", ""),
        fields.object("meta"),
        line,
    )
    conversation = corpus.conversations.setdefault(key, Conversation(key, about.get(key, {})))
    conversation.utterances.append(utterance)


def dialogues(
    source: Source, corpus: Convokit, make: Callable[[Conversation], Dialogue]
) -> Iterator[SourceRecord]:
    """Yield a dialogue for each conversation, in the order in which they begin in the file."""
    if corpus.missing:
        source.notes.append(f"read without {' and '.join(corpus.missing)}: what these say is not known")
    file = Path(UTTERANCES)
    for conversation in corpus.conversations.values():
        with source.report_problems(file):
            line = conversation.utterances[0].line
            yield SourceRecord(make(conversation), line, source.name_in_folder(file))


def select_meta(meta: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Select these names of the metadata, leaving out those without a value."""
    return {name: plain(meta[name], name) for name in names if meta.get(name) not in (None, "", [], {})}


# Oxford-style debates of Intelligence Squared (Zhang et al. 2016), in ConvoKit's form.
#
# A debate is one dialogue by people. Its title, date, votes and winner go into the metadata; a speaker's side
# (`for`, `against`, `mod`, ...) is the role, the short biography the profile. The segment of an utterance and
# audible events beside the words (laughter, applause) stay with the turn, for researchers.

SEGMENTS = {0: "introduction", 1: "discussion", 2: "conclusion"}
IQ2_ABOUT = ("title", "summary", "date", "url", "winner", "results", "originalid")
SIGNS = ('"speakertype"', '"paragraphbreaks"')


def read_iq2(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each debate, in the order of the file."""
    corpus = read(source)
    yield from dialogues(source, corpus, lambda debate: _debate(debate, corpus))


def _debate(debate: Conversation, corpus: Convokit) -> Dialogue:
    sides: dict[str, str] = {}
    for utterance in debate.utterances:
        sides[utterance.speaker] = sides.get(utterance.speaker) or _side(utterance)
    return Dialogue(
        id=debate.id,
        turns=tuple(_debate_turn(utterance) for utterance in debate.utterances),
        participants=tuple(
            _participant(speaker, side, corpus.speakers.get(speaker, {})) for speaker, side in sides.items()
        ),
        language="en",
        metadata=select_meta(debate.meta, *IQ2_ABOUT),
    )


def _side(utterance: Utterance) -> str:
    side = utterance.meta.get("speakertype")
    if side is not None and not isinstance(side, str):
        raise ImportProblem("must be a text", field="meta.speakertype", line=utterance.line)
    return side or ""


def _participant(speaker: str, side: str, meta: dict[str, Any]) -> Participant:
    short, long = meta.get("bio_short"), meta.get("bio")
    profile = next((text for text in (short, long) if isinstance(text, str) and text.strip()), "")
    extra = {"bio": long} if isinstance(long, str) and long.strip() and long != profile else {}
    return Participant(speaker, role=side, profile=(profile,) if profile else (), extra=extra)


def _debate_turn(utterance: Utterance) -> Turn:
    extra = {name: value for name, value in utterance.meta.items() if name != "speakertype" and value}
    segment = utterance.meta.get("segment")
    if segment is not None:
        if type(segment) not in (int, float) or segment not in SEGMENTS:
            raise ImportProblem("must be 0, 1 or 2", field="meta.segment", line=utterance.line)
        extra["segment"] = SEGMENTS[int(segment)]
    return Turn(utterance.speaker, utterance.text, time=utterance.time, extra=extra)


def _looks_like_iq2(head: Head) -> bool:
    debates = {"results", "winner", "title"} <= head.inner
    line = {"text"} <= head.keys and bool({"conversation_id", "root"} & head.keys)
    return debates or (line and any(sign in head.text for sign in SIGNS))


IQ2 = Format(
    key="iq2",
    title="Intelligence Squared debates",
    hint="utterances.jsonl, conversations.json and speakers.json of ConvoKit's iq2-corpus together.",
    read=read_iq2,
    looks_like=_looks_like_iq2,
    folder=True,
)


# DeliData (Karadzhov et al. 2021): groups that solve Wason's card task by chat, in ConvoKit's form.
#
# A chat is one dialogue by people. The task, the share of right solutions and the counts go into its
# metadata, each participant's final answer and whether it was right into that participant's `extra`. Where
# utterances are annotated (`annotation_type`, `annotation_target`, `annotation_additional`), the
# annotations become nominal labels of one imported rater. An empty text stays an empty turn, and is
# reported.

RATER = "DeliData annotation"
ANNOTATIONS = ("annotation_type", "annotation_target", "annotation_additional")
NOTHING = ("", "0", "0.0", "None", "nan")
"""Values in the files for a missing annotation."""
TASK = {
    "task": "Wason card selection",
    "task_goal": "Each card has a letter on one side and a number on the other. The group agrees which cards "
    "must be turned over to test the rule: a card with a vowel has an even number on its other side.",
}
DELIDATA_ABOUT = ("correct_ratio", "num_participants", "num_chats")
MAX_LISTED = 5
"""Maximum number of empty turns listed in a note."""


def read_delidata(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each chat, in the order of the file."""
    corpus = read(source)
    yield from dialogues(source, corpus, lambda chat: _chat(chat, corpus))
    empty = [
        f"{chat.id}, turn {n}"
        for chat in corpus.conversations.values()
        for n, utterance in enumerate(chat.utterances)
        if not utterance.text.strip()
    ]
    if empty:
        examples = "; ".join(empty[:MAX_LISTED]) + ("; ..." if len(empty) > MAX_LISTED else "")
        source.notes.append(f"turns without text, kept as they are: {len(empty)} ({examples})")


def _chat(chat: Conversation, corpus: Convokit) -> Dialogue:
    speakers = dict.fromkeys(utterance.speaker for utterance in chat.utterances)
    labels = tuple(label for n, utterance in enumerate(chat.utterances) for label in _labels(utterance, n))
    return Dialogue(
        id=chat.id,
        turns=tuple(_chat_turn(utterance) for utterance in chat.utterances),
        participants=tuple(
            Participant(speaker, extra=_answer(corpus.speakers.get(speaker, {}))) for speaker in speakers
        ),
        labels=labels,
        language="en",
        metadata={**TASK, **select_meta(chat.meta, *DELIDATA_ABOUT)},
    )


def _answer(meta: dict[str, Any]) -> dict[str, Any]:
    """Return a participant's final answer, and whether it was right."""
    answer: dict[str, Any] = {}
    if meta.get("finalanswer") is not None:
        answer["final_answer"] = meta["finalanswer"]
    if isinstance(meta.get("correct_flag"), bool):
        answer["final_answer_right"] = meta["correct_flag"]
    return answer


def _chat_turn(utterance: Utterance) -> Turn:
    extra = {
        name: value for name, value in utterance.meta.items() if name not in ANNOTATIONS and value is not None
    }
    if utterance.reply_to:
        extra["reply_to"] = utterance.reply_to
    return Turn(utterance.speaker, utterance.text, time=utterance.time, extra=extra)


def _labels(utterance: Utterance, position: int) -> Iterator[LabelRecord]:
    for name in ANNOTATIONS:
        value = utterance.meta.get(name)
        if value is None or str(value).strip() in NOTHING:
            continue
        if not isinstance(value, str):
            raise ImportProblem("must be a text", field=f"meta.{name}", line=utterance.line)
        yield LabelRecord(
            rater=RATER,
            kind="human",
            continuation=SELF,
            turn=position,
            question=name,
            value=value.strip(),
            level="nominal",
        )


def _looks_like_delidata(head: Head) -> bool:
    chats = {"num_chats", "correct_ratio"} <= head.inner
    return chats or ({"conversation_id", "speaker", "text"} <= head.keys and '.tsv"' in head.text)


DELIDATA = Format(
    key="delidata",
    title="DeliData chats",
    hint="utterances.jsonl, conversations.json and speakers.json together, as ConvoKit writes them.",
    read=read_delidata,
    looks_like=_looks_like_delidata,
    folder=True,
)

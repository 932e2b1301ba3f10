"""DeliData (Karadzhov et al. 2021): groups that solve Wason's card task by chat, in ConvoKit's form.

A chat is one dialogue by people. The task, the share of right solutions and the counts go into its metadata,
each participant's final answer and whether it was right into that participant's `extra`. Where utterances are
annotated (`annotation_type`, `annotation_target`, `annotation_additional`), the annotations become nominal
labels of one imported rater. An empty text stays an empty turn, and is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.formats import convokit
from annotation.formats.convokit import Conversation, Convokit, Utterance
from annotation.formats.entry import Format, SourceRecord
from annotation.formats.head import Head
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import SELF, Dialogue, LabelRecord, Participant, Turn

RATER = "DeliData annotation"
ANNOTATIONS = ("annotation_type", "annotation_target", "annotation_additional")
NOTHING = ("", "0", "0.0", "None", "nan")
"""How the files write that nothing was annotated."""
TASK = {
    "task": "Wason card selection",
    "task_goal": "Each card has a letter on one side and a number on the other. The group agrees which cards "
    "must be turned over to test the rule: a card with a vowel has an even number on its other side.",
}
ABOUT = ("correct_ratio", "num_participants", "num_chats")
NAMED = 5
"""So many empty turns are told one by one."""


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each chat, in the order of the file."""
    corpus = convokit.read(source)
    yield from convokit.dialogues(source, corpus, lambda chat: _dialogue(chat, corpus))
    empty = [
        f"{chat.id}, turn {n}"
        for chat in corpus.conversations.values()
        for n, one in enumerate(chat.utterances)
        if not one.text.strip()
    ]
    if empty:
        shown = "; ".join(empty[:NAMED]) + ("; ..." if len(empty) > NAMED else "")
        source.notes.append(f"turns without text, kept as they are: {len(empty)} ({shown})")


def _dialogue(chat: Conversation, corpus: Convokit) -> Dialogue:
    speakers = dict.fromkeys(one.speaker for one in chat.utterances)
    labels = tuple(label for n, one in enumerate(chat.utterances) for label in _labels(one, n))
    return Dialogue(
        id=chat.id,
        turns=tuple(_turn(one) for one in chat.utterances),
        participants=tuple(
            Participant(speaker, extra=_answer(corpus.speakers.get(speaker, {}))) for speaker in speakers
        ),
        labels=labels,
        language="en",
        metadata={**TASK, **convokit.told(chat.meta, *ABOUT)},
    )


def _answer(meta: dict[str, Any]) -> dict[str, Any]:
    """Return a participant's final answer, and whether it was right."""
    known: dict[str, Any] = {}
    if meta.get("finalanswer") is not None:
        known["final_answer"] = meta["finalanswer"]
    if isinstance(meta.get("correct_flag"), bool):
        known["final_answer_right"] = meta["correct_flag"]
    return known


def _turn(one: Utterance) -> Turn:
    extra = {name: value for name, value in one.meta.items() if name not in ANNOTATIONS and value is not None}
    if one.reply_to:
        extra["reply_to"] = one.reply_to
    return Turn(one.speaker, one.text, time=one.time, extra=extra)


def _labels(one: Utterance, position: int) -> Iterator[LabelRecord]:
    for name in ANNOTATIONS:
        value = one.meta.get(name)
        if value is None or str(value).strip() in NOTHING:
            continue
        if not isinstance(value, str):
            raise ImportProblem("must be a text", field=f"meta.{name}", line=one.line)
        yield LabelRecord(
            rater=RATER,
            kind="human",
            continuation=SELF,
            turn=position,
            question=name,
            value=value.strip(),
            level="nominal",
        )


def _looks_like(head: Head) -> bool:
    chats = {"num_chats", "correct_ratio"} <= head.inner
    return chats or ({"conversation_id", "speaker", "text"} <= head.keys and '.tsv"' in head.text)


FORMAT = Format(
    key="delidata",
    title="DeliData chats",
    hint="utterances.jsonl, conversations.json and speakers.json together, as ConvoKit writes them.",
    read=read,
    looks_like=_looks_like,
    folder=True,
)

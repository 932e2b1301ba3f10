"""Published corpora of dialogues, in the forms in which they are distributed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotation.formats import convokit
from annotation.formats.chat_records import (
    ASSISTANT,
    USER,
    Form,
    Raw,
    Record,
    first_at,
    has_fields,
    has_paths,
    objects_at,
    paths_of,
    records,
    text_of,
    time_of,
)
from annotation.formats.corpus_format import Format, Head, SourceRecord
from annotation.formats.fields import decode_text, plain
from annotation.formats.source import ImportProblem, Source
from annotation.formats.transcript_cells import turns_of_transcript
from annotation.records import HUMAN, SELF, Dialogue, LabelRecord, Participant, Turn


def _list(raw: Raw, key: str) -> list[Any]:
    """Return a list, empty where it is absent."""
    value = raw.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ImportProblem("must be a list", field=key)
    return value


def _label(rater: str, turn: int | None, question: str, value: Any, **fields: Any) -> LabelRecord:
    """Return a person's answer about a turn, or about the dialogue."""
    return LabelRecord(
        rater=rater, kind="human", continuation=SELF, turn=turn, question=question, value=value, **fields
    )


def _rows(columns: Mapping[str, Any]) -> list[Raw]:
    """Return an object of equally long lists as a list of objects, as data sets libraries write them."""
    lists = {name: values for name, values in columns.items() if isinstance(values, list)}
    length = max(map(len, lists.values()), default=0)
    if any(len(values) != length for values in lists.values()):
        raise ImportProblem("must have lists of the same length", field=", ".join(lists)[:80])
    return [{name: values[n] for name, values in lists.items()} for n in range(length)]


# Task-oriented dialogues: the system's side is rated, the user's is context.

SYSTEM_SIDE = {
    "system": ASSISTANT,
    "wizard": ASSISTANT,
    "agent": ASSISTANT,
    "assistant": ASSISTANT,
    "user": USER,
}


def _prepare_sgd(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    turns = raw.get("turns")
    if isinstance(turns, dict):
        names = {"0": "USER", "1": "SYSTEM"}
        turns = [
            {**turn, "speaker": names.get(str(turn.get("speaker")), turn.get("speaker"))}
            for turn in _rows(turns)
        ]
    yield {**raw, "turns": turns}


SGD = Form(
    key="sgd",
    title="Schema-Guided Dialogue and MultiWOZ 2.2",
    hint="dialogues_001.json of either corpus, or dialogues one a line.",
    looks_like=lambda head: has_fields(head, "dialogue_id", "services", "turns"),
    text=("utterance",),
    id=("dialogue_id",),
    metadata=("services",),
    extra=("frames",),
    roles=SYSTEM_SIDE,
    system="system",
    prepare=_prepare_sgd,
)


def _prepare_multiwoz(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    turns = [
        {
            **entry,
            "speaker": ("USER", "SYSTEM")[n % 2],
            "text": text_of(entry.get("text"), f"log[{n}].text").strip(),
        }
        for n, entry in enumerate(objects_at(raw, "log"))
    ]
    yield {**raw, "turns": turns}


MULTIWOZ = Form(
    key="multiwoz",
    title="MultiWOZ 2.0 and 2.1",
    hint="data.json: dialogues by their file names, each with goal and log.",
    looks_like=lambda head: has_paths(head, "goal", "log[].text", "log[].metadata"),
    metadata=("goal",),
    extra=("dialog_act",),
    roles=SYSTEM_SIDE,
    system=HUMAN,
    by_id=True,
    prepare=_prepare_multiwoz,
)

TASKMASTER = Form(
    key="taskmaster",
    title="Taskmaster 1, 2 and 3",
    hint="A .json file of any of the three.",
    looks_like=lambda head: has_paths(
        head, "utterances[].speaker", "utterances[].text", "utterances[].index"
    ),
    turns=("utterances",),
    id=("conversation_id",),
    metadata=("instruction_id", "instructions", "scenario", "vertical"),
    extra=("segments", "apis"),
    roles=SYSTEM_SIDE,
    system=HUMAN,
)


# Conversations of people: all turns are rated.

QUALITY = ("Poor", "Not Good", "Passable", "Good", "Excellent")


def _prepare_topical_chat(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    turns = [
        {**entry, "text": text_of(entry.get("message"), f"content[{n}].message", " ")}
        for n, entry in enumerate(objects_at(raw, "content"))
    ]
    yield {**raw, "turns": turns}


def _labels_of_topical_chat(raw: Raw, turns: list[Raw]) -> Iterator[LabelRecord]:
    """Yield sentiments by the speaker, qualities of messages by the partner, and of the chat by each.

    An agent's name is a place in the chat, not the same person in every chat.
    """
    agents = list(dict.fromkeys(str(turn.get("agent")) for turn in turns))
    for n, turn in enumerate(turns):
        agent = str(turn.get("agent"))
        partner = next((name for name in agents if name != agent), "")
        if sentiment := str(turn.get("sentiment") or "").strip():
            yield _label(agent, n, "sentiment", sentiment, level="nominal", identified=False)
        quality = str(turn.get("turn_rating") or "").strip()
        if quality and partner:
            yield _quality(partner, n, "turn_rating", quality)
    ratings = raw.get("conversation_rating")
    for agent, quality in ratings.items() if isinstance(ratings, dict) else ():
        if quality:
            yield _quality(agent, None, "conversation_rating", str(quality).strip())


def _quality(rater: str, turn: int | None, question: str, value: str) -> LabelRecord:
    if value not in QUALITY:
        raise ImportProblem(f"{value[:40]!r} is not one of {', '.join(QUALITY)}", field=question)
    return _label(rater, turn, question, value, level="ordinal", values=QUALITY, identified=False)


TOPICAL_CHAT = Form(
    key="topical-chat",
    title="Topical-Chat",
    hint="train.json and the other files of conversations.",
    looks_like=lambda head: has_paths(head, "article_url", "content[].message", "content[].agent"),
    speaker=("agent",),
    metadata=("article_url", "config"),
    extra=("knowledge_source",),
    roles=None,
    by_id=True,
    prepare=_prepare_topical_chat,
    labels=_labels_of_topical_chat,
)

ACTS = ("inform", "question", "directive", "commissive")
EMOTIONS = ("no emotion", "anger", "disgust", "fear", "happiness", "sadness", "surprise")
DAILYDIALOG_RATER = "DailyDialog annotation"
EOU = "__eou__"


def _read_dailydialog(source: Source, left_out: Counter[str]) -> Iterator[Record]:
    """Yield a dialogue for each line: of text with `__eou__` after each turn, or of JSON."""
    if source.begins_with(b"{") or source.begins_with(b"["):
        yield from records(source)
        return
    for line, content in source.lines():
        with source.report_problems(line=line):
            texts = [text.strip() for text in decode_text(content).split(EOU)]
            yield Record({"dialog": [text for text in texts if text]}, line)


def _prepare_dailydialog(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    """Yield a dialogue whose two people take turns, with the act and the emotion of each turn."""
    entries = objects_at(raw, "dialogue") or _rows(
        {"text": _list(raw, "dialog") or _list(raw, "utterances")}
        | {
            name: raw[key]
            for name, key in (
                ("act", "act"),
                ("act", "acts"),
                ("emotion", "emotion"),
                ("emotion", "emotions"),
            )
            if raw.get(key)
        }
    )
    turns = [
        {
            "speaker": "AB"[n % 2],
            "text": text_of(entry.get("text"), f"dialog[{n}]").strip(),
            "act": _code(entry.get("act"), ("", *ACTS), f"act[{n}]"),
            "emotion": _code(entry.get("emotion"), EMOTIONS, f"emotion[{n}]"),
        }
        for n, entry in enumerate(entries)
    ]
    yield {**raw, "turns": turns}


def _code(value: Any, words: tuple[str, ...], path: str) -> str:
    """Return the word of a code: its number in the list, or the word itself."""
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(words):
        return words[value]
    word = str(value).replace("_", " ").strip()
    if word in words:
        return word
    raise ImportProblem(f"{word[:40]!r} is none of the codes 0 to {len(words) - 1}", field=path)


def _labels_of_dailydialog(raw: Raw, turns: list[Raw]) -> Iterator[LabelRecord]:
    for n, turn in enumerate(turns):
        for question, values in (("act", ACTS), ("emotion", EMOTIONS)):
            if turn[question]:
                yield _label(DAILYDIALOG_RATER, n, question, turn[question], level="nominal", values=values)


DAILYDIALOG = Form(
    key="dailydialog",
    title="DailyDialog",
    hint="dialogues_text.txt with __eou__ after each turn, or JSON with dialog, act and emotion.",
    looks_like=lambda head: (
        (EOU in head.text.split("\n", 1)[0] and not head.is_json and "," not in head.text.split(" ", 1)[0])
        or has_fields(head, "dialog", "act", "emotion")
        or has_fields(head, "utterances", "acts", "emotions")
        or (head.is_json and has_paths(head, "dialogue[].act", "dialogue[].emotion", "dialogue[].text"))
    ),
    metadata=("topic", "fold"),
    roles=None,
    read=_read_dailydialog,
    prepare=_prepare_dailydialog,
    labels=_labels_of_dailydialog,
)

# EmpatheticDialogues: a CSV without quotes, whose commas inside texts are written `_comma_`.

EMPATHETIC = ("conv_id", "utterance_idx", "context", "prompt", "speaker_idx", "utterance")
COMMA = "_comma_"


def _read_empathetic(source: Source, left_out: Counter[str]) -> Iterator[Record]:
    """Yield a conversation for each run of rows with one id; rows of one may be out of order."""
    rows: list[Raw] = []
    columns: list[str] = []
    start = 0
    for line, content in source.lines():
        cells = [cell.replace(COMMA, ",") for cell in decode_text(content).split(",")]
        if not columns:
            columns = [cell.strip() for cell in cells]
            if missing := [name for name in EMPATHETIC if name not in columns]:
                raise ImportProblem(f"has no column {missing[0]!r}", line=line)
            continue
        with source.report_problems(line=line):
            if len(cells) < len(EMPATHETIC):
                raise ImportProblem(f"has {len(cells)} cells, not {len(columns)}")
            row = dict(zip(columns, cells, strict=False))
            if rows and row["conv_id"] != rows[0]["conv_id"]:
                yield _conversation(rows, start)
                rows = []
            start = start if rows else line
            rows.append(row)
    if rows:
        yield _conversation(rows, start)


def _conversation(rows: list[Raw], line: int) -> Record:
    rows = sorted(rows, key=lambda row: int(row["utterance_idx"]) if row["utterance_idx"].isdecimal() else 0)
    first = rows[0]
    about = {"id": first["conv_id"], "emotion": first["context"], "situation": first["prompt"]}
    return Record({**about, "selfeval": first.get("selfeval"), "turns": rows}, line)


EMPATHETIC_DIALOGUES = Form(
    key="empathetic-dialogues",
    title="EmpatheticDialogues",
    hint="train.csv, valid.csv or test.csv: one row an utterance.",
    looks_like=lambda head: set(EMPATHETIC) <= head.header,
    speaker=("speaker_idx",),
    text=("utterance",),
    metadata=("emotion", "situation", "selfeval"),
    extra=("tags",),
    roles=None,
    read=_read_empathetic,
)


# Text of ParlAI: PersonaChat's numbered lines, or fields with names.

NUMBERED = re.compile(r"(\d+) (.*)", re.DOTALL)
PERSONA = re.compile(r"(your|partner's) persona: ?(.*)")
FIELD = re.compile(r"(\w+):(.*)", re.DOTALL)


def _read_parlai(source: Source, left_out: Counter[str]) -> Iterator[Record]:
    """Yield an episode: lines up to the next that is numbered 1, or to `episode_done:True`."""
    turns: list[Raw] = []
    personas: dict[str, list[str]] = {}
    start = 0
    for line, content in source.lines():
        with source.report_problems(line=line):
            parts = decode_text(content).split("\t")
            match = NUMBERED.match(parts[0])
            fields = {pair[1]: pair[2] for part in parts if (pair := FIELD.match(part))}
            is_named = "text" in fields and not match
            if not match and not is_named:
                raise ImportProblem("must begin with a number, or with text:")
            if turns and match and match[1] == "1":
                yield _episode(turns, personas, start)
                turns, personas = [], {}
            start = start if turns or personas else line
            text = fields["text"] if is_named else match[2] if match else ""
            for part in text.replace("\\n", "\n").split("\n"):
                if persona := PERSONA.fullmatch(part.strip()):
                    personas.setdefault("B" if persona[1] == "your" else "A", []).append(persona[2])
                elif part.strip():
                    turns.append({"speaker": "A", "text": part.strip()})
            labels = fields.get("labels", fields.get("eval_labels", "")) if is_named else "".join(parts[1:2])
            if labels:
                turns.append({"speaker": "B", "text": labels.split("|")[0] if is_named else labels})
            if is_named and fields.get("episode_done", "").strip() == "True":
                yield _episode(turns, personas, start)
                turns, personas = [], {}
    if turns:
        yield _episode(turns, personas, start)


def _episode(turns: list[Raw], personas: dict[str, list[str]], line: int) -> Record:
    return Record({"turns": turns, "personas": personas}, line)


PARLAI = Form(
    key="parlai",
    title="PersonaChat and other text of ParlAI",
    hint="Numbered lines with a tab between a turn and its reply, or text:...\tlabels:...",
    looks_like=lambda head: (
        re.match(
            r"1 (your|partner's) persona: |1 [^\n\t]*\t[^\n]*\n2 [^\n\t]*\t|text:[^\n]*\t(eval_)?labels:",
            head.text,
        )
        is not None
    ),
    metadata=("personas",),
    roles=None,
    read=_read_parlai,
)


# Questions about a text: the answers are rated.


def _prepare_coqa(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    questions, answers = _list(raw, "questions"), _list(raw, "answers")
    if len(questions) != len(answers):
        raise ImportProblem(f"has {len(answers)} answers to {len(questions)} questions", field="answers")
    pairs = zip(questions, answers, strict=True)
    yield {
        **raw,
        "turns": [
            turn for pair in pairs for turn in _exchange(*(first_at(part, ("input_text",)) for part in pair))
        ],
    }


def _exchange(question: Any, answer: Any) -> tuple[Raw, Raw]:
    return {"speaker": "questioner", "text": question}, {"speaker": "answerer", "text": answer}


def _prepare_quac(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    for part in objects_at(raw, "paragraphs"):
        turns = [
            turn
            for entry in objects_at(part, "qas")
            for turn in _exchange(
                entry.get("question"),
                first_at(entry, ("orig_answer.text",))
                or next((a.get("text") for a in objects_at(entry, "answers")), ""),
            )
        ]
        yield {**raw, **part, "turns": turns}


QA_ROLES = {"questioner": USER, "answerer": ASSISTANT}
COQA = Form(
    key="coqa",
    title="CoQA",
    hint="coqa-train-v1.0.json or coqa-dev-v1.0.json.",
    looks_like=lambda head: has_paths(head, "story", "questions[].input_text"),
    metadata=("story", "source"),
    roles=QA_ROLES,
    system=HUMAN,
    inside=("data",),
    prepare=_prepare_coqa,
)
QUAC = Form(
    key="quac",
    title="QuAC",
    hint="train_v0.2.json or val_v0.2.json.",
    looks_like=lambda head: has_paths(head, "qas[].followup", "qas[].yesno"),
    metadata=("title", "section_title", "background", "context"),
    roles=QA_ROLES,
    system=HUMAN,
    inside=("data",),
    prepare=_prepare_quac,
)


# Wizard of Wikipedia and ESConv: people in roles, with their ratings of the dialogue.


def _labels_of_wizard(raw: Raw, turns: list[Raw]) -> Iterator[LabelRecord]:
    """Yield the apprentice's rating of the wizard; the data have 1 to 5, and less where it was not given."""
    rating = raw.get("wizard_eval")
    if isinstance(rating, int) and 1 <= rating <= 5:
        values = (1.0, 2.0, 3.0, 4.0, 5.0)
        yield _label(
            "apprentice", None, "wizard_eval", float(rating), level="ordinal", values=values, identified=False
        )


def _prepare_wizard(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    """Yield a dialogue whose speakers are called by their roles: `0_Wizard` is Wizard."""
    turns = [
        {**turn, "speaker": re.sub(r"^\d+_", "", str(turn.get("speaker")))}
        for turn in objects_at(raw, "dialog")
    ]
    yield {**raw, "turns": turns}


WIZARD_OF_WIKIPEDIA = Form(
    key="wizard-of-wikipedia",
    title="Wizard of Wikipedia",
    hint="data.json, train.json or another file of dialogues.",
    looks_like=lambda head: has_fields(head, "chosen_topic", "persona", "wizard_eval"),
    metadata=("chosen_topic", "persona"),
    roles=None,
    prepare=_prepare_wizard,
    labels=_labels_of_wizard,
)

SURVEY = ("empathy", "relevance", "initial_emotion_intensity", "final_emotion_intensity")


def _labels_of_esconv(raw: Raw, turns: list[Raw]) -> Iterator[LabelRecord]:
    """Yield the answers of the survey after the chat, and the seeker's feedback on the turns before it."""
    survey = raw.get("survey_score")
    values = (1.0, 2.0, 3.0, 4.0, 5.0)
    for person, answers in survey.items() if isinstance(survey, dict) else ():
        for question, answer in answers.items() if isinstance(answers, dict) else ():
            if question in SURVEY and str(answer).strip() in ("1", "2", "3", "4", "5"):
                yield _label(
                    person, None, question, float(answer), level="ordinal", values=values, identified=False
                )


ESCONV = Form(
    key="esconv",
    title="ESConv",
    hint="ESConv.json: emotional support in chats.",
    looks_like=lambda head: has_fields(head, "emotion_type", "problem_type", "situation", "dialog"),
    turns=("dialog",),
    text=("content",),
    metadata=("experience_type", "emotion_type", "problem_type", "situation"),
    extra=("annotation",),
    roles=None,
    labels=_labels_of_esconv,
)


# ConvAI2: volunteers chat with bots, and rate the chat. SAMSum and DialogSum: chats with summaries.


def _labels_of_convai2(raw: Raw, turns: list[Raw]) -> Iterator[LabelRecord]:
    """Yield the volunteer's rating of the chat."""
    rating = raw.get("eval_score")
    if isinstance(rating, int | float) and not isinstance(rating, bool):
        yield _label("volunteer", None, "eval_score", float(rating), level="interval", identified=False)


CONVAI2 = Form(
    key="convai2",
    title="ConvAI2, chats with bots",
    hint="JSON of the volunteers' chats, with eval_score.",
    looks_like=lambda head: has_paths(head, "dialog[].sender", "dialog[].text", "eval_score"),
    turns=("dialog",),
    speaker=("sender", "sender_class"),
    role=("sender_class",),
    id=("dialog_id",),
    metadata=("bot_profile", "user_profile", "profile_match"),
    extra=("evaluation_score",),
    system="bot",
    labels=_labels_of_convai2,
)


def _prepare_samsum(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    lines = turns_of_transcript(text_of(raw.get("dialogue"), "dialogue"))
    yield {**raw, "turns": [{"speaker": speaker, "text": text} for speaker, text in lines]}


SAMSUM = Form(
    key="samsum",
    title="SAMSum and DialogSum",
    hint='{"id", "dialogue": "Ana: ...\\nBen: ...", "summary"}, one chat a line or a list.',
    looks_like=lambda head: (
        {"dialogue", "summary"} <= paths_of(head) and not any("[]" in path for path in paths_of(head))
    ),
    id=("id", "fname"),
    metadata=("summary", "topic"),
    roles=None,
    prepare=_prepare_samsum,
)


# Any corpus in ConvoKit's form.


def read_convokit(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each conversation, in the order in which they begin in the file."""
    corpus = convokit.read(source)
    yield from convokit.dialogues(source, corpus, lambda chat: _dialogue_of_convokit(chat, corpus))


def _dialogue_of_convokit(chat: convokit.Conversation, corpus: convokit.Convokit) -> Dialogue:
    speakers = dict.fromkeys(utterance.speaker for utterance in chat.utterances)
    about = {name: corpus.speakers.get(name, {}) for name in speakers}
    return Dialogue(
        id=chat.id,
        turns=tuple(_turn_of_convokit(utterance) for utterance in chat.utterances),
        participants=tuple(
            Participant(name, extra=convokit.select_meta(meta, *meta)) for name, meta in about.items()
        ),
        metadata=convokit.select_meta(chat.meta, *chat.meta),
    )


def _turn_of_convokit(utterance: convokit.Utterance) -> Turn:
    extra = {"id": utterance.id, "reply_to": utterance.reply_to, **utterance.meta}
    extra = {
        name: plain(value, f"meta.{name}") for name, value in extra.items() if value not in (None, "", [], {})
    }
    return Turn(
        utterance.speaker, utterance.text, time=time_of(utterance.time) if utterance.time else "", extra=extra
    )


def _looks_like_convokit(head: Head) -> bool:
    line = {"id", "text", "meta"} <= head.keys and bool({"conversation_id", "root"} & head.keys)
    return line or "utterances.jsonl" in head.files


CONVOKIT = Format(
    key="convokit",
    title="Any corpus in ConvoKit's form",
    hint="The folder of a corpus, or utterances.jsonl with conversations.json and speakers.json.",
    read=read_convokit,
    looks_like=_looks_like_convokit,
    folder=True,
)

FORMS: Iterable[Form] = (
    SGD,
    MULTIWOZ,
    TASKMASTER,
    TOPICAL_CHAT,
    DAILYDIALOG,
    EMPATHETIC_DIALOGUES,
    PARLAI,
    COQA,
    QUAC,
    WIZARD_OF_WIKIPEDIA,
    ESCONV,
    CONVAI2,
    SAMSUM,
)

"""Exports of annotation tools: Prodigy, doccano, brat, Argilla and Potato. Label Studio has its own file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.formats.annotated_texts import (
    ANYBODY,
    Answer,
    Questions,
    Span,
    Text,
    Texts,
    first_text,
    json_records,
    turns_of_messages,
    value_of_cell,
)
from annotation.formats.arrow_tables import read_objects
from annotation.formats.corpus_format import Format, Head, Rating, SourceRecord
from annotation.formats.fields import NAME_LIMIT, is_number, require
from annotation.formats.source import BINARY_TABLES, ImportProblem, Source
from annotation.formats.table_file import as_text
from annotation.formats.table_reader import open_table

DIALOGUES = (
    *("dialogue", "dialogue_id", "dialog_id", "conversation", "conversation_id", "conv_id"),
    *("chat_id", "thread_id"),
)
TURNS = ("turn", "turn_id", "turn_index", "turn_number", "utterance", "utterance_index", "position", "index")
MESSAGES = ("messages", "conversation", "dialogue", "turns", "conversations")
"""Keys under which a task says which dialogue it is a turn of, and which turn; and of a dialogue in it."""


def _add(
    texts: Texts, record: Mapping[str, Any], about: Mapping[str, Any], line: int, file: str
) -> Text | None:
    """Add the text of a task, a turn of its dialogue where it names one; None where it has no text."""
    turns = next((turns for key in MESSAGES if (turns := turns_of_messages(record.get(key)))), None)
    text = record.get("text", record.get("data"))
    if turns is None and not (isinstance(text, str) and text.strip()):
        return None
    fields = {**about, **record}
    dialogue = "" if turns else first_text(fields, DIALOGUES)
    order = next((fields[key] for key in TURNS if is_number(fields.get(key))), None) if dialogue else None
    key = first_text(about, ("id",)) or first_text(record, ("id",))
    if dialogue and key and order is None:
        key = f"{dialogue} {key}"
    return texts.add(
        turns or str(text),
        f"{dialogue} {order}" if dialogue and order is not None else key,
        dialogue=dialogue,
        order=order,
        speaker=first_text(fields, ("speaker", "role", "author", "sender"))[:NAME_LIMIT],
        metadata={} if dialogue else about,
        line=line,
        file=file,
    )


def _spans(entries: Any, path: str) -> list[Span]:
    """Return marked words: lists of beginning, end and label, or objects with these."""
    spans = []
    for index, entry in enumerate(require(entries, list, path)):
        parts: Sequence[Any] = entry if isinstance(entry, list) else ()
        if isinstance(entry, dict):
            names = (("start", "start_offset"), ("end", "end_offset"), ("label", "annotation", "name"))
            parts = [next((entry[name] for name in keys if name in entry), None) for keys in names]
        if len(parts) < 3 or type(parts[0]) is not int or type(parts[1]) is not int or parts[2] is None:
            raise ImportProblem("must have a beginning, an end and a label", field=f"{path}[{index}]")
        if not 0 <= parts[0] <= parts[1]:
            raise ImportProblem(f"ends at {parts[1]} before {parts[0]}", field=f"{path}[{index}]")
        spans.append((parts[0], parts[1], str(parts[2])))
    return spans


def _check_ends(spans: Sequence[Span], text: Text, path: str) -> None:
    """Refuse marked words beyond the end of a text."""
    length = text.starts[-1] + len(text.turns[-1].text)
    for begin, end, label in spans:
        if end > length + 2:  # line ends after the last turn
            raise ImportProblem(
                f"{label!r} at {begin} to {end} is beyond the text's {length} characters", field=path
            )


def _first_record(head: Head) -> Mapping[str, Any]:
    """Return the first object of a file of JSON lines or of one list; empty where there is none."""
    try:
        record = json.loads(head.text.splitlines()[0]) if head.text.startswith("{") else None
    except (ValueError, RecursionError):
        record = None
    return record if isinstance(record, dict) else next(iter(head.objects), {})


# Prodigy: a task a line, with spans, a label to accept, or options; a task for each annotator.

STAMP = re.compile(r"\d{4}-\d{2}-\d{2}[_T ]\d{2}[-:]\d{2}")
"""A session without a name: Prodigy calls it by the time it began."""


def read_prodigy(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of Prodigy's tasks, with the annotators' answers."""
    texts = Texts(source)
    for file, line, record in json_records(source):
        with source.report_problems(file, line):
            if record.keys() & {"image", "audio", "video"}:
                texts.left_out["tasks of images and sounds"] += 1
                continue
            meta = record.get("meta")
            about = meta if isinstance(meta, dict) else {}
            text = _add(texts, record, about, line, source.name_in_folder(file))
            if text is None:
                texts.left_out["tasks without a text"] += 1
            else:
                text.answers += list(_prodigy_answers(record, text, texts))
    yield from texts.records()


def _prodigy_answers(record: dict[str, Any], text: Text, texts: Texts) -> Iterator[Answer]:
    name = first_text(record, ("_annotator_id", "_session_id"))[:NAME_LIMIT]
    common: dict[str, Any] = {"rater": name or ANYBODY, "identified": bool(name and not STAMP.match(name))}
    common["explanation"] = first_text(record, ("comment", "comments", "explanation", "note"))
    decision = record.get("answer", "accept")
    if decision not in ("accept", "reject", "ignore"):
        raise ImportProblem(f"{str(decision)[:40]!r} is not accept, reject or ignore", field="answer")
    missing = {"accept": "", "reject": "rejected", "ignore": "ignored"}[decision]
    texts.left_out["relations"] += len(require(record.get("relations") or [], list, "relations"))
    if options := record.get("options"):
        names = _names_of_options(require(options, list, "options"))
        config = record.get("config")
        is_set = isinstance(config, dict) and config.get("choice_style") == "multiple"
        yield Answer(
            question="choice",
            type="options",
            options=() if missing else tuple(_accepted_options(record, names)),
            offered=tuple(names.values()),
            is_set=is_set,
            missing=missing,
            **common,
        )
    spans = _spans(record.get("spans") or [], "spans")
    is_manual = "spans" in record and not isinstance(record.get("label"), str) and not options
    if is_manual:
        _check_ends(spans, text, "spans")
        yield Answer(
            question="spans", type="spans", spans=() if missing else tuple(spans), missing=missing, **common
        )
    if isinstance(label := record.get("label"), str):
        reason = missing if decision == "ignore" else ""
        value = None if reason else float(decision == "accept")
        yield Answer(question=label, type="yes", value=value, missing=reason, **common)
    if isinstance(answer := record.get("user_input"), str) and answer.strip():
        yield Answer(question="user_input", type="text", value=answer, **common)


def _names_of_options(options: list[Any]) -> dict[Any, str]:
    """Return the names of options by id: the ids where these are words, else the texts."""
    names = {}
    for index, option in enumerate(options):
        entry = require(option, dict, f"options[{index}]")
        key, text = entry.get("id"), first_text(entry, ("text",))
        if not isinstance(key, str | int | float):
            raise ImportProblem("must be a text or a number", field=f"options[{index}].id")
        names[key] = str(text or key) if is_number(key) or str(key).isdigit() else str(key)
    return names


def _accepted_options(record: Mapping[str, Any], names: Mapping[Any, str]) -> Iterator[str]:
    for index, key in enumerate(require(record.get("accept") or [], list, "accept")):
        if isinstance(key, list | dict) or key not in names:
            raise ImportProblem(f"{str(key)[:40]!r} is not one of the options", field=f"accept[{index}]")
        yield names[key]


def _looks_like_prodigy(head: Head) -> bool:
    if {"_input_hash", "_task_hash"} <= head.keys:
        return True
    task = _first_record(head)
    return "text" in task and task.get("answer") in ("accept", "reject", "ignore")


PRODIGY = Format(
    key="prodigy",
    title="Prodigy, annotated tasks",
    hint="JSONL of db-out: texts with spans, labels or options, and an answer for each annotator.",
    read=read_prodigy,
    looks_like=_looks_like_prodigy,
    folder=True,
)


# doccano: a text a line, with classes, marked words or texts as labels; a file a person, or of all together.

SHARED_FILES = frozenset({"all", "unknown", "data", "export", "dataset"})
"""Files of doccano that are no person's."""
LABELS = ("label", "labels", "entities", "annotations", "cats", "categories")
SHORT = 60
"""Characters of a label that is a class; a longer one is a text that was written."""


def read_doccano(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of doccano's texts, with the labels of each file's annotator."""
    texts = Texts(source)
    for file, line, record in json_records(source):
        with source.report_problems(file, line):
            name = Path(source.called(file)).stem[:NAME_LIMIT]
            is_person = name.casefold() not in SHARED_FILES
            meta = record.get("meta")
            about = {key: value for key, value in record.items() if key not in DOCCANO_KEYS}
            about |= meta if isinstance(meta, dict) else {}
            text = _add(texts, record, about, line, source.name_in_folder(file))
            if text is None:
                texts.left_out["records without a text"] += 1
                continue
            texts.left_out["relations"] += len(require(record.get("relations") or [], list, "relations"))
            answers = list(_doccano_answers(record, text, name if is_person else ANYBODY, is_person))
            if not answers:
                texts.left_out["texts without labels, as not annotated"] += 1
            text.answers += answers
    yield from texts.records()


DOCCANO_KEYS = frozenset(
    {"id", "text", "data", *LABELS, "relations", "Comments", "comments", "meta", "annotation_approver"}
)


def _doccano_answers(record: dict[str, Any], text: Text, rater: str, is_person: bool) -> Iterator[Answer]:
    comments = require(record.get("Comments") or record.get("comments") or [], list, "Comments")
    notes = [first_text(note if isinstance(note, dict) else {"text": note}, ("text",)) for note in comments]
    common: dict[str, Any] = {"explanation": "\n".join(filter(None, notes))}
    classes: dict[tuple[str, bool], list[str]] = {}
    spans: dict[tuple[str, bool], list[Span]] = {}
    for key in LABELS:
        for index, part in enumerate(require(record.get(key) or [], list, key)):
            entry = part if isinstance(part, dict) else {"label": part}
            user = entry.get("user")
            own = (rater, is_person) if user is None else (f"annotator {user}"[:NAME_LIMIT], True)
            if isinstance(part, list) or "start_offset" in entry:
                spans.setdefault(own, []).extend(_spans([part], f"{key}[{index}]"))
            elif label := first_text(entry, ("label", "text")):
                classes.setdefault(own, []).append(label)
            else:
                raise ImportProblem("has no label", field=f"{key}[{index}]")
    for (name, identified), options in classes.items():
        selected = tuple(dict.fromkeys(options))
        if any(len(option) > SHORT for option in selected):
            yield Answer(name, "label", "text", "\n".join(selected), identified=identified, **common)
        else:
            yield Answer(name, "label", "options", options=selected, identified=identified, **common)
    for (name, identified), marked in spans.items():
        _check_ends(marked, text, "label")
        yield Answer(name, "spans", "spans", spans=tuple(marked), identified=identified, **common)


def _looks_like_doccano(head: Head) -> bool:
    record = _first_record(head)
    if not isinstance(record.get("text", record.get("data")), str):
        return False
    if "messages" in record or "answer" in record or "turns" in record:
        return False
    lists = [record[key] for key in LABELS if isinstance(record.get(key), list)]
    entries = [entry for entries in lists for entry in entries]
    is_marked = all(isinstance(e, str) or _is_mark(e) for e in entries)
    if any(_repeats_a_class(record.get(key)) for record in head.objects for key in LABELS):
        return False  # answers of several people by position
    return bool(lists) and is_marked and (bool(entries) or "Comments" in record or "id" in record)


def _repeats_a_class(entries: Any) -> bool:
    classes = [entry for entry in entries if isinstance(entry, str)] if isinstance(entries, list) else []
    return len(set(classes)) < len(classes)


def _is_mark(entry: Any) -> bool:
    if isinstance(entry, dict):
        return {"start_offset", "end_offset"} <= entry.keys() or ({"label", "user"} <= entry.keys())
    return isinstance(entry, list) and len(entry) == 3 and all(type(part) is int for part in entry[:2])


DOCCANO = Format(
    key="doccano",
    title="doccano, labelled texts",
    hint="JSONL with classes, marked words or texts as labels; a folder of a file for each person.",
    read=read_doccano,
    looks_like=_looks_like_doccano,
    folder=True,
)


# brat: NAME.txt with NAME.ann beside it, whose lines mark words of the text.

BRAT_TEXT = re.compile(r"(?P<key>T\d+)\t(?P<label>\S+) (?P<places>\d+ \d+(?:;\d+ \d+)*)(?:\t|$)")
BRAT_NOTE = re.compile(r"#\d*\t\S+ (?P<about>T\d+)\t(?P<note>.*)")
BRAT_OTHER = {"R": "relations", "E": "events", "A": "attributes", "M": "attributes", "N": "normalisations"}
BRAT_LINE = re.compile(r"(?:T\d+\t\S+ \d+ \d+|[REAMN]\d+\t|\*\t|#\d*\t)")


def read_brat(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each text of a folder, with its marked words.

    Folders in it that have the same texts are of one annotator each, who is called like the folder.
    """
    texts = Texts(source)
    files = source.files()
    marks = [file for file in files if file.suffix == ".ann"]
    if not marks:
        source.document(files[0])
        raise ImportProblem("has no .ann file: choose the .txt and .ann files of brat together")
    is_repeated = len({file.stem for file in marks}) < len(marks)
    for file in marks:
        with source.report_problems(file):
            plain = file.with_suffix(".txt")
            if plain not in files:
                name = f"{Path(source.called(file)).stem}.txt"
                raise ImportProblem(f"has no {name} beside it: choose the .txt and .ann files together")
            # Offsets of brat count the line ends as they stand in the file.
            content = source.document(plain).decode("utf-8", errors="replace")
            text = texts.add(content, file.stem, file=source.called(file))
            answer = _brat_answer(source, file, texts)
            if is_repeated:
                answer.rater, answer.identified = file.parent.name[:NAME_LIMIT], True
            _check_ends(answer.spans, text, "T")
            text.answers.append(answer)
    yield from texts.records()


def _brat_answer(source: Source, file: Path, texts: Texts) -> Answer:
    spans: list[Span] = []
    labels: dict[str, str] = {}
    notes: dict[str, str] = {}
    content = file.read_bytes()[: source.max_document].decode("utf-8", errors="replace")
    for number, line in enumerate(content.split("\n"), start=1):
        line = line.rstrip("\r")
        if match := BRAT_TEXT.match(line):
            labels[match["key"]] = match["label"]
            for place in match["places"].split(";"):
                begin, end = map(int, place.split())
                spans.append((begin, end, match["label"]))
        elif (match := BRAT_NOTE.match(line)) and match["about"] in labels:
            label = labels[match["about"]]
            notes[label] = "\n".join(filter(None, (notes.get(label, ""), match["note"])))
        elif line.strip():
            if not BRAT_LINE.match(line):
                raise ImportProblem(f"{line[:40]!r} is no line of brat", line=number)
            texts.left_out[BRAT_OTHER.get(line[0], "notes on other things")] += 1
    return Answer(ANYBODY, "spans", "spans", spans=tuple(spans), identified=False, notes=notes)


BRAT = Format(
    key="brat",
    title="brat, marked words",
    hint="A folder of .txt files with their .ann files.",
    read=read_brat,
    looks_like=lambda head: (
        BRAT_LINE.match(head.text) is not None or any(name.endswith(".ann") for name in head.files)
    ),
    folder=True,
)


# Argilla: records with fields, responses of users and suggestions; as JSON, and as a folder of Hugging Face.

FIELDS = (
    *("text", "prompt", "instruction", "input", "context", "question", "response", "output", "completion"),
    *("answer", "chosen", "rejected", "messages", "chat", "conversation"),
)
ARGILLA_COLUMNS = (".responses.users", "-suggestion-metadata", "annotation_agent")
SUGGESTION = "suggestion"
ARGILLA_QUESTION = re.compile(r"(?P<question>.+)\.responses")


def read_argilla(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of Argilla's records: people's responses, and suggestions as those of judges."""
    texts = Texts(source)
    for file, line, record in _argilla_records(source):
        with source.report_problems(file, line):
            fields, answers = _argilla_answers(record, texts)
            turns = _argilla_turns(fields)
            if not turns:
                texts.left_out["records without a text"] += 1
                continue
            key = first_text(record, ("external_id", "id", "_server_id"))
            metadata = record.get("metadata")
            about = metadata if isinstance(metadata, dict) else {}
            text = texts.add(turns, key, metadata=about, line=line, file=source.name_in_folder(file))
            for answer in answers:
                _check_ends(answer.spans, text, answer.question)
            text.answers += answers
    yield from texts.records()


def _argilla_records(source: Source) -> Iterator[tuple[Path, int, dict[str, Any]]]:
    for file in source.files():
        if not source.binary_start(file).startswith(tuple(BINARY_TABLES)):
            yield from json_records(source)
            return
        for line, row in read_objects(source, file):
            yield file, line, row


def _argilla_turns(fields: Mapping[str, Any]) -> list[tuple[str, str]] | str:
    """Return a chat, or a turn for each field; of a single field its text."""
    texts: list[tuple[str, str]] = []
    for name, value in fields.items():
        if chat := turns_of_messages(value):
            texts += chat
        elif isinstance(value, str) and value.strip():
            texts.append((name, value))
    return texts[0][1] if len(texts) == 1 and len(fields) == 1 else texts


def _objects(value: Any, path: str) -> list[dict[str, Any]]:
    """Return a list of objects, empty for null."""
    entries = require(value or [], list, path)
    return [require(entry, dict, f"{path}[{index}]") for index, entry in enumerate(entries)]


def _argilla_answers(record: dict[str, Any], texts: Texts) -> tuple[dict[str, Any], list[Answer]]:
    """Return the fields and the answers of a record, in any of Argilla's forms."""
    answers: list[Answer] = []
    responses, suggestions = record.get("responses"), record.get("suggestions")
    if isinstance(fields := record.get("fields"), dict):
        if isinstance(responses, dict):
            for question, entries in responses.items():
                answers += _responses(question, entries or [], texts)
        for response in _objects(responses if isinstance(responses, list) else None, "responses"):
            for question, entry in require(response.get("values") or {}, dict, "responses.values").items():
                value = require(entry, dict, f"responses.values.{question}").get("value")
                answers += _responses(question, [{**response, "value": value}], texts)
        for name, entry in suggestions.items() if isinstance(suggestions, dict) else ():
            if entry:
                answers += _suggestion(name, require(entry, dict, f"suggestions.{name}"))
        for entry in _objects(None if isinstance(suggestions, dict) else suggestions, "suggestions"):
            answers += _suggestion(first_text(entry, ("question_name", "question_id")), entry)
        return fields, answers
    if "prediction" in record or "annotation" in record:
        return _first_argilla(record)
    used = {"id", "_server_id", "external_id", "metadata", "status", "vectors"}
    for name, value in record.items():
        if match := ARGILLA_QUESTION.fullmatch(name):
            users, states = record.get(f"{name}.users") or [], record.get(f"{name}.status") or []
            entries = [
                {"value": part, "user_id": user, "status": state}
                for part, user, state in zip(
                    value or [], users, states or ["submitted"] * len(users), strict=False
                )
            ]
            answers += _responses(match["question"], entries, texts)
            answers += _suggestion(match["question"], _parts(record, f"{match['question']}.suggestion", "."))
            used |= {key for key in record if key.startswith(f"{match['question']}.")}
        elif f"{name}-suggestion" in record:
            answers += _responses(name, value or [], texts)
            answers += _suggestion(name, _parts(record, f"{name}-suggestion", "-"))
            used |= {key for key in record if key == name or key.startswith(f"{name}-")}
    rest = {key: value for key, value in record.items() if key not in used}
    text_fields = {key: value for key, value in rest.items() if key in FIELDS}
    return text_fields or {
        key: value for key, value in rest.items() if isinstance(value, str | list)
    }, answers


def _parts(record: Mapping[str, Any], name: str, mark: str) -> dict[str, Any]:
    """Return a suggestion that stands in columns: its value, score and agent."""
    metadata = record.get(f"{name}-metadata") or {}
    if mark == ".":
        metadata = {key: record.get(f"{name}.{key}") for key in ("score", "agent")}
    return {**metadata, "value": record.get(name)}


def _responses(question: str, entries: Any, texts: Texts) -> Iterator[Answer]:
    for index, entry in enumerate(require(entries, list, f"responses.{question}")):
        response = require(entry, dict, f"responses.{question}[{index}]")
        user, status = response.get("user_id"), response.get("status") or "submitted"
        if status in ("draft", "pending"):
            texts.left_out["drafts"] += 1
            continue
        name = str(user)[:NAME_LIMIT] if user else f"slot {index + 1}"
        missing = "discarded" if status == "discarded" else ""
        yield from _argilla_value(question, response.get("value"), missing, rater=name, identified=bool(user))


def _suggestion(question: str, entry: Mapping[str, Any]) -> Iterator[Answer]:
    agent, score = entry.get("agent"), entry.get("score")
    explanation = "" if score is None else f"score {as_text(score)}"
    yield from _argilla_value(
        question,
        entry.get("value"),
        "",
        rater=str(agent or SUGGESTION),
        kind="judge",
        explanation=explanation,
    )


def _argilla_value(question: str, value: Any, missing: str, **common: Any) -> Iterator[Answer]:
    """Yield the answer of a value: a label, labels, a rating, a text, a ranking, or marked words."""
    if value is None or missing:
        if missing:
            yield Answer(question=question, type="options", missing=missing, **common)
    elif is_number(value):
        yield Answer(question=question, type="number", value=float(value), **common)
    elif isinstance(value, str):
        if len(value) > SHORT or "\n" in value:
            yield Answer(question=question, type="text", value=value, **common)
        else:
            yield Answer(question=question, type="options", options=(value,), **common)
    elif isinstance(value, list) and value and isinstance(value[0], dict) and "start" in value[0]:
        spans = tuple(_spans(value, question))
        yield Answer(question=question, type="spans", spans=spans, **common)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for entry in _objects(value, question):
            rank, name = entry.get("rank"), f"{question}:{entry.get('value')}"
            if rank is not None and is_number(rank):
                yield Answer(question=name, type="number", value=float(rank), **common)
    else:
        options = tuple(dict.fromkeys(str(part) for part in require(value, list, question)))
        yield Answer(question=question, type="options", options=options, is_set=True, **common)


def _first_argilla(record: Mapping[str, Any]) -> tuple[dict[str, Any], list[Answer]]:
    """Return the text and answers of a record of Argilla before feedback datasets (Rubrix)."""
    inputs = record.get("inputs")
    fields = inputs if isinstance(inputs, dict) and inputs else {"text": record.get("text")}
    answers: list[Answer] = []
    for name, kind in (("annotation", "human"), ("prediction", "judge")):
        value, agent = record.get(name), record.get(f"{name}_agent")
        common: dict[str, Any] = {"rater": str(agent or name)[:NAME_LIMIT], "kind": kind}
        common["identified"] = bool(agent) or kind == "judge"
        if isinstance(value, list) and value and isinstance(value[0], dict) and "start" not in value[0]:
            best = max(value, key=lambda entry: entry.get("score") or 0)
            value, common["explanation"] = best.get("label"), f"score {as_text(best.get('score'))}"
        question = "spans" if isinstance(value, list) and value and isinstance(value[0], dict) else "label"
        answers += _argilla_value(question, value, "", **common)
    return dict(fields), answers


def _has_argilla_columns(names: Iterable[str]) -> bool:
    return any(column in name for name in names for column in ARGILLA_COLUMNS)


def _looks_like_argilla(head: Head) -> bool:
    keys = head.inner
    if head.is_json:
        is_feedback = {"fields", "responses"} <= keys and bool(
            keys & {SUGGESTION + "s", "external_id", "user_id"}
        )
        return is_feedback or _has_argilla_columns(keys)
    return head.content.startswith(tuple(BINARY_TABLES)) and _has_argilla_columns(head.paths)


ARGILLA = Format(
    key="argilla",
    title="Argilla, records with responses",
    hint="Records as JSON or a folder of Parquet or Arrow: users' responses, suggestions as judges.",
    read=read_argilla,
    looks_like=_looks_like_argilla,
    folder=True,
)


# Potato: annotated instances of a user, or of all as a table.

TRUE = frozenset({"true", "1", "yes", "on", "checked"})
FALSE = frozenset({"", "false", "0", "none", "null", "off"})
NUMBERED = re.compile(r"(?:scale|slider|number|value|rating)_?\d*", re.IGNORECASE)
BREAK = re.compile(r"<br\s*/?>\s?", re.IGNORECASE)


def read_potato(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of Potato's instances, with the labels of their users."""
    texts = Texts(source)
    is_table = not source.begins_with(b"{") if not source.path.is_dir() else False
    for folder, line, record in _potato_rows(source) if is_table else _potato_lines(source):
        with source.report_problems(line=line):
            text_of_instance = BREAK.sub("\n", first_text(record, ("displayed_text", "text")))
            if not text_of_instance:
                texts.left_out["instances without a text"] += 1
                continue
            text = texts.add(text_of_instance, first_text(record, ("instance_id", "id")), line=line)
            user = (first_text(record, ("user_id", "user", "username")) or folder)[:NAME_LIMIT]
            common: dict[str, Any] = {"rater": user or ANYBODY, "identified": bool(user)}
            schemas = require(record.get("label_annotations") or {}, dict, "label_annotations")
            for schema, values in schemas.items():
                text.answers += _potato_answers(schema, require(values, dict, schema), common)
            if (spans := record.get("span_annotations")) is not None:
                marked = _spans(_potato_spans(spans), "span_annotations")
                _check_ends(marked, text, "span_annotations")
                text.answers.append(Answer(question="spans", type="spans", spans=tuple(marked), **common))
    yield from texts.records()


PotatoLine = tuple[str, int, dict[str, Any]]
"""The folder of a line, which is its user's where the line names none; its number, and the instance."""


def _potato_lines(source: Source) -> Iterator[PotatoLine]:
    for file, line, record in json_records(source):
        if "label_annotations" in record or "displayed_text" in record:
            yield (
                file.parent.name if file.parent not in (source.path, source.path.parent) else "",
                line,
                record,
            )


def _potato_rows(source: Source) -> Iterator[PotatoLine]:
    """Yield the rows of Potato's table as its JSON has them: a column is `schema:::option`."""
    for line, row in open_table(source).rows():
        schemas: dict[str, dict[str, Any]] = {}
        spans: list[Any] | None = None
        for column, cell in row.items():
            schema, mark, option = column.partition(":::")
            if mark and schema == "span_annotation":
                marked = value_of_cell(cell)
                spans = [*(spans or ()), *(marked if isinstance(marked, list) else ())]
            elif mark and cell:
                schemas.setdefault(schema, {})[option] = cell
        yield "", line, {**row, "label_annotations": schemas, "span_annotations": spans}


def _potato_spans(spans: Any) -> list[Any]:
    """Return marked words as a list; Potato also writes `schema:label:start:end` with a value for each."""
    if not isinstance(spans, dict):
        return require(spans, list, "span_annotations")
    places = []
    for key, value in spans.items():
        label, *ends = key.rsplit(":", 2)
        if len(ends) != 2 or not all(end.isdecimal() for end in ends):
            raise ImportProblem(f"{key[:60]!r} is not like schema:label:0:5", field="span_annotations")
        if str(value).lower() not in FALSE:
            places.append([int(ends[0]), int(ends[1]), label.rpartition(":")[2]])
    return places


def _potato_answers(schema: str, values: dict[str, Any], common: dict[str, Any]) -> Iterator[Answer]:
    """Yield the answers of a schema: chosen options, a number on a scale, or texts."""
    selected: list[str] = []
    for option, value in values.items():
        text = str(as_text(value) or "").strip()
        if text.casefold() in FALSE and not NUMBERED.fullmatch(option):
            continue
        if NUMBERED.fullmatch(option):
            if text.replace(".", "", 1).isdigit():
                yield Answer(question=schema, type="number", value=float(text), **common)
        elif text.casefold() in TRUE or text == option or text.isdigit():
            selected.append(option)
        else:
            question = schema if len(values) == 1 else f"{schema}:{option}"
            yield Answer(question=question, type="text", value=text, **common)
    if selected:
        yield Answer(question=schema, type="options", options=tuple(selected), **common)


def _looks_like_potato(head: Head) -> bool:
    return "label_annotations" in head.keys or (
        bool(head.header & {"instance_id", "displayed_text"}) and any(":::" in name for name in head.header)
    )


POTATO = Format(
    key="potato",
    title="Potato, annotated instances",
    hint="annotated_instances as .jsonl, .csv or .tsv.",
    read=read_potato,
    looks_like=_looks_like_potato,
    folder=True,
)


# Potato's state of a user: answers by instance, without the texts; they are about dialogues of a corpus.


def read_potato_state(source: Source) -> Iterator[SourceRecord]:
    """Yield the ratings of users, each about the dialogue with the id of the instance."""
    texts: dict[str, Text] = {}
    places: dict[str, str] = {}
    n_spans = 0
    for file, line, state in json_records(source):
        with source.report_problems(file, line):
            user = str(state.get("user_id") or file.parent.name)[:NAME_LIMIT]
            instances = require(state.get(STATE), dict, STATE)
            for key, values in instances.items():
                text = texts.setdefault(key, Text((), (), 0))
                places.setdefault(key, source.name_in_folder(file))
                for schema, options in _schemas(values, f"{STATE}.{key}").items():
                    text.answers += _potato_answers(schema, options, {"rater": user})
            spans = require(state.get(SPANS) or {}, dict, SPANS)
            n_spans += sum(map(bool, spans.values()))
    if not any(text.answers for text in texts.values()):
        raise ImportProblem("holds no answers")
    questions = Questions(list(texts.values()))
    for key, text in texts.items():
        for label in questions.labels(text, 0, None):
            yield SourceRecord(Rating(key, label, label.level, label.values), file=places[key])
    if n_spans:
        source.notes.append(f"Left out: instances with marked words, as the file has no texts ({n_spans}).")


SPANS = "instance_id_to_span_to_value"
STATE = "instance_id_to_label_to_value"


def _schemas(values: Any, path: str) -> dict[str, dict[str, Any]]:
    """Return the options and values of each schema, in any form in which Potato has written them."""
    schemas: dict[str, dict[str, Any]] = {}
    if isinstance(values, list):
        for index, entry in enumerate(values):
            label, value = entry if isinstance(entry, list) and len(entry) == 2 else (None, None)
            label = require(label, dict, f"{path}[{index}]", "a schema with its answer")
            schemas.setdefault(str(label.get("schema")), {})[str(label.get("name"))] = value
        return schemas
    for schema, options in require(values, dict, path).items():
        options = require(options, dict, f"{path}.{schema}")
        labels = options.get("labels")
        schemas[schema] = labels if isinstance(labels, dict) else options
    return schemas


POTATO_STATE = Format(
    key="potato-state",
    title="Potato, answers of users for dialogues of a corpus",
    hint="user_state.json, or a folder with a folder for each user; instances are dialogues of the corpus.",
    read=read_potato_state,
    looks_like=lambda head: STATE in head.keys,
    labels_only=True,
    folder=True,
)


# CAS of UIMA, which INCEpTION exports: refused, with what to bring instead.


def _refuse_cas(source: Source) -> Iterator[SourceRecord]:
    source.document(source.path)
    raise ImportProblem(
        'is a UIMA CAS, as INCEpTION exports: write its texts as JSON lines like {"text": "...", "label": '
        "[[0, 5, NAME]]}, a file for each annotator, and import these as doccano's"
    )


CAS = Format(
    key="uima-cas",
    title="INCEpTION's CAS (not readable; says what to export)",
    hint="UIMA CAS as JSON or XMI: not readable, the import says what to write instead.",
    read=_refuse_cas,
    looks_like=lambda head: (
        bool({"%TYPES", "%FEATURE_STRUCTURES"} & head.inner)
        or {"_context", "_views"} <= head.inner
        or (head.text.startswith("<") and "<xmi:XMI" in head.text)
    ),
)
FORMATS = (PRODIGY, ARGILLA, POTATO, POTATO_STATE, DOCCANO, BRAT, CAS)

"""Corpora in ConvoKit's form: `utterances.jsonl` with `conversations.json` and `speakers.json` beside it.

The older names of the fields are read, too: `users.json`, `user`, `root` and `reply_to`, and what is known
of a conversation or speaker without `meta` around it. ConvoKit writes JSON by Python's rules: NaN stands for
a value that is missing. The utterances of a conversation may stand anywhere in the file, and keep its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.formats.entry import SourceRecord
from annotation.formats.fields import Fields, decode_python, is_number, kind_of, plain
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import Dialogue

UTTERANCES = "utterances.jsonl"
CONVERSATIONS = "conversations.json"
SPEAKERS = ("speakers.json", "users.json")
OTHERS = ("corpus.json", "index.json")
"""Files of the form that say nothing of its dialogues."""
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
    """One line: what was said by whom, when, and what else is known of it, with the line's number."""

    id: str
    speaker: str
    text: str
    time: str
    reply_to: str
    meta: dict[str, Any]
    line: int


@dataclass(slots=True)
class Conversation:
    """A conversation with its utterances in the file's order, and what is known of it."""

    id: str
    meta: dict[str, Any]
    utterances: list[Utterance] = field(default_factory=list)


@dataclass(slots=True)
class Convokit:
    """All of a corpus. `speakers` is what is known of each; `missing` are files that were not there."""

    conversations: dict[str, Conversation]
    speakers: dict[str, dict[str, Any]]
    missing: tuple[str, ...]


def read(source: Source) -> Convokit:
    """Return the corpus that a folder, or `utterances.jsonl` alone, holds; raise or report ImportProblem."""
    files = _files(source)
    utterances = files.pop(UTTERANCES, None)
    if utterances is None:
        raise ImportProblem(f"there is no {UTTERANCES} among the files")
    about = _known(source, files.pop(CONVERSATIONS, None))
    told = next((files.pop(name) for name in SPEAKERS if name in files), None)
    speakers = _known(source, told)
    if extra := sorted(files.keys() - set(OTHERS)):
        raise ImportProblem("is no file of a corpus in ConvoKit's form: leave it out", file=extra[0])
    corpus = Convokit({}, speakers, _missing(about, speakers))
    lines: dict[str, int] = {}
    for line, content in source.lines(utterances):
        try:
            _add(corpus, about, content, line, lines)
        except ImportProblem as problem:
            source.report(problem.placed(line=line, file=_file(source, UTTERANCES)))
    return corpus


def _files(source: Source) -> dict[str, Path]:
    if not source.path.is_dir():
        return {UTTERANCES: source.path}
    return {file.name: file for file in source.files()}


def _file(source: Source, name: str) -> str:
    return name if source.path.is_dir() else ""


def _missing(about: Mapping[str, Any], speakers: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name, known in ((CONVERSATIONS, about), (SPEAKERS[0], speakers)) if not known)


def _known(source: Source, file: Path | None) -> dict[str, dict[str, Any]]:
    """Return what a file says of each conversation or speaker."""
    if file is None:
        return {}
    try:
        content = decode_python(source.document(file))
        if not isinstance(content, dict):
            raise ImportProblem(f"must be an object by id, not {kind_of(content)}")
        return {key.strip(): _meta(value, key) for key, value in content.items()}
    except ImportProblem as problem:
        raise problem.placed(file=file.name) from None


def _meta(value: Any, path: str) -> dict[str, Any]:
    """Return what is known of one: `meta` of the present form, all but `vectors` of the older."""
    if not isinstance(value, dict):
        raise ImportProblem(f"must be an object, not {kind_of(value)}", field=path)
    inner = value.get("meta", {name: part for name, part in value.items() if name != "vectors"})
    return dict(Fields({"meta": inner}, path, frozenset({"meta"})).object("meta"))


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
    conversation = corpus.conversations.setdefault(key, Conversation(key, about.get(key, {})))
    conversation.utterances.append(
        Utterance(
            own, speaker, fields.text("text"), _time(fields), _reply(fields), fields.object("meta"), line
        )
    )


def _time(fields: Fields) -> str:
    value = fields.raw.get("timestamp")
    return str(value) if is_number(value) else fields.text("timestamp", "")


def _reply(fields: Fields) -> str:
    return fields.text("reply-to" if "reply-to" in fields.raw else "reply_to", "")


def dialogues(
    source: Source, corpus: Convokit, make: Callable[[Conversation], Dialogue]
) -> Iterator[SourceRecord]:
    """Yield a dialogue for each conversation, in the order in which they begin in the file."""
    if corpus.missing:
        source.notes.append(f"read without {' and '.join(corpus.missing)}: what these say is not known")
    for conversation in corpus.conversations.values():
        try:
            record = make(conversation)
        except ImportProblem as problem:
            source.report(problem.placed(file=_file(source, UTTERANCES)))
        else:
            yield SourceRecord(record, conversation.utterances[0].line, _file(source, UTTERANCES))


def told(meta: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return what is known under these names, without what is missing."""
    return {name: plain(meta[name], name) for name in names if meta.get(name) not in (None, "", [], {})}

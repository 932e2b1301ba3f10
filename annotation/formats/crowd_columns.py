"""What tables of crowd platforms and surveys have in common: inputs, answers, and their columns."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.formats.mapping import Column
from annotation.formats.source import ImportProblem
from annotation.formats.table_file import Cell, Row, TableFile
from annotation.formats.transcript_cells import ASSISTANT, USER, turns_of_transcript

Rows = list[tuple[int, Row]]
ITEM, RESPONDENT, PART = "item", "respondent", "part"
"""Columns that are added: what a row is about, who answered, the number of an item within a task."""


@dataclass(frozen=True, slots=True)
class CrowdForm:
    """A platform's tables: how its columns look, what its rows need first, and what its columns are."""

    key: str
    title: str
    hint: str
    has_columns: Callable[[frozenset[str]], bool]
    prepare: Callable[[Rows, TableFile], Rows]
    columns: Callable[[Sequence[str], Rows, Mapping[str, str]], list[Column]]
    is_survey: bool = False


def text_of_cell(cell: Cell) -> str:
    return cell.strip() if isinstance(cell, str) else ""


def leave_out(rows: Rows, table: TableFile, reason: str, is_left_out: Callable[[Row], bool]) -> Rows:
    """Return the rows that are not left out; a note counts those that are."""
    remaining = [(line, row) for line, row in rows if not is_left_out(row)]
    if count := len(rows) - len(remaining):
        table.notes.append(f"{reason}, left out: {count}")
    return remaining


# Columns of inputs: what was shown. They identify the item, and may hold its dialogue.

ID_NAME = re.compile(r"(?:^|[_ .:-])(?:id|idx|index|key|uid|uuid|no|nr)s?$|(?<=[a-z])I[dD]$", re.IGNORECASE)
TRANSCRIPT_NAME = re.compile(r"dialog|conv|transcript|chat|history|context|messages", re.IGNORECASE)
PROMPT_NAME = re.compile(r"^(?:question|prompt|query|instruction|user\w*|request|post)$", re.IGNORECASE)
ANSWER_NAME = re.compile(
    r"^(?:model_?|system_?|bot_?|agent_?)?(?:response|reply|answer|output|completion|generation)[_ -]?(\w*)$",
    re.IGNORECASE,
)
TEXT_NAME = re.compile(r"^(?:text|sentence|utterance|turn|content|message|tweet|comment)$", re.IGNORECASE)
SYSTEM_NAME = re.compile(r"^(?:model|system|bot|agent)(?:_?(?:name|id))?$", re.IGNORECASE)
COMMENT_NAME = re.compile(
    r"comment|feedback|suggest|explan|reason|justif|rationale|why|remark|note|opinion", re.IGNORECASE
)
PERSONAL = re.compile(
    r"\b(?:age|gender|sex|country|nationality|language|native|education|email|e-mail|name|username|consent"
    r"|occupation|prolific|worker ?id|user ?agent|browser|ip|time|duration|timer?|click|device|ethnicity"
    r"|recaptcha|agree to (?:participate|take part))\b",
    re.IGNORECASE,
)
BREAK = re.compile(r"<br\s*/?>|</(?:p|div|li)>", re.IGNORECASE)
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
LONG_ANSWER = 60


def plain_html(text: str) -> str:
    """Return text without the tags of HTML, with its line breaks."""
    return TAG.sub("", BREAK.sub("\n", text)) if BREAK.search(text) else text


def items_of(names: Sequence[str], rows: Rows, fallback: str, rater: str) -> list[str]:
    """Return the item of each row: an id among the inputs that tells them apart, or the task of `fallback`.

    The same inputs are one item, even where a batch shows them twice, unless a rater answered both.
    """
    inputs = [tuple(text_of_cell(row.get(name)) for name in names) for _, row in rows]
    tasks = [
        (text_of_cell(row.get(fallback)) or f"row {line}") + (f"-{row[PART]}" if row.get(PART) else "")
        for line, row in rows
    ]
    items = _ids(names, rows, len(set(inputs)))
    if items is None:
        first: dict[tuple[str, ...], str] = {}
        items = [
            first.setdefault(content, task) if any(content) else task
            for content, task in zip(inputs, tasks, strict=True)
        ]
    raters = [text_of_cell(row.get(rater)) for _, row in rows]
    answered = Counter(zip(items, raters, strict=True))
    repeated = {item for (item, name), count in answered.items() if count > 1 and name}
    return [task if item in repeated else item for item, task in zip(items, tasks, strict=True)]


def _ids(names: Sequence[str], rows: Rows, different: int) -> list[str] | None:
    """Return the ids in a column that has as many as there are different inputs, None without one."""
    for name in names:
        values = [text_of_cell(row.get(name)) for _, row in rows]
        if ID_NAME.search(name) and all(values) and len(set(values)) == different:
            return values
    return None


def dialogue_columns(names: Sequence[str], rows: Rows, prefix: int) -> list[Column]:
    """Return the columns of inputs that hold a dialogue, a prompt with its response, or a text.

    There are none where several responses are shown: nothing says which of them an answer is about.
    """
    own = {name[prefix:]: name for name in names}
    transcripts = [
        name for plain, name in own.items() if TRANSCRIPT_NAME.search(plain) and _is_dialogue(name, rows)
    ]
    prompts = [name for plain, name in own.items() if PROMPT_NAME.match(plain)]
    answers = [name for plain, name in own.items() if ANSWER_NAME.match(plain)]
    texts = [name for plain, name in own.items() if TEXT_NAME.match(plain)]
    systems = [Column(name, "system") for plain, name in own.items() if SYSTEM_NAME.match(plain)]
    columns: list[Column] = []
    if transcripts:
        columns = [Column(transcripts[0], "transcript")]
    elif prompts and answers:
        columns = [Column(prompts[0], "utterance", speaker=USER)]
    elif texts:
        return [Column(texts[0], "text"), *systems[:1]]
    if len(answers) > 1:
        return []
    if columns and answers:
        columns.append(Column(answers[0], "utterance", speaker=ASSISTANT))
        columns += systems[:1]
    return columns


def _is_dialogue(name: str, rows: Rows) -> bool:
    cells = [text for _, row in rows if (text := text_of_cell(row.get(name)))]
    try:
        sizes = [len(turns_of_transcript(cell)) for cell in dict.fromkeys(cells)]
    except ImportProblem:
        return False
    return bool(sizes) and max(sizes) > 1


def is_answer(name: str, question: str, rows: Rows) -> bool:
    """Whether a column has answers about an item: no free text, nothing about the person."""
    texts = [text for _, row in rows if (text := text_of_cell(row.get(name)))]
    if not texts or _is_personal(question):
        return False
    if COMMENT_NAME.search(question) and len(question.split()) <= 3:
        return False
    different = set(texts)
    if all(text.startswith("{") for text in different):
        return False  # what a page recorded, as JSON
    is_free = len(texts) > 3 and len(different) > max(12, 0.6 * len(texts)) and not _are_numbers(different)
    return not is_free and sum(map(len, different)) / len(different) <= LONG_ANSWER


def _is_personal(question: str) -> bool:
    """Whether a question is about the person: `Your age`, `What is your native language?`."""
    plain = question.replace("_", " ")
    is_short = len(plain.split()) <= 3 or re.search(r"\b(?:you|your)\b", plain, re.IGNORECASE) is not None
    return is_short and PERSONAL.search(plain) is not None


def _are_numbers(texts: Iterable[str]) -> bool:
    return all(re.fullmatch(r"-?\d+(?:[.,]\d+)?", text) for text in texts)


def names_of(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for _, row in rows for name in row))


def label_column(name: str, question: str, item: str = "") -> Column:
    """Return a column of answers; signs that part a mapping's keys are replaced."""
    plain_item = cut(item.replace("[", "(").replace("]", ")").strip(), 200)
    return Column(name, "label", question=question_of(question), item=plain_item)


def question_of(text: str) -> str:
    """Return the question in a column's name or wording, on one line."""
    return cut(" ".join(text.replace("@", "(at)").split()), 120)


def cut(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters; two long texts never become the same one."""
    if len(text) <= limit:
        return text
    digest = hashlib.blake2b(text.encode(), digest_size=3).hexdigest()
    return f"{text[: limit - 9].rstrip()}... {digest}"[:limit]

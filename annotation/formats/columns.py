"""Columns of a table: what the cells of each look like, by its header and its content."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from annotation.formats.header_words import answer_name, is_nameless, meanings_of
from annotation.formats.scales import ScaleGuess, decimal_number, guess_scale, json_list
from annotation.formats.table_file import Cell, Row
from annotation.formats.transcript_cells import END_OF_TURN
from annotation.text.table_cells import looks_like_a_model, looks_like_nothing

LOOKS = {
    "empty": "empty",
    "constant": "the same everywhere",
    "id": "ids",
    "turn": "turn numbers",
    "text": "texts",
    "speaker": "speakers",
    "time": "times",
    "scale": "whole numbers of a short range",
    "yes_no": "yes or no",
    "ordered": "ordered words",
    "category": "categories",
    "score": "numbers",
    "set": "sets of values",
    "explanation": "explanations",
    "rater": "raters",
    "judge": "judges (names of models)",
    "system": "systems",
    "json": "JSON",
    "transcript": "whole dialogues",
}
"""What a column can look like, in words."""
ANSWER_LOOKS = ("scale", "yes_no", "ordered", "category", "set", "score")
LONGEST_EXAMPLE = 80
N_EXAMPLES = 3
RESPONSE_ID = re.compile(r"response[ _.-]?id", re.IGNORECASE)
"""One person's answers to a survey; where another column names raters, what is rated if it recurs."""
LONGEST_LIST = 2_000
"""Characters of a text that may be a list of answers, and elements of a list."""
FEW = 20
"""Maximum number of different values of a column that are listed."""
TIME = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[ T]\d{1,2}:\d{2}.*)?"
    r"|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?:,? \d{1,2}:\d{2}.*)?"
    r"|\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]\.?m\.?)?|1[0-9]{9}(?:\.\d+)?|1[0-9]{12}"
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w* .*\d{1,2}:\d{2}.*",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"https?://\S+$", re.IGNORECASE)
SAID = re.compile(r"^[^\S\n]*(?:\[[^\]]{1,40}\]\s*)?[^\s:：\n][^:：\n]{0,40}[:：][ \t]*\S", re.MULTILINE)
SAID_INLINE = re.compile(
    r"\b(?:user|human|customer|bot|assistant|system|agent|ai|speaker ?\w|person ?\w|[AB])\s?[:：]\s",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What the cells of a column look like.

    `looks_like` is one of `LOOKS`; `n` of `n_rows` cells have a text that is not one of the `missing` words.
    `values` are all different ones where they are few, in order; `separator` stands between values of a set.
    `lengths` are those of the lists in the cells, 0 where there is none; empty without any list. A column
    `is_outside` where the raters are in a list, and it is not.
    """

    name: str
    looks_like: str
    n: int
    n_rows: int
    n_different: int
    examples: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    separator: str = ""
    wording: str = ""
    meanings: frozenset[str] = frozenset()
    guess: ScaleGuess = field(default_factory=ScaleGuess)
    is_list: bool = False
    n_words: float = 0.0
    has_repeats: bool = False
    lengths: tuple[int, ...] = ()
    is_outside: bool = False

    @property
    def coverage(self) -> float:
        """Share of the rows that have a text."""
        return self.n / self.n_rows if self.n_rows else 0.0

    @property
    def is_answers(self) -> bool:
        """Whether the cells may be answers on a scale; all may be the same answer."""
        return self.looks_like in ANSWER_LOOKS or (
            self.looks_like == "constant" and self.guess.look in ANSWER_LOOKS
        )

    @property
    def holds_text(self) -> bool:
        """Whether the cells may be what somebody said."""
        return self.looks_like in ("text", "explanation") or (
            self.looks_like in ("category", "id", "constant") and self.n_words >= 2
        )


def describe_columns(
    names: Sequence[str], wordings: dict[str, str], rows: Sequence[Row]
) -> dict[str, ColumnProfile]:
    """Describe the columns of some rows, by their names in the order of the table."""
    columns = {
        name: describe_column(name, [row.get(name) for row in rows], wordings.get(name, "")) for name in names
    }
    raters = [column for column in columns.values() if column.looks_like in ("rater", "judge")]
    for column in columns.values() if not raters else ():
        is_id = column.looks_like == "id" and column.meanings == {"item"}
        if is_id and column.n_different < column.n and answer_name(column.name).kind == "human":
            columns[column.name] = replace(column, looks_like="rater", meanings=frozenset({"rater"}))
            break
    has_others = len(raters) > 1 or any(answer_name(name).kind in ("human", "judge") for name in names)
    for column in raters if has_others else ():
        if not RESPONSE_ID.fullmatch(column.name):
            continue
        if column.n_different < column.n:
            columns[column.name] = replace(column, looks_like="id", meanings=frozenset({"item"}))
        elif any(rater.n_different < rater.n for rater in raters):
            columns[column.name] = replace(column, looks_like="id", meanings=frozenset())
    return columns


def describe_column(name: str, cells: Sequence[Cell], wording: str = "") -> ColumnProfile:
    """Describe one column."""
    lists = [list_of_cell(cell) if len(cell or "") <= LONGEST_LIST else None for cell in cells]
    is_list = any(isinstance(cell, list) for cell in cells) or (
        name.endswith("[]") and not any(isinstance(cell, str) for cell in cells)
    )
    texts = [text for cell in cells for text in _texts(cell)]
    missing = [text for text in texts if looks_like_nothing(text)]
    answered = [text for text in texts if not looks_like_nothing(text)]
    counts = Counter(answered)
    n = sum(any(not looks_like_nothing(text) for text in _texts(cell)) for cell in cells)
    meanings = meanings_of(name) or (meanings_of(wording) if wording else frozenset())
    if name.endswith("[]") and not meanings:  # such as `annotators[]`
        meanings = meanings_of(name.removesuffix("[]").removesuffix("s"))
    guess = guess_scale(Counter(texts)) if len(counts) <= 5_000 else ScaleGuess(look="text")
    n_words = sum(len(text.split()) or 1 for text in answered) / len(answered) if answered else 0.0
    n_words = max(
        n_words,
        sum(map(len, answered)) / len(answered) / 6
        if answered and not any(" " in t for t in answered) and any(ord(t[0]) > 0x2E80 for t in answered)
        else 0.0,
    )
    look = _look(name, counts, meanings, guess, n_words, is_list)
    values = guess.scale.values or tuple(sorted(counts)) if len(counts) <= FEW else ()
    return ColumnProfile(
        name=name,
        looks_like=look,
        n=n,
        n_rows=len(cells),
        n_different=len(counts),
        examples=tuple(_example(text) for text in list(counts)[:N_EXAMPLES]),
        values=values if look in ANSWER_LOOKS or len(counts) <= FEW else (),
        missing=tuple(dict.fromkeys(missing)),
        separator=guess.scale.separator if look == "set" else "",
        wording=wording,
        meanings=meanings,
        guess=guess,
        is_list=is_list,
        n_words=n_words,
        has_repeats=any(_has_repeats(_texts(parts)) for parts in lists if parts),
        lengths=tuple(len(parts or ()) for parts in lists) if any(lists) else (),
    )


def list_of_cell(cell: Cell) -> list[Cell] | None:
    """Return a list in a cell, also where it is written as JSON; None for any other cell."""
    if isinstance(cell, str) and cell.startswith("[") and cell.rstrip().endswith("]"):
        parts = json_list(cell)
        return None if parts is None else list(parts)
    return cell if isinstance(cell, list) else None


def _texts(cell: Cell) -> list[str]:
    if isinstance(cell, list):
        return [text for part in cell for text in _texts(part)]
    return [cell.strip()] if cell and cell.strip() else []


def _has_repeats(texts: Sequence[str]) -> bool:
    return len(set(texts)) < len(texts)


def _example(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST_EXAMPLE else f"{plain[: LONGEST_EXAMPLE - 1]}…"


def _look(
    name: str,
    counts: Counter[str],
    meanings: frozenset[str],
    guess: ScaleGuess,
    n_words: float,
    is_list: bool,
) -> str:
    if not counts:
        return "empty"
    texts = list(counts)[:200]
    total = sum(counts.values())
    if content := _nested(texts):
        return content
    if not is_list and _share(texts, _is_transcript) >= 0.6:
        return "transcript"
    is_short = n_words <= 4 and max(map(len, texts)) <= 80
    if is_short and (look := _look_by_header(counts, meanings, guess)):
        return look
    if "explanation" in meanings and n_words > 1.5:
        return "explanation"
    if _share(texts, lambda text: ADDRESS.match(text) is not None) >= 0.9:
        return "id"
    if _share(texts, lambda text: TIME.fullmatch(text) is not None) >= 0.9:
        return "time"
    if len(counts) == 1 and total > 1:
        return "constant"
    if guess.look in ("yes_no", "ordered", "scale"):
        return guess.look
    if guess.look == "score":
        is_count = all(
            float(text).is_integer() for text in texts if decimal_number(text) is not None and "," not in text
        )
        all_different = len(counts) == total
        return "id" if is_count and all_different and (is_nameless(name) or "item" in meanings) else "score"
    if is_short and total > 1 and _share(texts, looks_like_a_model) >= 0.8:
        return "system"
    if guess.look == "set" and not ("text" in meanings and n_words > 2):
        return "set"
    if n_words >= 4 or ("text" in meanings and n_words > 1.5) or max(map(len, texts)) > 80:
        return "text" if len(counts) > 8 or n_words >= 3 or "text" in meanings else "category"
    is_of_rater = len(counts) <= FEW and answer_name(name).kind in ("human", "judge")
    if guess.look == "category" and (is_of_rater or not (len(counts) == total > 3)):
        return "category"
    return "text" if n_words >= 3 else "id"


def _nested(texts: Sequence[str]) -> str:
    """Return the look of cells that are JSON objects and lists of objects or of long texts."""
    if not all(text[0] in "[{" for text in texts):
        return ""
    values = []
    for text in texts[:20]:
        try:
            values.append(json.loads(text))
        except (ValueError, RecursionError):
            return ""
    lists = [value for value in values if isinstance(value, list) and value]
    if len(lists) == len(values):
        if all(isinstance(part, dict) for value in lists for part in value):
            keys = {key for value in lists for part in value for key in part}
            is_message = keys & {"content", "text", "value", "utterance", "message"}
            return "transcript" if is_message else "json"
        parts = [part for value in lists for part in value]
        if all(isinstance(part, str) for part in parts) and _mean_words(parts) >= 3:
            return "transcript"
        return ""
    return "json" if any(isinstance(value, dict) for value in values) else ""


def _mean_words(texts: Sequence[str]) -> float:
    return sum(len(text.split()) for text in texts) / len(texts) if texts else 0.0


def _is_transcript(text: str) -> bool:
    if END_OF_TURN.search(text):
        return True
    return (len(SAID.findall(text)) >= 2 and "\n" in text) or len(SAID_INLINE.findall(text)) >= 2


def _look_by_header(counts: Counter[str], meanings: frozenset[str], guess: ScaleGuess) -> str:
    """Return the look of a column of short cells whose header says what it is, where its cells allow it."""
    total = sum(counts.values())
    few = len(counts) <= max(50, total // 2)
    if "turn" in meanings and all(any(char.isdigit() for char in text) for text in counts):
        return "turn"
    if "time" in meanings and any(any(char.isdigit() for char in text) for text in counts):
        return "time"
    if "dialogue" in meanings or "session" in meanings:
        return "id"
    if "judge" in meanings and guess.look not in ("scale", "yes_no", "score", "ordered"):
        is_model = _share(list(counts), looks_like_a_model) >= 0.5
        return "judge" if is_model else "rater"
    if "rater" in meanings and guess.look not in ("yes_no", "ordered"):
        return "judge" if _share(list(counts), looks_like_a_model) == 1 else "rater"
    is_number = guess.look in ("scale", "score") or (guess.look == "yes_no" and _all_numbers(counts))
    if "speaker" in meanings and few and (not is_number or "value" not in meanings):
        return "speaker"
    if "system" in meanings and few and guess.look not in ("scale", "yes_no", "score", "ordered"):
        return "system"
    if "item" in meanings and "value" not in meanings and (len(counts) > 1 or total == 1):
        is_answer = guess.look in ("yes_no", "ordered") and not _all_numbers(counts)
        return "" if is_answer else "id"
    return ""


def _all_numbers(counts: Counter[str]) -> bool:
    return all(decimal_number(text) is not None for text in counts)


def _share(texts: Sequence[str], test: object) -> float:
    return sum(bool(test(text)) for text in texts) / len(texts)  # type: ignore[operator]

"""Lists of turns in a table's rows: which columns have their texts, speakers and times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest

from annotation.formats.columns import ColumnProfile
from annotation.formats.header_words import KEYS, SPEAKER_WORDS, tokens_of, word_set
from annotation.formats.readings import Sample
from annotation.formats.scales import decimal_number
from annotation.formats.transcript_cells import ASSISTANT, USER, is_pair, names_speakers

TEXT_PARTS = (
    *("text", "content", "value", "utterance", "utterances", "message", "body", "utt", "sentence"),
    "transcript",
)
TEXT_LOOKS = ("text", "category", "id", "explanation")
SPEAKER_PARTS = ("user", "name", "names", "speakers", "speaker_id", "agent", "agent_id", "sender_id")
NO_SYSTEMS = KEYS | word_set("reference references correct ideal target original actual")
NO_TURNS = NO_SYSTEMS | word_set(
    "candidates options choices tags sources documents facts context keywords span"
)
"""Words in the headers of texts that nobody says in the dialogue."""
WORDS_SAID = 1.5
"""Mean number of words from which cells below the name of a speaker are what the speaker says."""
MOST_SPEAKERS = 12
"""Maximum number of speakers of a column that is only recognised by its cells."""


@dataclass(slots=True)
class TurnList:
    """Columns of the turns in a list; `texts` are all that may have the text, the likeliest first.

    `by_speaker` has the speakers of columns such as `user` and `bot`, where each object is an exchange.
    """

    texts: list[str] = field(default_factory=list)
    speaker: str = ""
    time: str = ""
    by_speaker: dict[str, str] = field(default_factory=dict)
    is_guess: bool = False

    @property
    def is_one(self) -> bool:
        """Whether the columns have what is said."""
        return bool(self.texts or self.by_speaker)


def turn_lists(sample: Sample) -> tuple[list[TurnList], list[str]]:
    """Return the lists of objects with a text each, and the lists of texts without anything beside them.

    A list of texts and a list of as many speakers are one list of turns.
    """
    groups: dict[str, list[ColumnProfile]] = defaultdict(list)
    alone: list[ColumnProfile] = []
    for column in sample.columns.values():
        prefix, mark, _ = column.name.removesuffix("[]").rpartition("[].")
        if mark:
            groups[prefix].append(column)
        elif column.name.endswith("[]"):
            alone.append(column)
    lists = [turns for columns in groups.values() if (turns := _of_objects(columns)).is_one]
    texts = [c.name for c in alone if _may_be_turns(sample, c) or texts_name_speakers(sample, c.name)]
    speakers = [column.name for column in alone if _may_be_speakers(column)]
    for name in list(texts):
        if name in speakers or (beside := [s for s in speakers if are_parallel(sample, name, s)]) == []:
            continue
        lists.append(TurnList([name], beside[0]))
        texts = [other for other in texts if other not in (name, *beside)]
    return lists, texts


def _of_objects(columns: Sequence[ColumnProfile]) -> TurnList:
    turns = TurnList()
    for column in columns:
        part = _last_part(column)
        if part in TEXT_PARTS or ("text" in column.meanings and column.looks_like in TEXT_LOOKS):
            turns.texts.append(column.name)
        elif _may_be_speakers(column):
            turns.speaker = turns.speaker or column.name
        elif "time" in column.meanings and column.looks_like in ("time", "turn", "score", "id"):
            turns.time = turns.time or column.name
    texts = [column.name for column in columns if column.looks_like == "text"]
    if turns.speaker and not turns.texts and len(texts) == 1:
        turns.texts, turns.is_guess = texts, True
    roles = [column.name for column in columns if has_names_of_speakers(column)]
    if turns.texts and (roles or not turns.speaker):
        some = [column.name for column in columns if has_names_of_speakers(column, all_known=False)]
        turns.speaker = (roles or some or [""])[0]
    if not turns.texts:
        texts_by_speaker = [
            (speaker_of_word(_last_part(c)), c.name) for c in columns if c.n_words >= WORDS_SAID
        ]
        speakers = {name: speaker for speaker, name in texts_by_speaker if speaker}
        if len(set(speakers.values())) == len(speakers) > 1:
            turns.by_speaker = speakers
    return turns


def _last_part(column: ColumnProfile) -> str:
    return column.name.removesuffix("[]").rpartition("[].")[2].casefold()


def _may_be_speakers(column: ColumnProfile) -> bool:
    return "speaker" in column.meanings or _last_part(column) in SPEAKER_PARTS


def has_names_of_speakers(column: ColumnProfile, *, all_known: bool = True) -> bool:
    """Whether the cells of a column, or some of them, are words such as `user` and `agent_1`."""
    names = [any({token.base, token.word} & SPEAKER_WORDS for token in tokens_of(v)) for v in column.values]
    return (
        1 < column.n_different <= MOST_SPEAKERS
        and column.looks_like in ("category", "rater", "id", "speaker", "system")
        and bool(names)
        and (all(names) if all_known else any(names))
    )


def speaker_of_word(word: str) -> str:
    """Return the speaker whom a word in the header of a turn names, empty for none."""
    if word in SPEAKER_WORDS and len(word) > 1 and word not in ("gpt", "model", "system", "sys"):
        return word
    return USER if word in PROMPT_WORDS else ASSISTANT if word in RESPONSE_WORDS else ""


PROMPT_WORDS = word_set("prompt question query instruction input")
RESPONSE_WORDS = word_set("response answer reply output completion")


def _may_be_turns(sample: Sample, column: ColumnProfile) -> bool:
    """Whether a column of lists may have the texts of a dialogue's turns."""
    words = {token.base for token in tokens_of(column.name)}
    lists = [cell for row in sample.rows if isinstance(cell := row.get(column.name), list)]
    return (
        column.n_words >= 3
        and not words & NO_TURNS
        and "explanation" not in column.meanings
        and sum(len(cell) * (2 if is_pair(cell[0]) else 1) for cell in lists if cell) >= 2 * len(lists)
    )


def are_parallel(sample: Sample, name: str, other: str) -> bool:
    """Whether two columns have lists of the same length in each row."""
    cells = [(row.get(name), row.get(other)) for row in sample.rows]
    pairs = [(a, b) for a, b in cells if isinstance(a, list) and isinstance(b, list)]
    return bool(pairs) and all(len(a) == len(b) for a, b in pairs)


def speaker_in_name(name: str) -> str:
    """Return the one speaker whom the name of a list names, as `student_turns` does."""
    words = [token.base for token in tokens_of(name.removesuffix("[]"))]
    speakers = [word for word in words if word in SPEAKER_WORDS and len(word) > 1]
    return speakers[0] if len(speakers) == 1 < len(words) else ""


def texts_name_speakers(sample: Sample, name: str) -> bool:
    """Whether the texts of a list say who speaks, as `doctor: How are you?` does."""
    lists = [cell for row in sample.rows if isinstance(cell := row.get(name), list) and cell]
    return bool(lists) and all(
        names_speakers([text for text in cell if isinstance(text, str)]) for cell in lists
    )


def counts_turns(sample: Sample, name: str) -> bool:
    """Whether the numbers in the lists of a column rise from turn to turn."""
    lists = [cell for row in sample.rows if isinstance(cell := row.get(name), list) and len(cell) > 1]
    rises = []
    for cell in lists:
        numbers = [
            number for text in cell if isinstance(text, str) and (number := decimal_number(text)) is not None
        ]
        rises.append(len(numbers) == len(cell) and all(a < b for a, b in pairwise(numbers)))
    return bool(rises) and all(rises)


def is_where_text_is(sample: Sample, name: str, turns: str) -> bool:
    """Whether the lists of a column have nothing where those of the turns have no text."""
    pairs = [(row.get(name), row.get(turns)) for row in sample.rows]
    lists = [(cell, texts) for cell, texts in pairs if isinstance(cell, list) and isinstance(texts, list)]
    return all(not part or bool(text) for cell, texts in lists for part, text in zip_longest(cell, texts))

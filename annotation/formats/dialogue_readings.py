"""Readings of a table as dialogues: turns in rows, in columns, in lists or in one cell."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from annotation.formats.answer_columns import Answers, answer_columns
from annotation.formats.columns import ColumnProfile
from annotation.formats.header_words import (
    ID_WORDS,
    NUMBER_AT_END,
    TWO_RESPONSES,
    answer_name,
    is_header,
    is_nameless,
    tokens_of,
    word_set,
)
from annotation.formats.mapping import DIALOGUE_ITEM, TEXT_ROLES, TURN_ITEM, Column
from annotation.formats.nested_answers import is_by_position, lists_by_position
from annotation.formats.readings import Draft, Reading, Sample, add_answers, add_rater, cell_text, row_raters
from annotation.formats.scales import decimal_number
from annotation.formats.table_file import text_of
from annotation.formats.transcript_cells import ASSISTANT, USER
from annotation.formats.turn_lists import (
    NO_SYSTEMS,
    NO_TURNS,
    are_parallel,
    counts_turns,
    has_names_of_speakers,
    is_where_text_is,
    speaker_in_name,
    speaker_of_word,
    texts_name_speakers,
    turn_lists,
)
from annotation.text.table_cells import looks_like_a_model

SAMPLE_REPEATS, FIRST_CHARACTERS, LAST_CHARACTERS = 100, 12, 10
"""Rows in which texts are compared, and how many characters at their beginnings and ends."""
GROUPS = word_set("channel room chatroom group scene chapter game match round lesson video file story case")
"""Words in the headers of what turns are grouped by, where no column says which dialogue they belong to."""
WIDER_GROUPS = word_set("season series book volume show")
OWN_ROLES = ("continuation", "trial", "at", "given", "addressees", "cluster", "language", "session")


def read_plain_text(sample: Sample) -> Reading | None:
    """A text that is no table: its first line is a sentence, and the others are texts."""
    if len(sample.columns) != 1:
        return None
    ((name, column),) = sample.columns.items()
    if column.looks_like not in ("text", "category", "id") or column.n_words < 2 or "text" in column.meanings:
        return None
    draft = Draft("turns", missing=["lines that say who speaks, such as `Ana: Hello`"])
    return draft.reading(sample, "The file is a text.") if len(tokens_of(name)) > 2 else None


def read_turns(sample: Sample) -> Reading | None:
    draft = Draft("turns")
    text = _text_column(draft, sample)
    dialogue = _dialogue_column(draft, sample)
    speaker = draft.pick("speaker", _speakers(sample))
    if speaker and sample.columns[speaker].looks_like == "rater" and text:
        texts = [key for (key,) in sample.keys(text)]
        if len(set(texts)) * 3 <= len(texts) * 2:  # the same texts from several people: they rate them
            del draft.columns[speaker]
            speaker = ""
    number = draft.pick("turn", [c for c in sample.look("turn") if not c.is_list])
    if not text:
        draft.missing.append("a column with the text of each turn")
    if not speaker and _has_several_turns(sample, dialogue):
        draft.doubts.append("no column says who speaks: all turns are by `unnamed`")
    elif not speaker:
        draft.missing.append("a column that says who speaks")
    if not dialogue:
        draft.doubts.append("no column says which dialogue a row belongs to: the file is one dialogue")
        if draft.missing:
            draft.missing.append("a column that says which dialogue a row belongs to")
    elif sample.columns[dialogue].n_different == len(sample.rows) > 1:
        draft.missing.append(f"several rows with the same {dialogue}")
    if draft.missing:
        return draft.reading(sample, "Each row is one turn of a dialogue.")
    _doubt_wider_groups(draft, sample, dialogue)
    times = [c for c in sample.meaning("time", "time", "turn", "score", "id", "category") if not c.is_list]
    if times and times[0].name not in draft.columns:
        draft.add(times[0].name, "time")
    systems = [c.name for c in sample.meaning("system", "system", "category", "constant")]
    systems = [name for name in systems if name not in draft.columns]
    if systems and _is_constant_within(sample, dialogue, systems[0]):
        draft.add(systems[0], "system")
    addressees = [
        c for c in sample.columns.values() if c.n and is_header(c.name, "addressee") and not c.is_list
    ]
    draft.pick("addressees", addressees)
    for role in OWN_ROLES:
        own = [name for name in sample.columns if name.strip().casefold() == role]
        if own and own[0] not in draft.columns and sample.columns[own[0]].n:
            draft.add(own[0], role)
    repeats = _repeats(sample, dialogue, number, text)
    rater = add_rater(draft, sample)
    varying = sample.varying(rater, dialogue, number or text) if rater and repeats == "turns" else ()
    used = {*draft.columns, *_names_of_speakers(draft, sample)}
    answers = answer_columns(sample.columns, used, has_rater=bool(rater), varying=varying, are_sure=True)
    add_answers(draft, answers)
    if repeats == "texts":
        languages = [c.name for c in sample.meaning("language") if c.n_different > 1]
        if any(not _is_constant_within(sample, number, name) for name in languages):
            draft.doubts.append(f"rows with the same {number} may be translations: keep one {languages[0]}")
        rows = sample.keys(dialogue, number)
        if rater or answers.columns or len(set(rows)) < len(set(sample.keys(dialogue, number, speaker))):
            draft.doubts.append(f"rows with the same {number} have different texts, speakers or raters")
    elif repeats and not rater:
        draft.doubts.append("turns are repeated, and no column says who rated them")
    if answers.columns and not rater and not answers.raters:
        draft.doubts.append("no column says who answered: the rater is named after the file")
    _place_answers(draft, sample, answers, dialogue)
    _add_metadata(draft, sample, dialogue)
    _check_dialogues(draft, sample, dialogue, speaker)
    _check_order(draft, sample, dialogue, number, rater)
    _doubt_texts_left_out(draft, sample)
    return draft.reading(sample, _sentence_of_turns(answers, rater, repeats))


def _has_several_turns(sample: Sample, dialogue: str) -> bool:
    """Whether most dialogues, by a column that is called so, have several rows, and no rater has them."""
    return (
        bool(dialogue)
        and "dialogue" in sample.columns[dialogue].meanings
        and len(sample.rows) >= 2 * sample.columns[dialogue].n_different
        and not row_raters(sample)
    )


def _sentence_of_turns(answers: Answers, rater: str, repeats: str) -> str:
    if repeats == "texts" and not rater:
        return "Each row is a sentence of a turn: rows with the same number and speaker are joined."
    if rater and (repeats or answers.columns):
        return "Each row is one turn rated by one rater; turns repeat for each rater."
    if not answers.columns:
        return "Each row is one turn of a dialogue."
    raters = answers.raters
    raters_text = (
        f"{len(raters)} raters in columns" if len(raters) > 1 else raters[0] if raters else "one rater"
    )
    return f"Each row is one turn of a dialogue, rated by {raters_text}."


def _text_column(draft: Draft, sample: Sample) -> str:
    candidates = [
        column
        for column in sample.meaning(
            "text", "text", "category", "id", "constant", "explanation", "ordered", "speaker", "yes_no"
        )
        if (not column.is_list and ("turn" not in column.meanings or column.looks_like == "text"))
    ]
    if not candidates and sample.meaning("speaker"):  # `speaker, dialogue`: what each of them says
        candidates = [c for c in sample.meaning("dialogue", "text") if not c.is_list]
    if not candidates:
        plain = [
            c
            for c in sample.look("text")
            if not c.is_list and not c.meanings - {"text"} and not is_nameless(c.name)
        ]
        if len(plain) != 1:
            return ""
        candidates = plain
        draft.doubts.append(f"{plain[0].name} may be something other than the text of the turns")
    candidates.sort(key=lambda column: (-round(column.coverage, 1), -(column.looks_like == "text")))
    best = [column for column in candidates if column.coverage > 0.5] or candidates
    return draft.pick("text", best)


def _dialogue_column(draft: Draft, sample: Sample) -> str:
    usable = [
        c
        for c in sample.columns.values()
        if not c.is_list and c.n_words <= 4 and c.looks_like not in ("empty", "text", "transcript", "json")
    ]
    for meaning in ("dialogue", "session"):
        candidates = [c for c in usable if meaning in c.meanings and c.name not in draft.columns]
        repeated = [c for c in candidates if c.n_different < c.n] or candidates
        ids = [
            c for c in repeated if any(t.word in ID_WORDS or t.word.endswith("id") for t in tokens_of(c.name))
        ]
        if ids or repeated:
            return draft.pick("dialogue", ids or repeated)
    ids = [
        c
        for c in usable
        if "item" in c.meanings
        and c.looks_like == "id"
        and 1 < c.n_different < c.n
        and c.name not in draft.columns
    ]
    if ids:
        draft.doubts.append(f"{ids[0].name} may be something other than the dialogue")
        return draft.pick("dialogue", ids[:1])
    groups = [
        c
        for c in usable
        if {token.base for token in tokens_of(c.name)} & GROUPS
        and 1 < c.n_different < c.n
        and c.coverage == 1
        and c.name not in draft.columns
    ]
    if groups:
        draft.doubts.append(f"{groups[0].name} may be something other than the dialogue")
    return draft.pick("dialogue", groups[:1])


def _names_of_speakers(draft: Draft, sample: Sample) -> list[str]:
    """Return the columns whose cells name speakers, such as listeners: they are no answers."""
    speaker = next((column.name for column in draft.columns.values() if column.role == "speaker"), "")
    cells = [row.get(speaker) for row in sample.rows] if speaker else []
    names = {cell_text(part) for cell in cells for part in (cell if isinstance(cell, list) else [cell])}
    names = {name for name in names if any(map(str.isalpha, name))}
    return [
        column.name
        for column in sample.columns.values()
        if not column.is_list
        and column.values
        and all(part.strip() in names for value in column.values for part in value.split(";"))
    ]


def _doubt_wider_groups(draft: Draft, sample: Sample, dialogue: str) -> None:
    """Ask where dialogues have numbers that may begin again in each season or book."""
    numbers = [decimal_number(text) for (text,) in sample.keys(dialogue)] if dialogue else []
    wider = [c for c in sample.columns.values() if {token.base for token in tokens_of(c.name)} & WIDER_GROUPS]
    if not wider or dialogue == wider[0].name or None in numbers:
        return
    is_id = any(token.word in ID_WORDS for token in tokens_of(dialogue)) or wider[0].n_different > 1
    if not is_id or not _is_constant_within(sample, dialogue, wider[0].name):
        draft.doubts.append(f"{dialogue} may begin again in each {wider[0].name}: join both in a column")


def _speakers(sample: Sample) -> list[ColumnProfile]:
    candidates = [c for c in sample.meaning("speaker", "speaker") if not c.is_list]
    exact = [c for c in candidates if is_header(c.name, "speaker")]
    if len(candidates) > 1 and exact:
        candidates = exact
    if len(candidates) > 1:  # several: an id beside a name, or a role beside a name
        others = {c.name for c in candidates}
        ids = [c for c in candidates if any(token.word == "id" for token in tokens_of(c.name))]
        if ids and len(ids) < len(others):
            return [c for c in candidates if c not in ids][:1]
        return candidates
    candidates = candidates or [c for c in sample.meaning("speaker", "rater") if not c.is_list][:1]
    if candidates:
        return candidates
    cells = {
        tuple(sample.keys(c.name)): c
        for c in reversed(list(sample.columns.values()))
        if not c.is_list and has_names_of_speakers(c)
    }
    return list(reversed(cells.values()))


def _is_constant_within(sample: Sample, group: str, name: str) -> bool:
    values: dict[str, set[str]] = defaultdict(set)
    for key, value in sample.keys(group, name):
        if value:
            values[key].add(value)
    return all(len(others) == 1 for others in values.values())


def _repeats(sample: Sample, dialogue: str, number: str, text: str) -> str:
    """Return how rows repeat turns: `turns` with their text, `texts` with other texts, or not at all."""
    if number:
        rows = sample.keys(dialogue, number)
        if len(set(rows)) == len(rows):
            return ""
        contents = sample.keys(dialogue, number, text)
        return "turns" if len(set(contents)) == len(set(rows)) else "texts"
    texts = [row for row in sample.keys(dialogue, text) if len(row[1].split()) > 3]
    return "turns" if texts and len(set(texts)) * 3 <= len(texts) * 2 else ""


def _check_dialogues(draft: Draft, sample: Sample, dialogue: str, speaker: str) -> None:
    sizes = Counter(key for (key,) in sample.keys(dialogue))
    if dialogue and sizes[""] * 20 > len(sample.rows):
        draft.doubts.append(f"{dialogue} is empty in {sizes['']} of {len(sample.rows)} rows")
    if len(sample.rows) < 1.5 * len(sizes):
        draft.doubts.append("most dialogues have one turn")
    speakers: dict[str, set[str]] = defaultdict(set)
    for key, name in sample.keys(dialogue, speaker):
        speakers[key].add(name)
    alone = sum(len(names) == 1 for names in speakers.values())
    words = {name: {token.base for token in tokens_of(name)} for name in sample.columns}
    parents = [name for name in words if "parent" in words[name] or {"reply", "to"} <= words[name]]
    parents += [name for name in words if {"in", "response", "to"} <= words[name]]
    if parents:
        draft.doubts.append(f"{parents[0]} may make a tree of the turns, with several next ones")
    if speaker and alone * 2 > len(speakers):
        draft.doubts.append(f"most dialogues have one {speaker}")


def _check_order(draft: Draft, sample: Sample, dialogue: str, number: str, rater: str) -> None:
    """Ask where the numbers of turns are not in the order of the rows."""
    last: dict[str, float] = {}
    for key, text, name in sample.keys(dialogue, number, rater):
        place = decimal_number(text)
        if place is None:
            continue
        if place < last.get(f"{key}\0{name}", place):
            draft.doubts.append(f"the rows are not in the order of {number}")
            return
        last[f"{key}\0{name}"] = place


def _place_answers(draft: Draft, sample: Sample, answers: Answers, dialogue: str) -> None:
    """Say of answers beside turns that are the same in all rows of a dialogue that they are about it.

    What is the same for all of its raters as well is no answer of theirs.
    """
    for column in list(answers.columns):
        values: dict[str, set[str]] = defaultdict(set)
        n: Counter[str] = Counter()
        filled: Counter[str] = Counter()
        rater = next((c.name for c in draft.columns.values() if c.role == "rater"), "")
        for key, name, value in sample.keys(dialogue, rater, column.name):
            group = f"{key}\0{name}"
            n[group] += 1
            filled[group] += bool(value)
            values[group].add(value)
        several = [key for key in values if n[key] > 1]
        if rater and not column.rater and (shared := _shared_by_raters(sample, dialogue, rater, column.name)):
            draft.columns[column.name] = Column(column.name, "metadata")
            answers.columns.remove(column)
            if shared < 5 or sample.columns[column.name].n_different < 2:
                draft.doubts.append(f"{column.name} may be the raters' labels of the dialogue: all agree")
            continue
        is_constant = several and all(len(values[key]) == 1 for key in several)
        different = {next(iter(values[key])) for key in several} if is_constant else set()
        if is_constant and len(different) > 1:
            draft.columns[column.name] = Column(
                column.name, column.role, column.question, column.rater, DIALOGUE_ITEM
            )
            for reason in answers.explanations:
                if (reason.question, reason.rater) == (column.question, column.rater):
                    draft.columns[reason.name] = Column(
                        reason.name, "explanation", reason.question, reason.rater, DIALOGUE_ITEM
                    )
            if len(several) < 5:
                draft.doubts.append(f"{column.name} may be about the dialogue, or about each of its turns")
        elif several and max(filled[key] for key in several) == 1:
            draft.doubts.append(
                f"{column.name} is in one row of each dialogue: it may be about that turn or the dialogue"
            )


def _shared_by_raters(sample: Sample, dialogue: str, rater: str, name: str) -> int:
    """Return how many dialogues have several raters, 0 where a column has several values in one of them."""
    raters: dict[str, set[str]] = defaultdict(set)
    values: dict[str, set[str]] = defaultdict(set)
    for key, person, value in sample.keys(dialogue, rater, name):
        raters[key].add(person)
        values[key].add(value)
    n_shared = sum(len(people) > 1 for people in raters.values())
    is_constant = all(len(own) == 1 for own in values.values())
    return n_shared if is_constant and n_shared > 1 else 0


def _add_metadata(draft: Draft, sample: Sample, dialogue: str) -> None:
    """Keep texts and categories that are the same in all rows of each dialogue, and differ between them."""
    if not dialogue or sample.columns[dialogue].n_different * 2 > len(sample.rows):
        return
    for column in sample.look("category", "text", "explanation"):
        is_plain = not column.is_list and not is_nameless(column.name) and column.n_different > 1
        if (
            is_plain
            and column.name not in draft.columns
            and _is_constant_within(sample, dialogue, column.name)
        ):
            draft.add(column.name, "metadata")


def _doubt_texts_left_out(draft: Draft, sample: Sample) -> None:
    """Ask about columns with various texts that would be left out, and do not repeat what is read."""
    mentioned = {name for doubt in draft.doubts for name in re.split(r", | and | may | are ", doubt)}
    texts = [column.name for column in draft.columns.values() if column.role in TEXT_ROLES]
    unread = [
        c.name
        for c in sample.look("text", "transcript")
        if c.name not in draft.columns
        and c.n_words >= 4
        and c.n_different > 1
        and 2 * c.n_different >= c.n
        and c.name not in mentioned
        and not {token.base for token in tokens_of(c.name)} & NO_TURNS
        and not _repeats_texts(sample, c.name, texts)
    ]
    if unread:
        draft.doubts.append(f"{', '.join(unread[:3])} may be turns, too, and would be left out")


def _repeats_texts(sample: Sample, name: str, texts: Sequence[str]) -> bool:
    """Whether the texts of a column begin and end with what stands in other columns of their rows."""
    n = 0
    for row in sample.rows[:SAMPLE_REPEATS]:
        text = cell_text(row.get(name))
        if not text:
            continue
        n += 1
        others = "\n".join(text_of(row.get(other)) for other in texts)
        if not (text[:FIRST_CHARACTERS] in others and text[-LAST_CHARACTERS:].strip() in others):
            return False
    return n > 0


def read_messages(sample: Sample) -> Reading | None:
    """Dialogues in JSON: lists with the speaker and the text of each turn."""
    lists, alone = turn_lists(sample)
    spoken = [turns for turns in lists if turns.speaker and turns.texts]
    exchanges = [turns.by_speaker for turns in lists if turns.by_speaker]
    draft = Draft("messages")
    sentence = "Each row is one dialogue with a list of its turns"
    if spoken:
        turns = spoken[0]
        for name, role in ((turns.texts[0], "text"), (turns.speaker, "speaker"), (turns.time, "time")):
            draft.add(name, role)
        if turns.is_guess:
            draft.doubts.append(f"{turns.texts[0]} may be something other than the text of the turns")
        if len(turns.texts) > 1:
            draft.doubts.append(f"{' and '.join(turns.texts[:3])} may be the text")
        beside = [
            column.name
            for meaning in ("prompt", "response", "context")
            for column in sample.meaning(meaning, "text", "transcript")
            if not column.is_list
        ]
        if beside:
            draft.doubts.append(f"{', '.join(beside[:3])} may be turns, too")
        if alone:
            draft.doubts.append(f"{', '.join(alone[:3])} may be the turns")
        if len(spoken) > 1:
            draft.doubts.append(f"{spoken[0].texts[0]} and {spoken[1].texts[0]} are both lists of turns")
    elif len(exchanges) == 1:
        for name, speaker in exchanges[0].items():
            draft.add(name, "utterance", speaker=speaker)
    elif lists and lists[0].texts:
        draft.missing.append(f"who speaks each of {lists[0].texts[0]}")
        return draft.reading(sample, f"{sentence}.")
    elif len(alone) != 1:
        return None
    elif speaker := speaker_in_name(alone[0]):
        draft.add(alone[0], "utterance", speaker=speaker)
    else:
        draft.add(alone[0], "transcript")
        if not texts_name_speakers(sample, alone[0]):
            draft.doubts.append(f"nothing says who speaks in {alone[0]}: two speakers in turn")
    return _with_row_answers(draft, sample, sentence)


OF_TURNS = ("scale", "yes_no", "ordered", "category")
NO_LABELS = frozenset({"derived", "item", "turn", "text", "time", "speaker", "language", "system", "session"})
"""Meanings of columns beside turns that are no labels of them."""


def _labels_of_turns(draft: Draft, sample: Sample) -> list[Column]:
    """Return the columns whose lists have a label for each turn of the list that is read."""
    turns = next((c.name for c in draft.columns.values() if c.role in ("text", "transcript")), "")
    prefix = turns.removesuffix("[]").rpartition("[].")[0]
    if "[]" not in turns:
        return []
    speakers, labels = _names_of_speakers(draft, sample), dict[str, Column]()
    for column in sample.columns.values():
        last = column.name.removesuffix("[]").rpartition("[].")
        is_beside = last[0] == prefix and (are_parallel(sample, turns, column.name) if not prefix else True)
        is_plain = column.is_list and column.name.endswith("[]") == (not prefix)
        if column.name in draft.columns or not (is_beside and is_plain) or column.name in speakers:
            continue
        parts = answer_name(last[2])
        is_label = column.looks_like in OF_TURNS and not column.meanings & NO_LABELS
        is_label = is_label and not counts_turns(sample, column.name)
        is_label = is_label and is_where_text_is(sample, column.name, turns)
        if is_label and not parts.is_reason and parts.kind != "metric":
            role = parts.kind if parts.kind in ("judge", "key") else "label"
            label = Column(column.name, role, parts.question or last[2], parts.rater, TURN_ITEM)
            labels.setdefault(label.key, label)
    return list(labels.values())


def read_transcript(sample: Sample) -> Reading | None:
    transcripts = [c for c in sample.look("transcript") if not c.is_list]
    if not transcripts:
        return None
    draft = Draft("transcript")
    responses = [c for c in sample.meaning("response") if c.holds_text and not c.is_list]
    draft.pick("transcript", transcripts)
    if responses:
        draft.key = "cells"
        draft.add(responses[0].name, "utterance", speaker=ASSISTANT)
        if len(responses) > 1:
            draft.doubts.append(f"{responses[0].name} and {responses[1].name} may be the response")
        return _with_row_answers(
            draft, sample, "Each row is a dialogue so far and the response to it", item=TURN_ITEM
        )
    return _with_row_answers(
        draft, sample, "Each row is one dialogue with all turns in one cell", item=DIALOGUE_ITEM
    )


def read_cells(sample: Sample) -> Reading | None:
    """An exchange a row: a prompt and the response to it, or numbered turns."""
    if any(not c.is_list for c in sample.look("transcript")) and sample.meaning("response"):
        return None
    draft = Draft("cells")
    contexts = [c for c in sample.meaning("context") if c.holds_text and not c.is_list]
    prompts = [c for c in sample.meaning("prompt") if c.holds_text and not c.is_list and c not in contexts]
    responses = [c for c in sample.meaning("response") if c.holds_text and not c.is_list and c not in prompts]
    if responses and not prompts and not contexts:
        prompts = [c for c in sample.meaning("text", "text") if not c.is_list and c not in responses][:1]
        draft.doubts += [f"{c.name} may be something other than what it responds to" for c in prompts]
    turns, numbered = _named_turns(sample), _numbered_turns(sample)
    if not (prompts or contexts) and not responses and len(turns) < 2 and len(numbered) < 2:
        return None
    sentence = "Each row is one exchange: a prompt and the response"
    if turns:
        for name, speaker in turns.items():
            draft.add(name, "utterance", speaker=speaker)
        sentence = "Each row is one dialogue with its turns in columns"
        if list(turns) != [name for name in sample.columns if name in turns]:
            draft.missing.append("the columns of turns in their order")
            return draft.reading(sample, f"{sentence}.")
        return _with_row_answers(draft, sample, sentence, item=DIALOGUE_ITEM if len(turns) > 2 else TURN_ITEM)
    if (prompts or contexts) and responses:
        first, *more = prompts or contexts
        system = _system_of_responses(sample, first.name)
        draft.add(first.name, "utterance", speaker=USER)
        if system:
            draft.add(responses[0].name, "response")
            draft.add(system, "system")
            sentence = "Each row is the response of one system"
        draft.add(responses[0].name, "utterance", speaker=ASSISTANT)
        more += responses[1:]
        if prompts:
            for context in contexts:
                draft.add(context.name, "metadata")
                draft.doubts.append(f"{context.name} may be turns before the exchange")
        if more:
            draft.doubts.append(f"{' and '.join(c.name for c in more)} may be turns, too")
        speakers = sample.meaning("speaker", "speaker")
        if speakers:
            draft.doubts.append(f"{speakers[0].name} says who speaks")
    elif len(numbered) > 1:
        sentence = "Each row is one dialogue with its turns in columns"
        for place, name in enumerate(numbered):
            draft.add(name, "utterance", speaker="AB"[place % 2])
        draft.doubts.append(f"{' and '.join(numbered[:2])} may be turns of two speakers in turn")
    else:
        draft.missing.append(
            "a column with the response" if not responses else "a column with what it responds to"
        )
        return draft.reading(sample, "Each row is one exchange: a prompt and the response.")
    return _with_row_answers(draft, sample, sentence, item=TURN_ITEM)


TURN_WORDS = word_set("turn utterance utt message msg text sentence line")


def _named_turns(sample: Sample) -> dict[str, str]:
    """Return columns such as `user_1` and `bot_1` with the speakers of their turns, in order.

    `Prompt` and `Claude Response 1` are the user and the assistant; what stands in brackets does not count. A
    number may be missing once, for the first turn. Each number has the same speakers, two or more, and the
    cells are not answers on one scale.
    """
    places: dict[str, tuple[int, str]] = {}
    for column in sample.columns.values():
        header = BRACKETS.sub("", column.name)
        numbers = re.findall(r"\d{1,9}", header) or ["1"]
        words = [token for token in tokens_of(header) if token.base]
        speakers = [speaker for token in words if (speaker := speaker_of_word(token.base))]
        others = [
            token
            for token in words
            if not speaker_of_word(token.base)
            and token.base not in TURN_WORDS
            and not looks_like_a_model(token.word)
        ]
        is_text = column.n and not column.is_list and any(map(str.isalpha, "".join(column.examples)))
        if len(numbers) == len(speakers) == 1 and not others and is_text:
            places[column.name] = (int(numbers[0]), speakers[0])
    by_number: dict[int, list[str]] = defaultdict(list)
    for number, speaker in places.values():
        by_number[number].append(speaker)
    groups = {frozenset(speakers) for speakers in by_number.values()}
    texts = {name: {text for (text,) in sample.keys(name) if text} for name in places}
    n_different = len(set().union(*texts.values()))
    is_pair = len(groups) == 1 and len(*groups) == len(next(iter(by_number.values()))) > 1
    is_plain = len(by_number) == 1 and not any(re.search(r"\d", name) for name in places)
    if not is_pair or is_plain or 2 * n_different < sum(map(len, texts.values())):
        return {}
    order = sorted(places, key=lambda name: places[name][0])
    return {name: places[name][1] for name in order}


BRACKETS = re.compile(r"\([^()]*\)")


def _system_of_responses(sample: Sample, prompt: str) -> str:
    """Return the column of the systems that respond to the same prompts, empty where there is none."""
    for column in sample.meaning("system", "system", "category"):
        systems: dict[str, set[str]] = defaultdict(set)
        for text, system in sample.keys(prompt, column.name):
            systems[text].add(system)
        if sum(len(names) > 1 for names in systems.values()) * 2 > len(systems) and "" not in systems:
            return column.name
    return ""


def _may_hold_labels(column: ColumnProfile) -> bool:
    """Whether a column of lists may have the labels of turns, or of several raters."""
    parts = answer_name(column.name.replace("[].", " ").removesuffix("[]"))
    return column.is_answers and bool(
        column.meanings & {"value", "rater", "judge", "key"} or parts.kind or parts.has_quality
    )


def _numbered_turns(sample: Sample) -> list[str]:
    """Return columns with texts whose names differ in a number alone, such as `turn_1` and `turn_2`."""
    groups: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for column in sample.columns.values():
        match = NUMBER_AT_END.search(column.name)
        if match and len(match[1]) < 4 and column.holds_text and not column.is_list:
            stem = "".join(token.word for token in tokens_of(column.name[: match.start()]))
            if stem in ("turn", "utterance", "utt", "message", "msg", "sentence", "line", "t", "u", "text"):
                groups[stem].append((int(match[1]), column.name))
    best = max(groups.values(), key=len, default=[])
    return [name for _, name in sorted(best)]


def read_pairs(sample: Sample) -> Reading | None:
    """Comparisons of two responses."""
    stems = {
        c.name.partition("[]")[0]: None
        for c in sample.columns.values()
        if c.guess.look not in ("yes_no", "scale", "score") or c.is_list
    }
    responses = [stem for stem in stems if TWO_RESPONSES.fullmatch(stem)]
    if len(responses) < 2:
        return None
    draft = Draft("pairs")
    draft.missing.append(
        "a mapping cannot say which response won: import it as pairs (--format pairs), or compare the raters"
    )
    return draft.reading(sample, f"Each row compares {responses[0]} with {responses[1]}.")


def read_responses(sample: Sample) -> Reading | None:
    """Responses of several systems to a prompt, one column a system."""
    if len(_named_turns(sample)) > 2:
        return None
    pairs = [c.name for c in sample.columns.values() if TWO_RESPONSES.fullmatch(c.name)]
    systems: dict[str, str] = {}
    for column in sample.columns.values():
        if (
            column.is_list
            or not column.holds_text
            or column.name in pairs
            or "explanation" in column.meanings
        ):
            continue
        tokens = tokens_of(column.name)
        rest = [
            t
            for t in tokens
            if t.word not in ("response", "answer", "output", "completion", "reply", "generation")
        ]
        has_word = len(rest) < len(tokens)
        if any(token.base in NO_SYSTEMS for token in rest):
            continue
        is_named = looks_like_a_model(column.name) or (has_word and rest and not column.meanings)
        if is_named and rest:
            systems[column.name] = column.name[rest[0].start : rest[-1].end]
    if len(systems) < 2 or len(set(systems.values())) < len(systems):
        return None
    draft = Draft("responses")
    before = [
        c
        for meaning in ("prompt", "context", "text")
        for c in sample.meaning(meaning)
        if (c.holds_text or c.looks_like == "transcript") and not c.is_list and c.name not in systems
    ]
    before = list({c.name: c for c in before}.values())
    if not before:
        draft.missing.append("a column with what the systems respond to")
        return draft.reading(sample, "Each row has the responses of several systems.")
    if before[0].looks_like == "transcript":
        draft.add(before[0].name, "transcript")
    else:
        draft.add(before[0].name, "utterance", speaker=USER)
    if len(before) > 1:
        draft.doubts.append(f"{before[0].name} and {before[1].name} may be what they respond to")
    for name, system in systems.items():
        draft.add(name, "response", system=system)
        if not looks_like_a_model(system):
            draft.doubts.append(f"{system} may be something other than a system")
    return _with_row_answers(
        draft, sample, f"Each row has the responses of {len(systems)} systems to a prompt"
    )


def _with_row_answers(draft: Draft, sample: Sample, sentence: str, item: str = "") -> Reading:
    """Add the id of a dialogue that is a row, its system, its rater and its answers."""
    ids = [
        c
        for meaning in ("dialogue", "session", "item")
        for c in sample.meaning(meaning)
        if not c.is_list and c.looks_like in ("id", "turn", "constant") and c.name not in draft.columns
    ]
    ids += [
        c
        for c in sample.look("id")
        if not (c.is_list or c.meanings or c.name in draft.columns) and c.n_different == len(sample.rows)
    ]
    ids = list({c.name: c for c in ids}.values())
    raters = row_raters(sample)
    rater = raters[0].name if raters else ""
    texts = [c.name for c in draft.columns.values()]
    is_of_systems = any(c.role == "response" and not c.system for c in draft.columns.values())
    history = [c.name for c in draft.columns.values() if c.role == "utterance"] if is_of_systems else texts
    for column in ids:
        contents: dict[str, set[str]] = defaultdict(set)
        for row in sample.rows:
            contents[cell_text(row.get(column.name))].add(repr([row.get(name) for name in history]))
        is_id = all(len(content) == 1 for content in contents.values())
        if is_of_systems:  # an id of the prompt, the same for all systems
            if is_id and len(contents) == len(set().union(*contents.values())):
                draft.add(column.name, "dialogue")
                break
            continue
        is_shared = draft.key == "cells" and not rater and column.meanings & {"dialogue", "session"}
        if is_shared or (is_id and (len(contents) == len(sample.rows) or rater)):
            draft.add(column.name, "dialogue")
            break
    if draft.key == "cells" or draft.key == "transcript":
        systems = [
            c
            for c in sample.meaning("system", "system", "category", "constant")
            if c.name not in draft.columns
        ]
        if systems:
            draft.add(systems[0].name, "system")
    by_position, _ = lists_by_position(sample.columns, draft.columns)
    of_messages = [c.name for c in sample.columns.values() if c.is_list and c.name not in by_position]
    lists = of_messages if draft.key == "messages" else []
    labels_of_turns = _labels_of_turns(draft, sample)
    draft.columns |= {label.name: label for label in labels_of_turns}
    varying = sample.varying(rater, *texts) if rater and draft.key != "messages" else ()
    used = {*draft.columns, *lists, *_names_of_speakers(draft, sample)}
    answers = answer_columns(sample.columns, used, has_rater=bool(rater), varying=varying, are_sure=True)
    unread = [name for name in lists if name not in draft.columns and _may_hold_labels(sample.columns[name])]
    if unread:
        draft.doubts.append(f"{', '.join(unread[:3])} may be labels: a mapping reads no lists of them")
    if rater and (answers.columns or draft.key != "messages"):
        add_rater(draft, sample)
    add_answers(draft, answers, item)
    if item:
        for name, reason in list(draft.columns.items()):
            if reason.role == "explanation" and reason.question:
                draft.columns[name] = Column(name, "explanation", reason.question, reason.rater, item)
    is_nameless_rater = not rater and not answers.raters and not any(c.rater for c in labels_of_turns)
    if (answers.columns or labels_of_turns) and is_nameless_rater:
        draft.doubts.append("no column says who answered: the rater is named after the file")
    if answers.columns and draft.key == "responses":
        draft.doubts.append("nothing says which response the answers are about")
    _doubt_texts_left_out(draft, sample)
    raters_in_columns = answers.raters
    raters_text = (
        ", rated by one rater"
        if rater and answers.columns
        else ", rated by raters who are numbered, and not identified"
        if any(map(is_by_position, answers.columns))
        else f", rated by {', '.join(raters_in_columns[:4])}"
        if raters_in_columns
        else ", with labels"
        if answers.columns
        else ", with labels of the turns"
        if labels_of_turns
        else ""
    )
    return draft.reading(sample, f"{sentence}{raters_text}.")

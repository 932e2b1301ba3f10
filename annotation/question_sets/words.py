"""What the types of uses mean, and why a question is asked or not, in words: one place for pages and docs."""

from __future__ import annotations

TYPES = {
    "ans_wo_time": "quiz: the main character has heard the answer",
    "ans_w_time": "quiz, with a date in the text: the main character has heard the answer",
    "before_event_unans": "quiz: the answer is only told later",
    "dont_know_unans": "quiz: the main character was in none of the sessions that tell it",
    "dont_know_unans_time": "quiz, with a date: the main character was in none of the sessions that tell it",
    "undated": "a fact for ever, heard",
    "current": "a fact of the same date, heard",
    "past": "a fact of an earlier date, heard, and asked with its date",
    "future": "a fact that is said later, with a later date",
    "unheard": "a fact that was said where the main character was not there",
}
RULES = {
    "heard": "it was heard before",
    "all heard": "all that is needed was heard before",
    "both heard": "both facts were heard before",
    "not there": "the main character is in none of these sessions",
    "before the evidence": "these sessions come later",
    "said later": "it is said later, in this session",
    "not heard": "it was said in this session, without the main character",
    "partly there": "the main character is in some of the sessions that are all needed",
    "same session": "the evidence may lie on either side of the point where it is asked",
    "the date would tell": "a date in the future would give the key away",
    "dates overlap": "the dates overlap, so that neither is before the other",
    "said later on the same date": "it is said later, but on the same date",
    "dates against the order of sessions": "the dates run against the order of the sessions",
    "partly heard": "not all turns that say it were heard",
    "another fact may answer": "another fact of the same head and relation is known, and seems to answer",
}
DROPPED = {
    "ambiguous": "several answers at the same date, and the relation has one",
    "answer in text": "the answer stands in the text of the question",
    "too few distractors": "there are not three other answers of the kind",
    "unknown relation": "the relation is not in the table",
}


def type_told(name: str) -> str:
    """Return what a type means; a pair of hops is told hop by hop."""
    if name in TYPES:
        return TYPES[name]
    hops = [part for part in name.split("_") if part in TYPES]
    return "two facts, in their order: " + "; ".join(TYPES[part] for part in hops) if hops else name


def rule_told(name: str) -> str:
    """Return a rule in words."""
    return RULES.get(name, name)


def dropped_told(name: str) -> str:
    """Return in words why questions or facts came to nothing."""
    return DROPPED.get(name, name)

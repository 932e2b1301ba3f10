"""The series once more, for the fake reader: every turn says in braces which questions it answers.

Nothing here is a text of its own. The marks are put into the turns and questions of `demo/series.py` when the
corpus is loaded: `{evidence q17}` in a turn that gives the answer, `{evidence q17 1/2}` in one of two that
are both needed, `{fact Ana | boss | Ben}` in a turn that says a fact, and `{answer q.17 ...}` in the
question. Questions about facts are made beforehand, because a mark needs a question, and share the marks of
their facts: `f12`, or `f12+f30` for two hops.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from annotation.records import Dialogue
from annotation.scripts.making import make
from annotation.scripts.records import Question
from demo import series

SUFFIX = "-marked"
"""How the id of a marked dialogue ends."""
TITLE = "with the answers marked for the fake model"
"""What its title adds, so that nobody takes it for a text."""
NAME = "marked"
"""The name of its question set."""
SEED = 0

Marks = Mapping[int, Sequence[str]]
"""What is put behind the text of turns, by their position."""


def dialogue(seed: int = SEED) -> Dialogue:
    """Return the marked series with its question set, of quiz questions and questions about facts."""
    plain = series.dialogue()
    made = make(plain, name=NAME, seed=seed)
    return marked(replace(plain, questions=(*plain.questions, *made.questions), question_sets=(made.set,)))


def lines() -> str:
    """Return the corpus file's content."""
    return series.line(dialogue())


def unreviewed(seed: int = SEED) -> str:
    """Return a corpus file of the marked series as it is before anybody worked on it: without facts, and with
    a quiz of which nobody has said which sessions answer it."""
    script = dialogue(seed)
    quiz = (
        replace(question, evidence=(), evidence_all=False, evidence_turns=(), status="draft", styles={})
        for question in script.questions
        if question.source == "quiz" and not question.origin
    )
    return series.line(replace(script, facts=(), questions=tuple(quiz), question_sets=()))


def marked(script: Dialogue) -> Dialogue:
    """Return a script whose turns tell which of its facts and questions they answer, and each question its
    answer.

    Raises ValueError where a turn's mark could be taken for one of another session that answers as well.
    """
    marks = _marks(script)
    return replace(
        script,
        id=f"{script.id}{SUFFIX}",
        metadata={**script.metadata, "title": f"{script.metadata.get('title', script.id)}, {TITLE}"},
        turns=tuple(
            replace(turn, text=" ".join([turn.text, *marks.get(place, ())]))
            for place, turn in enumerate(script.turns)
        ),
        questions=tuple(map(_answering, script.questions)),
    )


def key_of(question: Question) -> str:
    """Return the id that the marks of a question's evidence have: that of its facts, else its own."""
    return "+".join(question.facts) or question.base or question.id


def _marks(script: Dialogue) -> Marks:
    marks: dict[int, dict[str, None]] = defaultdict(dict)
    for fact in script.facts:
        for place in fact.turns:
            marks[place][f"{{fact {fact.head} | {fact.relation} | {fact.tail}}}"] = None
    for question in script.questions:
        for place, mark in _evidence(question, script):
            marks[place][mark] = None
    return {place: tuple(several) for place, several in marks.items()}


def _evidence(question: Question, script: Dialogue) -> Iterator[tuple[int, str]]:
    """Yield the marks of a question's evidence with their positions.

    The turns of one session are needed together, and those of all sessions where all are needed.
    """
    key = key_of(question)
    for places in _together(question, script):
        for part, place in enumerate(places, start=1):
            yield place, f"{{evidence {key}{f' {part}/{len(places)}' if len(places) > 1 else ''}}}"


def _together(question: Question, script: Dialogue) -> list[tuple[int, ...]]:
    if question.evidence_all:
        return [tuple(sorted(set(question.evidence_turns)))]
    by_session: dict[str, list[int]] = defaultdict(list)
    for place in sorted(set(question.evidence_turns)):
        by_session[script.turns[place].session].append(place)
    divided = [len(places) for places in by_session.values() if len(places) > 1]
    if len(set(divided)) < len(divided):
        raise ValueError(f"question {question.id!r}: marks of its sessions cannot be told apart")
    return [tuple(places) for places in by_session.values()]


def _answering(question: Question) -> Question:
    """Return a question that holds its answer, in its text and in every wording."""
    mark = f"{{answer {_dotted(key_of(question))} {question.answer}}}"
    return replace(
        question,
        text=_before_the_end(question.text, mark),
        styles={who: _before_the_end(text, mark) for who, text in question.styles.items()},
    )


def _dotted(key: str) -> str:
    """Return an id as questions have it: with dots, so that no retriever finds the evidence by it."""
    return "+".join(f"{part[:1]}.{part[1:]}" for part in key.split("+"))


def _before_the_end(text: str, mark: str) -> str:
    return f"{text[:-1]} {mark}{text[-1:]}"

"""Mapping of a table's columns: what each column of somebody's file is in Concord.

A mapping is a dictionary from keys to columns, the same in a YAML file, in the options of a command, in the
API and in the database:

    dialogue: conv_id                      a role, and the column that has it
    text: utterance
    "label:Helpful@ann1": ann1_helpful     a column with the answers of one rater to one question
    "judge:Helpful@gpt": gpt_helpful
    "utterance:user": prompt               a column with a turn of this speaker
    "response:gpt-4o": answer_1            a column with a response of this system
    "scale:Helpful": [poor, fair, good]    the answers of an ordered scale, lowest first
    "codes:Agree": {"yes": "1", "no": "0"} what words of the file stand for
    "separator:Topics": ";"                between the values of a set in one cell

Columns without a role are ignored, and named with the import.
"""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from types import MappingProxyType

from jobs.tables import Table


@dataclass(frozen=True, slots=True)
class Role:
    """What a column can be. `names` are the parts that its key has behind the role: `label:QUESTION@RATER`.

    Several columns may have a role that `repeats`; without that, each role has one column.
    """

    key: str
    title: str
    help: str
    names: tuple[str, ...] = ()
    repeats: bool = False


ANSWER = ("question", "rater", "item")
ROLES: Table[Role] = Table(
    "roles",
    {
        role.key: role
        for role in (
            Role("dialogue", "Dialogue id", "Which dialogue the row belongs to."),
            Role("speaker", "Speaker", "Who says the turn."),
            Role("text", "Text", "What is said."),
            Role("turn", "Turn number", "Place of the turn in its dialogue."),
            Role("time", "Time", "When it is said."),
            Role("session", "Session", "Which session of a long dialogue."),
            Role("addressees", "Addressees", "Who is spoken to, separated by semicolons."),
            Role("system", "System", "The model or agent that produced the turn or the dialogue."),
            Role("continuation", "Continuation id", "Which continuation of the dialogue."),
            Role("trial", "Trial", "Number of a repeated run."),
            Role("at", "Turns before it", "How many turns of the dialogue a response sees."),
            Role("given", "Context only", "Whether the turn is context and not rated: yes or no."),
            Role("cluster", "Cluster", "What is resampled together; the dialogue if there is none."),
            Role("language", "Language", "Code of the language, such as en."),
            Role("metadata", "Kept with the dialogue", "Shown to researchers.", repeats=True),
            Role("transcript", "Whole dialogue", "All turns in one cell."),
            Role("utterance", "Turn of one speaker", "One turn a cell.", ("speaker",), repeats=True),
            Role("response", "Response of one system", "One response a cell.", ("system",), repeats=True),
            Role("label", "Label", "A person's answers.", ANSWER, repeats=True),
            Role("judge", "Judge's label", "A model's answers.", ANSWER, repeats=True),
            Role("key", "Answer key", "The right answers.", ANSWER, repeats=True),
            Role(
                "metric", "Metric's score", "An automatic score.", ("question", "rater", "item"), repeats=True
            ),
            Role("item", "Item", "What is rated, where it is neither a turn nor a dialogue."),
            Role("rater", "Rater", "Who answers."),
            Role("question", "Question", "Which question is answered."),
            Role("value", "Answer", "The answer, in a table with one answer a row."),
            Role("explanation", "Explanation", "Why.", ANSWER, repeats=True),
            Role("kind", "Kind of rater", "human, judge, metric or key."),
            Role("identified", "Rater is identified", "Whether a name is always the same person: yes or no."),
            Role("sample", "Repetition", "Number of a repeated answer, from 0."),
            Role("missing", "Reason for no answer", "Why there is no answer."),
            Role("turn_number", "Turn number on the screen", "As annotators see it, from 1."),
            Role("level", "Level", "Measurement level of the question."),
            Role("values", "Values", "All answers of the question's scale."),
            Role("scheme", "Scheme", "The annotation scheme of the question."),
            Role("evidence", "Evidence", "What the answer points at, as JSON."),
            Role("occasion", "Occasion", "When it was answered, as in exports."),
            Role("order", "Order shown", "In which order compared responses were shown."),
        )
    },
)
RATER_KINDS = {"label": "human", "judge": "judge", "key": "key", "metric": "metric"}
"""Kind of the rater of a column with answers, by its role."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column with a role. The other fields are the names in its key, empty where the row has them.

    An answer's question, rater and item are each named by the column or by the row's own columns.
    """

    name: str
    role: str
    question: str = ""
    rater: str = ""
    item: str = ""
    speaker: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """How answers to a question are read: their level and values in order, and what the file's words mean.

    `codes` give the stored answer of a word in the file (`yes`: `1`; `2 - Strongly present`: `2`), `anchors`
    the wording of a stored number; `separator` stands between the values of a set in one cell.
    """

    level: str = ""
    values: tuple[str, ...] = ()
    codes: Dictionary[str, str] = field(default_factory=lambda: MappingProxyType({}))
    anchors: Dictionary[str, str] = field(default_factory=lambda: MappingProxyType({}))
    separator: str = ""


@dataclass(frozen=True, slots=True)
class Mapping:
    """The roles of a table's columns, and the scales of its questions by their keys (empty: of all)."""

    columns: tuple[Column, ...] = ()
    scales: Dictionary[str, Scale] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, role: str) -> str:
        """Return the column of a role that only one column has, empty where none has it."""
        return next((column.name for column in self.columns if column.role == role), "")

    def all_of(self, *roles: str) -> tuple[Column, ...]:
        """Return the columns of these roles, in the order of the file."""
        return tuple(column for column in self.columns if column.role in roles)

    @property
    def answers(self) -> tuple[Column, ...]:
        """Columns of answers: of people, judges, metrics and keys."""
        return self.all_of(*RATER_KINDS)

    @property
    def has_dialogues(self) -> bool:
        """Whether the rows hold turns, and not answers about turns that a corpus has already."""
        return bool(self.all_of("text", "transcript", "utterance", "response"))

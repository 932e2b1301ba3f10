"""What a user may say of a file that the file itself does not: one table, for page, command and API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from annotation.formats.fields import NAME_LIMIT
from annotation.formats.problems import ImportProblem

Given = Mapping[str, str | int]
MOST = 10_000
LIST_LIMIT = 2_000
"""Characters of a list of names."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that may be said: a name, names by commas, one of `choices`, or a whole number from 1.

    `words` are what a page calls no choice, and each of the choices. A command's option whose first choice is
    `yes` may stand alone.
    """

    key: str
    kind: Literal["name", "names", "choice", "count"]
    title: str
    help: str
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def limit(self) -> int:
        """The most characters of a text."""
        return LIST_LIMIT if self.kind == "names" else NAME_LIMIT

    def read(self, value: Any) -> str | int:
        """Return a value that may be stored; raise ImportProblem for any other."""
        if self.kind == "count":
            return self._count(value)
        text = str(value).strip()
        if self.kind == "choice" and text not in self.choices:
            raise ImportProblem(f"must be one of {', '.join(self.choices)}", field=self.key)
        if len(text) > self.limit or not text.isprintable():
            raise ImportProblem(f"must be of one line, up to {self.limit} characters", field=self.key)
        return text

    def _count(self, value: Any) -> int:
        text = str(value).strip()
        if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= MOST):
            raise ImportProblem(f"must be a whole number from 1 to {MOST}", field=self.key)
        return int(text)


FOLD_NAMES, MISSING, JUDGES = "fold_names", "missing", "judges"
COMMON = (FOLD_NAMES,)
"""Settings of every format."""
SETTINGS: dict[str, Setting] = {
    setting.key: setting
    for setting in (
        Setting(
            FOLD_NAMES,
            "choice",
            "Names that differ in case or space alone",
            "Of dialogues, speakers, raters and systems, such as Ann and ann.",
            ("yes", "no"),
            ("refuse the file and list them", "join them in their first spelling", "keep them apart"),
        ),
        Setting(
            MISSING,
            "names",
            "Words for no answer",
            "Values that mean no answer, comma-separated: NA, n/a, -.",
        ),
        Setting(
            JUDGES,
            "names",
            "Judges among the raters",
            "LLM judges where the file does not say who is one, comma-separated; none where all are people.",
        ),
        Setting("system", "name", "System", "Who made the predictions in the file, for MPCEval's files."),
        Setting(
            "given",
            "choice",
            "Half that was given",
            "Where MPCEval's predictions are of one half alone: what the system was told of each turn.",
            ("speaker", "content"),
        ),
        Setting(
            "any_size",
            "choice",
            "Scenarios of any size",
            "Takes scenarios of fewer than three or more than five people, with a note.",
            ("yes",),
        ),
        Setting("main", "name", "Main character", "Whose memory a long dialogue tests; else who says most."),
        Setting(
            "keep_directions",
            "choice",
            "Directions in brackets",
            "Of a long dialogue: keeps (laughs) and the like in the text; else they are dropped.",
            ("yes",),
        ),
        Setting("dialogue", "name", "Id of the dialogue", "Of a long one; else it is the file's name."),
        Setting(
            "turns_from",
            "choice",
            "First turn is number",
            "Whether the column `turn` of a ratings file counts a dialogue's turns from 0 or from 1.",
            ("0", "1"),
        ),
        Setting("min_turns", "count", "Least number of turns", "Shorter dialogues of MPDD are left out."),
    )
}


def settings_of(given: Mapping[str, Any], format: str, taken: tuple[str, ...]) -> dict[str, str | int]:
    """Return what was said, of a format that takes these settings; what is empty or None was not said.

    Raises ImportProblem for a setting that the format does not take, and for a value that it cannot have.
    """
    told: dict[str, str | int] = {}
    for key, value in given.items():
        if value is None or str(value).strip() == "":
            continue
        if key not in SETTINGS or key not in (*COMMON, *taken):
            which = ", ".join((*COMMON, *taken))
            raise ImportProblem(f"is not a setting of the format {format}, which takes {which}", field=key)
        told[key] = SETTINGS[key].read(value)
    return told

"""What is in the scenario editor: a text, and what the strict reader and the oracle make of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from annotation import records
from annotation.formats import ImportProblem
from annotation.formats.script import chat_of, is_json, read_scenario, read_script
from annotation.formats.script_writing import write_draft, write_script
from annotation.scenario_editing.native import native
from annotation.scenario_editing.reading import as_json
from annotation.scenario_editing.showing import Shown, shown
from annotation.scenarios.overview import Summary, summary
from annotation.scenarios.planting import planted, taken_out
from annotation.scenarios.points import scenario_of

STARTER = """id: {id}
cluster: {id}
language: en
participants:
- {{id: mia, name: Mia}}
- {{id: ole, name: Ole}}
- {{id: sam, name: Sam}}
- {{id: kit, name: Kit, agent: true}}
---
Mia (to Ole): Ole, did you get the invoice?
    point p1
Ole (to Mia): Yes, I will pay it tonight.
    point p1
Sam (to Kit): Kit, is the hall free on Friday?
    key: {{attend: 1, speak: {{message: 1}}, addressed: [kit], target: [sam]}}
---
probes:
- id: p1
  kind: overheard
  key: {{attend: 0, speak: {{silence: 1}}}}
"""
"""What a new scenario begins with."""
MOST = 2**20


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that is being written. `record` is None exactly where a `problem` says what is wrong.

    `quoted` is the line of the text that the problem is about.
    """

    text: str
    record: records.Dialogue | None = None
    problem: ImportProblem | None = None
    any_size: bool = False

    @property
    def quoted(self) -> str:
        """The line that the problem is about, '' where it is about none."""
        line = self.problem.line if self.problem else None
        lines = self.text.split("\n")
        return lines[line - 1].strip() if line and line <= len(lines) else ""

    @property
    def as_json(self) -> bool:
        """Whether it is the native format and no script."""
        return is_json(self.text)

    @property
    def chat(self) -> records.Dialogue | None:
        """Who says what: the record, or that much of it where only probes or keys are wrong."""
        if self.record is not None:
            return self.record
        try:
            made = chat_of(read_script(self.text).raw)
        except ImportProblem:
            return None
        return made and replace(made, scenario=replace(scenario_of(made), points=()))

    def lines(self) -> tuple[Shown, ...]:
        """Return the script turn by turn, nothing where it cannot be read."""
        return shown(self.chat) if self.chat else ()

    def summary(self) -> Summary | None:
        """Return it in numbers, None where it cannot be read."""
        return summary(self.record) if self.record else None


def draft(text: str, *, any_size: bool = False) -> Draft:
    """Return what comes of a text: a record, or the problem for which an import would refuse it."""
    text = text.replace("\r\n", "\n")
    try:
        if len(text) > MOST:
            raise ImportProblem(f"is longer than {MOST >> 20} MiB")
        record = read_scenario(text, any_size=any_size)
    except ImportProblem as problem:
        return Draft(text, None, problem, any_size)
    return Draft(text, record, None, any_size)


def with_probe(made: Draft, *, kind: str, trigger: str, points: str, control: bool) -> Draft:
    """Return a draft with a probe more; turn numbers are texts as people write them, such as `3, 4`.

    Raises ImportProblem for a text that has no form yet, or turns that there are not.
    """
    try:
        places = [int(one) for one in points.replace(",", " ").split()]
        first = int(trigger) if trigger.strip() else min(places, default=0)
    except ValueError:
        raise ImportProblem("is no number of a turn", field="points") from None
    raw = read_script(made.text).raw
    try:
        text = _written(made, planted(raw, kind=kind, trigger=first, points=places, control=control))
    except ValueError as error:
        raise ImportProblem(str(error), field="probes") from None
    return draft(text, any_size=made.any_size)


def without_probe(made: Draft, probe: str) -> Draft:
    """Return a draft without a probe. Raises ImportProblem for a text that has no form yet."""
    try:
        text = _written(made, taken_out(read_script(made.text).raw, probe))
    except ValueError as error:
        raise ImportProblem(str(error), field="probes") from None
    return draft(text, any_size=made.any_size)


def probes_of(made: Draft) -> list[str]:
    """Return the ids of a draft's probes, as far as it has a form."""
    try:
        return [str(one.get("id")) for one in read_script(made.text).raw.get("probes") or ()]
    except (ImportProblem, AttributeError, TypeError):
        return []


def other_form(made: Draft) -> Draft:
    """Return a whole draft as JSON, or JSON as a script; one that has no other form stays as it is."""
    if made.record is None:
        return made
    raw = native(made.record)
    return replace(made, text=(write_script(raw) or made.text) if made.as_json else as_json(raw))


def _written(made: Draft, raw: dict[str, object]) -> str:
    return as_json(raw) if made.as_json else write_draft(raw)

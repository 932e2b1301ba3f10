"""The text of a prompt as data: a system and a user part with named variables.

A variable is `$name` (or `${name}`); a dollar sign is written `$$`. What a variable stands for is put in once
and not read again, so a `$word` inside a transcript stays as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any

from jobs.prompt import Prompt

Filling = str | Callable[[], str]
"""What a variable stands for, or what makes it: only the variables that a text uses are made."""
LONGEST = 50_000
"""Characters of a part of a text."""
EXAMPLES = "examples"
"""The variable of the worked examples. A text without it has them at the end of its system part."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a protocol's texts: `help` says what it stands for; a text must have a `required` one."""

    name: str
    help: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Wording:
    """A text of a prompt. `form` names how the reply is asked for, of those that the protocol reads ('' for
    its first). `examples` are worked examples, rendered and quoted, each with the reply that it calls for."""

    system: str
    user: str
    form: str = ""
    examples: tuple[Mapping[str, Any], ...] = field(default=())

    def names(self) -> set[str]:
        """Return the names of the variables in it."""
        return {name for part in (self.system, self.user) for name in Template(part).get_identifiers()}

    def problems(self, known: Mapping[str, Variable]) -> list[str]:
        """Return what keeps it from being a prompt, a sentence each: unknown and missing variables, stray
        dollar signs, empty or endless parts."""
        found = [trouble for part in ("system", "user") for trouble in self._troubles(part, known)]
        if not found:
            missing = [one.name for one in known.values() if one.required and one.name not in self.names()]
            found = [f"${name} is missing: {known[name].help}." for name in missing]
        return found

    def digest(self) -> str:
        """Return the SHA-256 of all of it: the same digest is the same text."""
        content = [self.system, self.user, self.form, [dict(example) for example in self.examples]]
        return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    def fill(self, values: Mapping[str, Filling], schema: Mapping[str, Any] | None = None) -> Prompt:
        """Return the prompt with its variables filled in; raise KeyError for one without a value."""
        made = {name: _made(values[name]) for name in self.names()}
        system = Template(self.system).substitute(made)
        if EXAMPLES in values and EXAMPLES not in made and (told := _made(values[EXAMPLES])):
            system = f"{system}\n\n{told}"
        return Prompt(system, Template(self.user).substitute(made), schema)

    def _troubles(self, part: str, known: Mapping[str, Variable]) -> Iterator[str]:
        text: str = getattr(self, part)
        if len(text) > LONGEST:
            yield f"The {part} part has {len(text):,} characters; at most {LONGEST:,} are allowed."
            return
        if part == "user" and not text.strip():
            yield "The user part is empty."
        for match in Template.pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            name = match["named"] or match["braced"]
            if match["invalid"] is not None:
                yield (
                    f"The {part} part, line {line}: a dollar sign without a variable's name; "
                    "write $$ for the sign itself."
                )
            elif name and name not in known:
                yield (
                    f"The {part} part, line {line}: there is no variable ${name}; "
                    f"there are {', '.join(f'${each}' for each in sorted(known))}."
                )


def _made(filling: Filling) -> str:
    return filling if isinstance(filling, str) else filling()

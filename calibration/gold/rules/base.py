"""What a rule is by which gold labels are chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from calibration.errors import GoldRuleError
from calibration.statistics import Ratings
from calibration.statistics.core.types import Samples
from calibration.statistics.gold import Chosen


@dataclass(frozen=True)
class Rule:
    """A rule is one file here and one line in `RULES`.

    It has a key and a title, the levels it applies to (and in words), its options, and its choice. An option
    maps the values it may have to their meaning; the first is taken where none is named. `samples` says which
    of a rater's repeated answers count: for a majority the first, as a mean may fall between the values.
    """

    key: str
    title: str
    levels: frozenset[str]
    needs: str
    options: Mapping[str, Mapping[str, str]]
    choose: Callable[[Ratings, Mapping[str, Any]], Chosen]
    explanation: str
    samples: Samples | None = None

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with defaults. Raises GoldRuleError for an unknown option or value."""
        if unknown := set(given) - set(self.options):
            raise GoldRuleError(f"{self.title} has no option {sorted(unknown)[0]!r}")
        for name, value in given.items():
            if value not in self.options[name]:
                raise GoldRuleError(f"{name} is {' or '.join(self.options[name])}, not {value!r}")
        return {name: given.get(name, next(iter(allowed))) for name, allowed in self.options.items()}

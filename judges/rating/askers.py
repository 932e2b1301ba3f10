"""From a judge's spec to who asks and how: its protocol, its variant, and its text where that is not the
protocol's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jobs.prompt import Tokens, Unparseable
from judges.prompt_versions import texts
from judges.prompt_versions.picking import ranked
from judges.protocols import PROTOCOLS, Asking, Case, Prompt, Protocol, Reading, Wording
from judges.protocols.budget import within
from judges.rating import bound_schemes


@dataclass(frozen=True, slots=True)
class Asker:
    """A protocol as a judge uses it; `wording` None is the protocol's own text."""

    protocol: Protocol
    variant: str = ""
    wording: Wording | None = None
    budget: int | None = None

    def parts(self) -> tuple[str, ...]:
        """Return the parts that are asked in a call each."""
        return self.protocol.parts(self.variant)

    def prompt(self, case: Case, *, near: bool = True) -> tuple[Prompt, tuple[str, ...]]:
        """Return what to send about a case, and flags; raise TooLong where it cannot fit the budget.

        Without `near`, the nearest examples are not looked for: a prompt of about the length, for estimates.
        """
        assert isinstance(self.protocol, Asking)
        text = ranked(self.wording, case) if near and self.wording else self.wording
        return within(self.protocol, case, self.variant, self.budget, text)

    def read(self, reply: str, tokens: Tokens, case: Case) -> Reading:
        """Return the answers of a reply; raise Unparseable where it does not answer."""
        assert isinstance(self.protocol, Asking)
        return self.protocol.read(reply, tokens, case, self.variant, self.wording)

    def given_up(self, error: Unparseable, case: Case) -> Reading | None:
        """Return the reading where no reply could be read, None where there is none."""
        assert isinstance(self.protocol, Asking)
        return self.protocol.given_up(error, case)

    def whole_prompt(self, case: Case) -> Prompt:
        """Return the prompt about a case without the budget's cuts."""
        assert isinstance(self.protocol, Asking)
        return self.protocol.prompt(case, self.variant, self.wording)


def asker_of(spec: Mapping[str, Any]) -> Asker:
    """Return who asks for a judge of this spec."""
    scheme = bound_schemes.known(spec)
    return _asker(
        spec["protocol"], spec.get("variant", ""), spec.get("wording", ""), spec.get("budget"), *scheme
    )


@lru_cache(maxsize=256)
def _asker(
    protocol: str, variant: str, wording: str, budget: int | None, scheme: str, scheme_hash: str
) -> Asker:
    asked = bound_schemes.of_spec(PROTOCOLS[protocol], variant, scheme, scheme_hash)
    return Asker(asked, variant, texts.of_digest(wording) if wording else None, budget)

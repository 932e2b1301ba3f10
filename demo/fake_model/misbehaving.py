"""What may go wrong with a request: which misbehaviours there are, and which of them a request meets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demo.fake_model.draws import u
from demo.fake_model.problems import ErrorFileProblem, check_keys, number, texts

KINDS: Mapping[str, str] = {
    "429": "status 429, with `retry_after` where it is given",
    "500": "status 500",
    "hang": "silence until the client gives up",
    "reset": "the connection is closed without an answer",
    "slow:MS": "the answer comes MS milliseconds later",
    "malformed": "a reply that breaks off before it says anything",
    "wrong_form": "the right answer in another form than was asked for",
    "wrong_count": "a count that contradicts the turns named; without counts, one score too few",
    "wrong_turn": "a turn that is not there",
    "extra_field": "a field or line that was not asked for",
    "truncated": "the reply is cut in half: finish_reason length",
    "refusal": "message.refusal in place of a text",
    "content_filter": "no text: finish_reason content_filter",
    "reasoning": "reasoning_content beside the text",
    "no_schema": "status 400 for structured output",
    "no_parameter:NAME": "status 400 for one parameter",
    "batch_429": "status 429 for the submission of a batch, with `retry_after` where it is given",
    "batch_refused": "a batch fails when it is checked, and nothing of it is done",
    "batch_reset": "a batch is taken, and the connection closed without an answer",
    "batch_slow:MS": "a batch takes MS milliseconds",
    "batch_fails": "a line of a batch comes back with status 500",
    "batch_expires": "a line of a batch is not done in time",
    "batch_unlisted": "batches are not listed: status 404",
    "batch_undeletable": "files are not deleted: status 403",
    "batch_upload_slow:MS": "an uploaded file is taken MS milliseconds later",
}
OF_THE_TEXT = ("truncated", "refusal", "content_filter", "reasoning")
"""A model refuses a text every time; other trouble passes, so its chance is drawn anew each time."""
_FORM = re.compile(r"(?:batch_(?:upload_)?)?slow:\d{1,8}|no_parameter:[a-z_]{1,40}")
_NAMES = tuple(kind for kind in KINDS if ":" not in kind)


@dataclass(frozen=True, slots=True)
class Misbehaviour:
    """One kind of trouble: for the `first` requests, or at a `rate`; `roles` narrows it (none: all)."""

    kind: str
    first: int = 0
    rate: float = 0.0
    retry_after: float | None = None
    roles: tuple[str, ...] = ()

    def meets(self, *, seed: int, role: str, text: str, number: int, times: int) -> bool:
        """Whether it befalls a request: the `number`th (from 0) in all, asked `times` times before."""
        if self.roles and role not in self.roles:
            return False
        again = () if self.kind in OF_THE_TEXT else (times,)
        return number < self.first or u(seed, "misbehaviour", self.kind, text, *again) < self.rate

    @property
    def amount(self) -> str:
        """What stands behind the colon of its kind."""
        return self.kind.partition(":")[2]


def misbehaviour(value: Any, where: str, roles: Sequence[str]) -> Misbehaviour:
    """Return the misbehaviour of a JSON value; raise ErrorFileProblem that names the key."""
    check_keys(value, where, ("kind", "first", "rate", "retry_after", "roles"))
    kind = value.get("kind")
    if not isinstance(kind, str) or (kind not in _NAMES and not _FORM.fullmatch(kind)):
        raise ErrorFileProblem(f"{where}.kind: {str(kind)[:40]!r} is none of {', '.join(KINDS)}")
    first, rate = value.get("first"), value.get("rate")
    if (first is None) == (rate is None):
        raise ErrorFileProblem(f"{where}: either first (requests) or rate (0 to 1) is needed")
    if first is not None and (not isinstance(first, int) or isinstance(first, bool) or first < 1):
        raise ErrorFileProblem(f"{where}.first: {str(first)[:40]!r} is not a number of requests")
    pause = value.get("retry_after")
    if pause is not None and kind not in ("429", "batch_429"):
        raise ErrorFileProblem(f"{where}.retry_after: only 429 and batch_429 have one")
    return Misbehaviour(
        kind,
        first or 0,
        0.0 if rate is None else number(rate, f"{where}.rate", 0.0, 1.0),
        None if pause is None else number(pause, f"{where}.retry_after", 0.0, 3600.0),
        texts(value.get("roles", []), f"{where}.roles", roles),
    )

"""The option of commands that says whose answers a judge reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from judges.errors import JudgeError


def add_needs(parser: CommandParser, *, drafts: bool = False) -> None:
    """Add `--need ROLE=RATER`, which may be repeated; with `drafts` its help says how a draft is named."""
    also = "; of a draft: BENCH/draft-3" if drafts else ""
    parser.add_argument(
        "--need",
        action="append",
        default=[],
        metavar="ROLE=RATER",
        help="the judge or metric, by name or fingerprint, whose answers the protocol reads; for a "
        f"protocol with needs, once for each{also}",
    )


def needs_told(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the rater named for each role; raise JudgeError where the form is another."""
    pairs = [text.partition("=") for text in options["need"]]
    if bad := [role for role, sign, rater in pairs if not (role and sign and rater)]:
        raise JudgeError(f"--need {bad[0]}: say ROLE=RATER.")
    return {role: rater for role, _, rater in pairs}

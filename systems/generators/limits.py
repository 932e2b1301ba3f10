"""Limits of what a production may spend: calls, tokens and time. Beyond a limit it fails, and says which."""

from __future__ import annotations

from collections.abc import Mapping

from jobs.prompt import Prompt, about_tokens
from systems.generators.base import Failed, Reply, Setting, Settings

CALLS, TOKENS_IN, TOKENS_OUT, SECONDS = "calls_per_turn", "tokens_in", "tokens_out", "seconds"
DIALOGUES = 50
"""The time limit is for so many dialogues; each has its share of it."""
SETTINGS = (
    Setting(CALLS, 2, "How many calls one response may take.", low=1, high=10),
    Setting(TOKENS_IN, 10_000, "How many tokens the prompts of a dialogue may have.", low=1, high=1_000_000),
    Setting(TOKENS_OUT, 1_000, "How many tokens the replies of a dialogue may have.", low=1, high=1_000_000),
    Setting(SECONDS, 0, f"How many seconds the calls of {DIALOGUES} dialogues may take; 0 is no limit.",
            low=0, high=1_000_000),
)  # fmt: skip
Spent = Mapping[str, float]
"""Tokens in and out, and seconds."""
NOTHING: Spent = {TOKENS_IN: 0, TOKENS_OUT: 0, SECONDS: 0.0}


def spend(spent: Spent, prompt: Prompt, reply: Reply, settings: Settings, where: str) -> dict[str, float]:
    """Return what is spent after a reply; raise Failed where that passes a limit.

    Where the server does not say how many tokens there were, they are counted as `about_tokens` does, once
    for every completion. Each of several completions counts for as long as the last one took; a reply that
    another run was given before costs no time.
    """
    if reply.asked > int(settings[CALLS]):
        raise Failed(f"{CALLS}: {where} took {reply.asked} calls, and {settings[CALLS]} are allowed")
    times = max(1, reply.asked)
    sent = times * about_tokens("\n".join(part for part in (prompt.system, prompt.user) if part))
    said = times * about_tokens(reply.text)
    found = {
        TOKENS_IN: spent[TOKENS_IN] + (sent if reply.tokens_in is None else reply.tokens_in),
        TOKENS_OUT: spent[TOKENS_OUT] + (said if reply.tokens_out is None else reply.tokens_out),
        SECONDS: spent[SECONDS] + reply.asked * (reply.seconds or 0.0),
    }
    for name in (TOKENS_IN, TOKENS_OUT):
        if found[name] > int(settings[name]):
            raise Failed(f"{name}: {found[name]:,} tokens after {where}, and {settings[name]:,} are allowed")
    _timed(found[SECONDS], reply, int(settings[SECONDS]), where)
    return found


def _timed(seconds: float, reply: Reply, limit: int, where: str) -> None:
    share = limit / DIALOGUES
    if limit and reply.asked and reply.seconds is None:
        raise Failed(f"{SECONDS}: how long {where} took is not known; set the limit to 0")
    if limit and seconds > share:
        raise Failed(
            f"{SECONDS}: {seconds:.1f} seconds after {where}, and {share:.1f} are allowed "
            f"({limit:,} for {DIALOGUES} dialogues)"
        )

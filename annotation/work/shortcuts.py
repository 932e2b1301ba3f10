"""Keys of the annotation page and the adjudicator's page, as their help lists them."""

from __future__ import annotations

from annotation.scheme_store import Questionnaire

Shortcut = tuple[list[tuple[str, str]], str]
"""Keys, each with the command that a reader may give another key ('' for none), and what they do."""


def _shortcut(keys: str, action: str) -> Shortcut:
    """Return a shortcut from its keys, such as "C:note M:flag_turn"."""
    parts = [key.partition(":") for key in keys.split()]
    return [(key, command) for key, _, command in parts], action


def shortcuts(plan: Questionnaire) -> list[Shortcut]:
    """Return the keys that a scheme's questions are answered with."""
    kind, order = plan.item_kind, "turn before, turn after"
    if plan.is_mixed:
        order += "; after the last turn the whole dialogue"
    elif not plan.is_multiple:
        order = "question before, question after"
        order += "; where several responses are rated, response before, response after"
    rows = [
        ("0…9", "choose a value; 0 is ten where the scale goes to ten"),
        ("a b t n" if kind == "pair" else "", "A is better, B is better, both alike, neither"),
        (
            "← →" if kind == "ranking" else "",
            "which response the digits give a place; equal ones get the same",
        ),
        ("letters", "set or remove the tag that shows the letter"),
        ("↑ ↓", order),
        (
            "e" if plan.takes_evidence else "",
            "point at the turns or words that an answer refers to: ↑ ↓ turns, ← → words "
            "(with Shift more of them), ↵ points, Esc ends",
        ),
        ("Ctrl ↵", "submit and go to the next task (⌘ ↵ on a Mac)"),
        ("u:undo", "undo the last change"),
        ("p:back", "back to the last submitted task, to revise it"),
        ("c:comment", "comment"),
        ("m:flag", "flag or unflag the task"),
        (
            "C:note M:flag_turn B:bookmark",
            "comment on, flag or bookmark the current turn; to pick another turn, choose it there "
            "or click its number",
        ),
        ("N:none", "answer no to all remaining yes-or-no questions"),
        ("x:skip", "skip, with a reason"),
        ("g:guidelines", "guidelines"),
        ("v:marks", "show or hide transcription marks"),
        ("?:keys", "this list"),
    ]
    return [_shortcut(keys, action) for keys, action in rows if keys]


ADJUDICATION = [
    _shortcut(keys, action)
    for keys, action in (
        ("0…9", "choose a value"),
        ("↑ ↓", "value before, value after"),
        ("x", "cannot be decided"),
        ("r", "write the reason"),
        ("Ctrl ↵", "decide and go to the next case (⌘ ↵ on a Mac)"),
        ("p", "back to your previous decision, to change it"),
        ("g", "guidelines"),
        ("?", "this list"),
    )
]

REASONS = [
    (reason, reason)
    for reason in (
        "I know the people or the subject too well",
        "I cannot understand the dialogue",
        "The content is distressing",
        "Something is broken",
    )
] + [("", "Another reason")]
"""Reasons to skip a task, with their wording on the page."""

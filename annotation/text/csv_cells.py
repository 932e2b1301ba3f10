"""Text in CSV cells: never evaluated by a spreadsheet, and back again without loss.

A spreadsheet reads a cell that begins with `=`, `+`, `-` or `@` (or a tab or line break before one) as a
formula. Such text gets one apostrophe in front; so does text that begins with an apostrophe, so that taking
one away gives every text back exactly. Numbers are never guarded.
"""

from __future__ import annotations

RISKY = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
"""What a guarded text begins with."""


def guarded(text: str) -> str:
    """Return the text as a cell that no spreadsheet evaluates."""
    return f"'{text}" if text.startswith(RISKY) else text


def unguarded(cell: str) -> str:
    """Return the text of a cell: `unguarded(guarded(text)) == text` for every text.

    An apostrophe that guards nothing, as in a file written by hand, is kept.
    """
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(RISKY) else cell

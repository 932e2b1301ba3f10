"""Text that LaTeX prints as it is."""

from __future__ import annotations

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the beginning of a row it would be an argument of the line break before
    "*": "{*}",
    "α": r"$\alpha$",
    "κ": r"$\kappa$",
    "ρ": r"$\rho$",
    "−": "$-$",
    "’": "'",
    "–": "--",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def escaped(text: str) -> str:
    """Return a text for a table's cell: nothing in it is a command, and it stays on one line.

    Letters of other scripts are kept; they need XeLaTeX or LuaLaTeX with a font that has them.
    """
    return "".join(SPECIAL.get(character, character) for character in " ".join(text.split()))

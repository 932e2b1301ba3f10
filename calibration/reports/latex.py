"""Text that LaTeX prints as it is, and tables that fit its line."""

from __future__ import annotations

from collections.abc import Sequence

NEEDS = r"% needs \usepackage{booktabs,graphicx}"

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
    "ε": r"$\varepsilon$",
    "κ": r"$\kappa$",
    "π": r"$\pi$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "ω": r"$\omega$",
    "†": r"$\dagger$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "’": "'",
    "–": "--",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def escaped(text: str) -> str:
    """Return a text for a table's cell: nothing in it is a command, and it stays on one line.

    Letters of other scripts are kept; they need XeLaTeX or LuaLaTeX with a font that has them.
    """
    return "".join(SPECIAL.get(character, character) for character in " ".join(text.split()))


def fitted(tabular: Sequence[str], note: str = "") -> list[str]:
    """Return a tabular in small type, made narrower where the line is too short for it, with a note below."""
    return [
        r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}",
        r"\noindent\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        *tabular[:-1],
        f"{tabular[-1]}}}",
        *([rf"\par\smallskip\noindent {note}"] if note else []),
        r"\par\medskip\endgroup",
    ]

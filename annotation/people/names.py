"""User names: allowed characters, and detection of names that look the same. Pure: no framework.

A name has two keys. `folded` is the same for names that differ in case alone, `look` for names whose
letters look alike as written; both resolve compatibility forms (NFKC) and the look-alike letters of
Unicode's table (UTS #39), from the package confusable-homoglyphs.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# E-mail addresses: validity, and the form used for comparison. Pure: no framework.

LONGEST_ADDRESS = 254
PATTERN = re.compile(
    r"[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@"
    r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])"
)
"""One plain address: no name before it, no quotes, no blanks, nothing that could begin another header."""


def normal_address(address: str) -> str:
    """Return an address in stored form: without blanks around it, in lower case."""
    return address.strip().lower()


def address_fault(address: str) -> str:
    """Explain in one line why nothing can be sent to an address (see `normal`), empty where it can."""
    if not address:
        return "Give an e-mail address."
    if len(address) > LONGEST_ADDRESS:
        return f"An e-mail address has at most {LONGEST_ADDRESS} characters."
    if not PATTERN.fullmatch(address) or ".." in address or address[0] == "." or ".@" in address:
        return f"“{shown_address(address)}” is no e-mail address."
    return ""


def shown_address(text: str) -> str:
    """Return a text for a message: short, and on one line."""
    return "".join(c if c.isprintable() else "�" for c in text)[:80]


LONGEST = 60
MARKS_IN_A_ROW = 2
PUNCTUATION = frozenset(" ._-+@'")
ALLOWED = "letters, digits and . _ - + @ ' (and single blanks inside)"


def normal(name: str) -> str:
    """Return a name in stored form: composed, compatibility forms replaced, no blanks around it."""
    return unicodedata.normalize("NFKC", name).strip()


def fault(name: str) -> str:
    """Explain in one line why a name (see `normal`) is not allowed, empty where it is."""
    if not name:
        return "Give a user name."
    if len(name) > LONGEST:
        return f"A user name has at most {LONGEST} characters."
    if not name[0].isalnum():
        return "A user name begins with a letter or a digit."
    if "  " in name:
        return "A user name has single blanks only."
    in_a_row = 0
    for character in name:
        category = unicodedata.category(character)
        in_a_row = in_a_row + 1 if category[0] == "M" else 0
        if in_a_row > MARKS_IN_A_ROW:
            return "A user name has at most two marks on a letter."
        if category[0] not in "LM" and category != "Nd" and character not in PUNCTUATION:
            return f"A user name has {ALLOWED}; {_describe_character(character)} is not allowed."
    return ""


def folded(name: str) -> str:
    """Return a key that is the same for names that differ in case or look-alike letters alone."""
    return _skeleton(normal(name).casefold())


def look(name: str) -> str:
    """Return a key that is the same for names that look the same as written (`Ian` and `lan`)."""
    return _skeleton(normal(name))


def _skeleton(text: str) -> str:
    parts = unicodedata.normalize("NFD", text)
    visible = (c for c in parts if unicodedata.category(c) not in ("Cf", "Cc", "Zs"))
    return unicodedata.normalize("NFD", "".join(_prototype(c) for c in visible))


@cache
def _prototype(character: str) -> str:
    """Return a character's prototype: the centre of its group in the table of look-alikes.

    In the table every look-alike is joined to one prototype, in both directions; the prototype is the member
    with the most neighbours, in a pair the longer one, then the lower one.
    """
    table = _look_alikes()
    group = [character, *(entry["c"] for entry in table.get(character, ()))]
    return min(group, key=lambda member: (-len(table.get(member, ())), -len(member), member))


@cache
def _look_alikes() -> dict[str, list[dict[str, str]]]:
    from confusable_homoglyphs import confusables  # half a megabyte, loaded at the first comparison

    table: dict[str, list[dict[str, str]]] = confusables.confusables_data
    return table


def _describe_character(character: str) -> str:
    code = f"U+{ord(character):04X}"
    return f"“{character}” ({code})" if character.isprintable() else code

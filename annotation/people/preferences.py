"""A person's annotation preferences, stored on their account."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import ComfortRefused
from annotation.models import Comfort

# Preferences stored on a person's account: their fields, validation, and changes.

COMMANDS = {
    "undo": ("u", "Undo the last change"),
    "back": ("p", "Back to the task submitted last"),
    "comment": ("c", "Comment on the task"),
    "flag": ("m", "Flag the task"),
    "note": ("C", "Comment on the turn in hand"),
    "flag_turn": ("M", "Flag the turn in hand"),
    "bookmark": ("B", "Bookmark the turn in hand"),
    "none": ("N", "Answer no to all that is left"),
    "skip": ("x", "Skip the task"),
    "guidelines": ("g", "Guidelines"),
    "marks": ("v", "Show or hide transcription marks"),
    "keys": ("?", "The list of keys"),
}
"""Commands of the annotation page: command to its default key and its action."""
FIELDS = ("auto_advance", "text_size", "more_contrast", "break_after", "keys")
SHORTEST_BREAK, LONGEST_BREAK = 5, 240


def comfort_of(person: User) -> Comfort:
    """Return a person's settings; unsaved defaults, where they never set any."""
    return Comfort.objects.filter(user=person).first() or Comfort(user=person)


def as_json(comfort: Comfort) -> dict[str, Any]:
    """Return settings for the page and for programs; `keys` has every command with its current key."""
    values = {name: getattr(comfort, name) for name in FIELDS}
    return values | {"keys": keys_of(comfort)}


def for_page(comfort: Comfort) -> dict[str, Any]:
    """Return settings for the annotation page, which also gets the `usual` key of each command.

    `account` separates the people who share a device in the device's local storage.
    """
    usual = {command: key for command, (key, _) in COMMANDS.items()}
    return as_json(comfort) | {"usual": usual, "account": comfort.user_id}


def keys_of(comfort: Comfort) -> dict[str, str]:
    """Return the key of every command."""
    return {command: comfort.keys.get(command, usual) for command, (usual, _) in COMMANDS.items()}


@transaction.atomic
def change(*, by: User, **changes: Any) -> Comfort:
    """Change one's own settings (FIELDS) and return them; settings not named stay.

    `keys` maps commands to keys; a command that it leaves out keeps its key. Raises ComfortRefused, with the
    invalid setting in `field`.
    """
    User.objects.select_for_update(no_key=True).get(pk=by.pk)
    comfort = comfort_of(by)
    if unknown := changes.keys() - set(FIELDS):
        raise TypeError(f"there is no setting {min(unknown)}")
    if "keys" in changes:
        changes["keys"] = _checked_keys({**keys_of(comfort), **changes["keys"]})
    for name, value in changes.items():
        setattr(comfort, name, value)
    if comfort.text_size not in Comfort.Size.values:
        raise ComfortRefused(f"The text is one of {', '.join(Comfort.Size.values)}.", "text_size")
    minutes = comfort.break_after
    if minutes is not None and not SHORTEST_BREAK <= minutes <= LONGEST_BREAK:
        why = f"A break is proposed after {SHORTEST_BREAK} to {LONGEST_BREAK} minutes, or not at all."
        raise ComfortRefused(why, "break_after")
    comfort.save()
    return comfort


def _checked_keys(keys: dict[str, Any]) -> dict[str, str]:
    """Return the keys that differ from the defaults; refuse an invalid key, or one of two commands."""
    command_by_key: dict[str, str] = {}
    for command, key in keys.items():
        if command not in COMMANDS:
            raise ComfortRefused(f"There is no command “{str(command)[:40]}”.", "keys")
        does = COMMANDS[command][1]
        if not isinstance(key, str) or len(key) != 1 or not "!" <= key <= "~":
            raise ComfortRefused(f"{does}: choose one key, a letter or a sign.", f"key_{command}")
        if key.isdigit() or key in ",.-":
            raise ComfortRefused(
                f"{does}: digits, comma, full stop and minus answer questions.", f"key_{command}"
            )
        if other := command_by_key.get(key):
            raise ComfortRefused(
                f"{key} is the key of “{COMMANDS[other][1]}” already: choose another one.", f"key_{command}"
            )
        command_by_key[key] = command
    return {command: key for key, command in command_by_key.items() if key != COMMANDS[command][0]}

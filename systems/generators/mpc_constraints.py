"""What a conversation that is written has to keep to, in words: constraints are asked for, and checked
afterwards. A reply that breaks one is a result, not an error."""

from __future__ import annotations

from annotation.records import Dialogue
from systems.generators.base import Setting, Settings, WrongSettings
from systems.generators.named_cast import stance_of

TURNS, LEAST, MOST = "turns", "min_turns", "max_turns"
EACH, IN_A_ROW, ADDRESSEES, STANCES = "min_each", "max_in_a_row", "addressees", "stance"
LONGEST = 1_000
SETTINGS = (
    Setting(TURNS, 20, "How many turns are wanted.", low=1, high=LONGEST, varies=True),
    Setting(LEAST, 0, "The least number of turns; 0 is no limit.", low=0, high=LONGEST, varies=True),
    Setting(MOST, 0, "The greatest number of turns; 0 is no limit.", low=0, high=LONGEST, varies=True),
    Setting(EACH, 0, "How often every listed speaker speaks at least.", low=0, high=LONGEST, varies=True),
    Setting(
        IN_A_ROW,
        0,
        "How many turns in a row one speaker has at most; 0 is no limit.",
        low=0,
        high=LONGEST,
        varies=True,
    ),
    Setting(ADDRESSEES, False, "Every turn names whom it is addressed to.", varies=True),
    Setting(STANCES, False, "Everybody keeps to the stance that is declared.", varies=True),
)


def checked(settings: Settings) -> None:
    """Raise WrongSettings for numbers of turns that contradict one another."""
    wanted, least, most = (int(settings[name]) for name in (TURNS, LEAST, MOST))
    if most and least > most:
        raise WrongSettings(f"{LEAST} is {least} and {MOST} is {most}: the least is more than the greatest.")
    if wanted < least or (most and wanted > most):
        bounds = f"at least {least}" if wanted < least else f"at most {most}"
        raise WrongSettings(f"{TURNS} is {wanted}, but {bounds} are asked for: change one of the two.")


def why_not(dialogue: Dialogue, speakers: int, settings: Settings) -> str:
    """Return why the constraints cannot be kept by so many speakers of a dialogue, '' where they can."""
    each, longest = int(settings[EACH]), int(settings[MOST]) or int(settings[TURNS])
    if each * speakers > longest:
        return f"{speakers} speakers with at least {each} turns each do not fit into {longest} turns"
    if settings[STANCES] and not any(map(stance_of, dialogue.participants)):
        return "none of its participants has a stance (extra.stance)"
    return ""


def worded(settings: Settings) -> str:
    """Return the constraints as a list: one line each."""
    each, in_a_row = int(settings[EACH]), int(settings[IN_A_ROW])
    lines = [
        "Only the people listed under CAST speak, each under the name that stands there.",
        _length(settings),
    ]
    if each:
        lines.append(f"Everybody listed under CAST speaks at least {_times(each)}.")
    if in_a_row:
        lines.append(f"Nobody has more than {_turns(in_a_row)} in a row.")
    if settings[ADDRESSEES]:
        lines.append("Every turn names whom it is addressed to: one of the people listed under CAST, or all.")
    if settings[STANCES]:
        lines.append("Everybody whose stance is stated under CAST holds it from the first turn to the last.")
    return "\n".join(f"- {line}" for line in lines)


def _length(settings: Settings) -> str:
    wanted, least, most = (int(settings[name]) for name in (TURNS, LEAST, MOST))
    if not least and not most:
        return f"The new part has exactly {_turns(wanted)}."
    limits = [f"at least {least}"] * bool(least) + [f"at most {most}"] * bool(most)
    return f"The new part has about {_turns(wanted)}: {' and '.join(limits)}."


def _turns(number: int) -> str:
    return "1 turn" if number == 1 else f"{number} turns"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"

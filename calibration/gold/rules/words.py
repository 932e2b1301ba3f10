"""The rules in words: for the form, the command's help and the documentation, all from the one table."""

from __future__ import annotations

from calibration.gold.rules import RULES, Option, Rule, rules_with


def limits(option: Option) -> str:
    """Return what an option may be: its values, or between which numbers it lies."""
    if not option.is_number:
        return ", ".join(f"`{value}`" for value in option.choices)
    return f"{option.low:.10g} to {option.high:.10g}"


def label(name: str) -> str:
    """Return how a form calls an option: by its name, and the rules that have it."""
    titles = [rule.title for rule in rules_with(name)]
    others = [rule.title for rule in RULES.values() if rule.title not in titles]
    if len(others) == 1:
        return f"{name.capitalize()}, for all but {others[0]}"
    whose = titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"
    return f"{name.capitalize()}, for {whose}"


def help_line(name: str, option: Option) -> str:
    """Return what an option means, what it may be and its default, as the command says it."""
    rules = ", ".join(rule.key for rule in rules_with(name))
    if option.is_number:
        what = f"{option.help} From {limits(option)}"
    else:
        meant = "; ".join(f"{value}: {meaning}" for value, meaning in option.choices.items())
        what = f"{option.help} {meant}"
    return f"for {rules}: {what} ({option.default})"


def table() -> str:
    """Return the rules as the table of docs/gold.md."""
    head = "| rule | chooses | for | raters | options | support |\n|---|---|---|---|---|---|\n"
    return head + "".join(f"{_row(rule)}\n" for rule in RULES.values())


def _row(rule: Rule) -> str:
    options = "; ".join(
        f"`{name}` ({option.default}): {limits(option)}" for name, option in rule.options.items()
    )
    needs = f"{rule.needs}, and a split" if rule.learns_on_dev is True else rule.needs
    cells = (f"`{rule.key}`", rule.explanation, needs, rule.raters_needed, options, rule.support)
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")

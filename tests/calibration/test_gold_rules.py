"""Every gold rule in the table: valid declaration, documentation, robustness to bad input."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibration.errors import GoldRuleError
from calibration.gold.rules import RULES, Answers, Option, Rule, known_options, table
from calibration.management.commands.export_gold import Command
from calibration.statistics import Ratings
from calibration.statistics.gold import dawid_skene, mace

ROOT = Path(__file__).resolve().parents[2]
NAN = np.nan
SCALES = {"binary": (0, 1), "nominal": (0, 1, 2), "ordinal": (1, 2, 3, 4, 5), "interval": None, "ratio": None}
EACH = pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.key)
LEVELS = pytest.mark.parametrize("level", SCALES)


def _drawn(level: str, items: int, raters: int, share: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(4)
    scale = SCALES[level] or (1, 2.5, 4)
    block = rng.choice(np.array(scale, dtype=float), (items, raters))
    block[rng.random(block.shape) >= share] = NAN
    return block


def _ties(level: str) -> np.ndarray:
    low, high = ((SCALES[level] or (1, 4))[0], (SCALES[level] or (1, 4))[-1])
    return np.array([[low, high], [high, low]] * 10, dtype=float)[:, [0, 1, 0, 1]]


HOSTILE = {
    "one rater": lambda level: _drawn(level, 12, 1),
    "nobody": lambda level: np.empty((5, 0)),
    "no item": lambda level: np.empty((0, 4)),
    "all missing": lambda level: np.full((6, 4), NAN),
    "constant raters": lambda level: np.full((20, 4), 1.0),
    "one constant rater": lambda level: np.column_stack([_drawn(level, 30, 3), np.ones(30)]),
    "ties": _ties,
    "sixty sparse raters": lambda level: _drawn(level, 80, 60, 0.04),
    "raters who never meet": lambda level: np.where(np.eye(6) > 0, 1.0, NAN),
    "unidentified slots": lambda level: _drawn(level, 20, 5),
    "one item": lambda level: _drawn(level, 1, 5),
}


def _answers(block: np.ndarray, level: str, *, identified: bool = True) -> Answers:
    """Return answers with a dev half; the first two raters also decided on a few items."""
    n, k = block.shape
    scale = SCALES[level]
    ratings = Ratings.from_matrix(block, level=level, scale=scale, identified=[identified] * k)
    decisions = np.full((n, 2), NAN)
    decisions[: min(n, 3), 0] = 1.0
    decided = Ratings.from_matrix(decisions, level=level, scale=scale, raters=["zoe", "yan"])
    decided = replace(decided, items=ratings.items, scale=ratings.scale)
    empty = frozenset(ratings.items[-1:])
    return Answers(ratings, dev=np.arange(n) < (n + 1) // 2, decisions=decided, empty=empty)


def _every_choice(rule: Rule) -> list[dict[str, object]]:
    """Return the options of a rule with each of its words once, and each number's ends."""
    found: list[dict[str, object]] = [rule.checked({})]
    for name, option in rule.options.items():
        values = list(option.choices) or [option.low, option.high]
        found += [rule.checked({name: value}) for value in values]
    return found


@pytest.fixture
def _few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let estimation stop early: what is asked is whether it stands bad input."""
    for function, few in ((mace, {"restarts": 1, "rounds": 3}), (dawid_skene, {"iterations": 8})):
        for name, value in few.items():
            monkeypatch.setitem(function.__kwdefaults__, name, value)


@EACH
def test_a_rule_is_declared_soundly(rule: Rule) -> None:
    assert rule.levels
    assert rule.title
    assert rule.needs
    assert not rule.explanation.endswith(".")
    assert not rule.support.endswith(".")
    for name, option in rule.options.items():
        assert name.isidentifier()
        assert name not in ("raters", "left_out", "why_left_out", "split", "adjudicators", "rule", "scheme")
        assert option.help.endswith(".")
        assert option.read(name, option.default) == option.default
        if option.is_number:
            assert option.low is not None
            assert option.high is not None
            assert option.read(name, str(option.default)) == option.default


def test_one_name_is_one_option_of_the_command_and_no_other_argument() -> None:
    for name, option in known_options().items():
        assert all(rule.options[name] == option for rule in RULES.values() if name in rule.options)
    parser = Command().create_parser("manage.py", "export_gold")
    assert {f"--{name}" for name in known_options()} <= parser._option_string_actions.keys()


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        (Option(0.2, "A share.", low=0, high=0.5), value)
        for value in ("", "x", "nan", "inf", -0.1, 0.6, True, None, [0.1], "1e999")
    ]
    + [(Option(3, "A count.", low=1, high=9), value) for value in (2.5, "2.5", 0, 10, "٣٣٣", 10**400)]
    + [(Option("a", "A word.", {"a": "this", "b": "that"}), value) for value in ("c", "", 1, None, ["a"])],
)
def test_an_option_refuses_what_it_cannot_be(option: Option, wrong: object) -> None:
    with pytest.raises(GoldRuleError, match="size"):
        option.read("size", wrong)


@pytest.mark.exhaustive
@EACH
@LEVELS
@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.usefixtures("_few_rounds")
def test_a_rule_chooses_or_says_why_not(rule: Rule, level: str, case: str) -> None:
    answers = _answers(HOSTILE[case](level), level, identified=case != "unidentified slots")
    n = answers.ratings.n_items
    for options in _every_choice(rule):
        reason = rule.unfit(answers, options)
        if reason:
            assert not reason.endswith(".")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            chosen = rule.choose(answers, options)
        assert chosen.items == answers.ratings.items
        assert {len(chosen.values), len(chosen.confidence), len(chosen.n_ratings), len(chosen.tied)} == {n}
        assert not np.isinf(chosen.values).any()
        sure = chosen.confidence[~np.isnan(chosen.confidence)]
        assert ((sure >= 0) & (sure <= 1 + 1e-9)).all()
        for row in np.flatnonzero(np.isnan(chosen.values)):
            assert chosen.reasons.get(int(row)) or chosen.tied[row] or not chosen.n_ratings[row]
        for row in np.flatnonzero(~np.isnan(chosen.values)):
            assert int(row) not in chosen.reasons
            assert chosen.n_ratings[row] > 0


@pytest.mark.exhaustive
@EACH
@LEVELS
def test_a_rule_says_of_each_level_whether_it_takes_it(rule: Rule, level: str) -> None:
    answers = _answers(_drawn(level, 60, 5), level)
    reason = rule.unfit(answers, rule.checked({}))
    if level in rule.levels and rule.key not in ("weighted",):
        assert reason == ""
    elif level not in rule.levels:
        assert reason == f"{rule.title} needs {rule.needs}, and this one is {level}"


@EACH
def test_a_rule_takes_unidentified_raters_unless_it_tells_raters_apart(rule: Rule) -> None:
    level = next(level for level in ("ordinal", "nominal", "binary") if level in rule.levels)
    reason = rule.unfit(_answers(_drawn(level, 60, 5), level, identified=False), rule.checked({}))
    assert bool(reason) is rule.tells_raters_apart
    assert "it is not known who" in reason or not reason


@EACH
@pytest.mark.usefixtures("_few_rounds")
def test_a_rule_does_not_hang_on_the_order_of_raters(rule: Rule) -> None:
    level = next(level for level in ("ordinal", "nominal", "binary") if level in rule.levels)
    lowest, highest = (0, 1) if level == "binary" else (1, 5)
    noise = np.random.default_rng(1).normal(0, 0.6, (60, 5))
    block = np.clip(np.round(_drawn(level, 60, 1) + noise), lowest, highest)
    answers = _answers(block, level)
    turned = replace(answers, ratings=answers.ratings.take([3, 1, 4, 0, 2]))
    options = rule.checked({})
    assert rule.unfit(answers, options) == ""
    one, other = rule.choose(answers, options), rule.choose(turned, options)
    np.testing.assert_allclose(one.values, other.values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(one.confidence, other.confidence, rtol=0, atol=1e-9)


def test_a_rule_that_learns_on_dev_needs_a_split_and_something_to_learn_from() -> None:
    rule = RULES["weighted"]
    answers = _answers(_drawn("ordinal", 60, 5), "ordinal")
    options = rule.checked({})
    assert "the corpus has no split" in rule.unfit(replace(answers, dev=None), options)
    nothing = replace(answers, dev=np.zeros(60, dtype=bool))
    assert "nothing to learn weights from" in rule.unfit(nothing, options)
    against = np.column_stack([[1, 5] * 30, [5, 1] * 30, [1, 5] * 15 + [5, 1] * 15]).astype(float)
    assert "no rater agrees" in rule.unfit(_answers(against, "ordinal"), options)


def test_a_toy_rule_in_the_table_may_follow_adjudication_too() -> None:
    from calibration.gold.rules import FROM_RATINGS, adjudicated_rule

    toy = replace(RULES["median"], key="toy", title="Toy")
    rule = adjudicated_rule((*FROM_RATINGS, toy))
    answers = _answers(_drawn("ordinal", 10, 3), "ordinal")
    chosen = rule.choose(answers, rule.checked({"fallback": "toy"}))
    assert set(chosen.sources) == {"adjudication", "toy"}


def test_the_documentation_has_the_rules_and_options_as_they_are_declared() -> None:
    page = (ROOT / "docs" / "gold.md").read_text(encoding="utf-8")
    assert table() in page
    options = {name: option for rule in RULES.values() for name, option in rule.options.items()}
    rows = "".join(f"| `{name}` | {option.help} |\n" for name, option in options.items())
    assert "| option | what it says |\n|---|---|\n" + rows in page
    assert [key for key in RULES if f"## `{key}`" not in page and f"`{key}`" not in page] == []


def test_the_command_explains_every_rule_and_option() -> None:
    told = " ".join(Command().create_parser("manage.py", "export_gold").format_help().split())
    assert [rule.key for rule in RULES.values() if f"{rule.key}: {rule.explanation}" not in told] == []
    assert [name for name, option in known_options().items() if option.help not in told] == []

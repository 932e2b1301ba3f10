"""A question in a speaker's own words keeps names, dates and numbers, reveals no option, and asks."""

from __future__ import annotations

import pytest

from annotation.script_records import Date
from suites.long_dialogue.scripts.quiz import occurs, style_faults, with_date

ASKED = "Who was Ana's boss on May 3rd, 1995?"
CHOICES = ("Ben", "Cara", "Lincoln High", "3 cats")


@pytest.mark.parametrize(
    ("styled", "faults"),
    [
        ("By the way, who did Ana have for a boss on May 3rd, 1995, huh?", ()),
        ("Hey, back on May 3, 1995, who was bossing ANA around?", ()),
        ("Who was her boss on May 3rd, 1995?", ("lacks the name 'Ana'",)),
        ("Who was Anabel's boss on May 3rd, 1995?", ("lacks the name 'Ana'",)),
        ("Who was Ana's boss on June 3rd, 1995?", ("lacks the name 'May'",)),
        ("Who was Ana's boss on May 3rd?", ("lacks the number 1995",)),
        ("Was Cara Ana's boss on May 3rd, 1995?", ("gives the choice 'Cara' away",)),
        ("Tell me who Ana's boss was on May 3rd, 1995.", ("has no question mark",)),
        ("Benjamin asks: who was Ana's boss on May 3rd, 1995?", ()),
    ],
)
def test_what_is_lost_or_given_away_is_told(styled: str, faults: tuple[str, ...]) -> None:
    assert style_faults(ASKED, styled, CHOICES) == faults


def test_a_number_may_be_spelt_and_a_known_name_stands_anywhere() -> None:
    assert style_faults("Did Al buy three boats?", "So Al bought 3 boats?", ()) == ()
    assert style_faults("Did Al buy 3 boats?", "So Al bought four boats?", ()) == ("lacks the number 3",)
    assert style_faults("Who met Kit?", "Who met whom?", (), ["Kit", "Lea"]) == ("lacks the name 'Kit'",)
    assert style_faults("Kit met whom?", "Whom did he meet?", (), ["Kit", "Lea"]) == ("lacks the name 'Kit'",)


def test_a_choice_that_the_original_names_may_stay() -> None:
    assert style_faults("Did Ana or Ben go?", "Well, Ana or Ben?", ("Ana", "Ben")) == ()


def test_texts_occur_as_whole_words() -> None:
    assert occurs("new  boots", "The NEW boots!")
    assert not occurs("Ann", "Annabel and Joann")
    assert occurs("Ann", "Joann and Ann's")
    assert not occurs("3", "May 3rd")
    assert occurs("东京", "他在东京工作")
    assert not occurs("", "anything")


def test_a_date_stands_before_the_final_mark() -> None:
    date = Date(1994, 9, 22)
    assert with_date("How did she pay?", date) == "How did she pay on September 22nd, 1994?"
    assert with_date("How did she pay", Date(1994)) == "How did she pay in 1994?"

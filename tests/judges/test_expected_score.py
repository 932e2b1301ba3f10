"""The expected value of a score under the probabilities of a reply's tokens."""

from __future__ import annotations

import math

import pytest

from jobs.prompt import Token
from judges.protocols.replies import Unclear, expected

FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
TEN = tuple(float(value) for value in range(1, 11))


def token(text: str, **top: float) -> Token:
    """A token among the likeliest in its place, by their probabilities; `_` stands for a space."""
    pairs = {name.replace("_", " ").replace("n", ""): math.log(chance) for name, chance in top.items()}
    return Token(text, pairs.get(text, math.log(0.5)), tuple(pairs.items()))


def test_it_is_the_mean_of_the_values_by_their_probabilities() -> None:
    found = expected((token("4", n4=0.5, n3=0.3, n5=0.2),), FIVE)
    assert found.value == pytest.approx(0.5 * 4 + 0.3 * 3 + 0.2 * 5)
    assert found.outside == pytest.approx(0.0)
    assert math.fsum(found.shares.values()) == pytest.approx(1.0)


def test_what_lies_on_no_value_is_left_out_and_said() -> None:
    found = expected((token("4", n4=0.6, n2=0.2, The=0.15),), FIVE)
    assert found.value == pytest.approx((0.6 * 4 + 0.2 * 2) / 0.8)
    assert found.outside == pytest.approx(0.2), "the unlisted rest counts as well"


def test_a_space_before_a_value_and_empty_tokens_before_it_change_nothing() -> None:
    plain = expected((token("4", n4=0.5, n3=0.5),), FIVE)
    spaced = expected((token("\n", n9=1.0), token("4", n4=0.2, _4=0.3, n3=0.5)), FIVE)
    assert spaced.value == pytest.approx(plain.value) == 3.5


def test_ten_as_one_token_is_no_one() -> None:
    found = expected((token("10", n10=0.6, n1=0.1, n9=0.3),), TEN)
    assert found.value == pytest.approx(0.6 * 10 + 0.1 * 1 + 0.3 * 9)


def test_one_and_ten_that_begin_alike_are_told_apart_by_what_follows() -> None:
    found = expected((token("1", n1=0.8, n9=0.2), token("0", n0=0.75, x=0.25)), TEN)
    assert found.shares[10.0] == pytest.approx(0.6)
    assert found.shares[1.0] == pytest.approx(0.2)


def test_where_one_and_ten_cannot_be_told_apart_there_is_no_expected_value() -> None:
    with pytest.raises(Unclear, match="a token '1' may begin 1 or 10"):
        expected((token("9", n9=0.6, n1=0.4),), TEN)
    little = expected((token("9", n9=0.97, n1=0.03),), TEN)
    assert (little.value, little.outside) == (9.0, pytest.approx(0.03))


def test_a_longer_value_that_alone_begins_so_is_meant() -> None:
    assert expected((token("1", n1=0.5, n5=0.5),), (5.0, 15.0)).value == pytest.approx(10.0)


def test_without_a_value_among_the_tokens_there_is_no_expected_value() -> None:
    with pytest.raises(Unclear, match="no value of the scale"):
        expected((token("good", good=0.9),), FIVE)
    with pytest.raises(Unclear, match="no probabilities"):
        expected((), FIVE)


def test_ten_and_a_hundred_spelled_in_digits_are_told_apart_by_all_that_follows() -> None:
    tokens = (token("1", n1=0.8, n5=0.2), token("0", n0=0.75, x=0.25), token("0", n0=0.9, x=0.1))
    found = expected(tokens, (1.0, 5.0, 10.0, 100.0))
    assert found.shares == pytest.approx({1.0: 0.2, 5.0: 0.2, 10.0: 0.06, 100.0: 0.54})
    assert found.outside == pytest.approx(0.0)


def test_a_digit_that_makes_another_number_counts_for_no_value() -> None:
    found = expected((token("1", n1=1.0), token("0", n0=0.5, n2=0.3, x=0.2)), TEN)
    assert found.outside == pytest.approx(0.3)
    assert found.shares[10.0] == pytest.approx(0.5 / 0.7)


def test_digits_are_read_whatever_their_width() -> None:
    wide = Token("４", math.log(0.6), (("４", math.log(0.6)), ("4", math.log(0.2)), ("3 ", math.log(0.2))))
    assert expected((wide,), FIVE).value == pytest.approx(3.8)


def test_two_tokens_of_one_text_count_both_and_the_same_told_twice_once() -> None:
    twice = Token("4", math.log(0.5), (("4", math.log(0.5)), ("4", math.log(0.2)), ("3", math.log(0.3))))
    assert expected((twice,), FIVE).value == pytest.approx(3.7)
    again = Token("4", math.log(0.5), (("4", math.log(0.5)), ("4", math.log(0.5)), ("3", math.log(0.5))))
    assert expected((again,), FIVE).value == pytest.approx(3.5)


def test_probabilities_of_more_than_one_in_all_are_none() -> None:
    with pytest.raises(Unclear, match=r"add up to 1\.80"):
        expected((token("4", n4=0.9, n5=0.9),), FIVE)

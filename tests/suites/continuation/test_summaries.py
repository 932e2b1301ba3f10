"""The summary before a cut: one paragraph on the turns before it, and on nothing else."""

from __future__ import annotations

import json

import pytest

from annotation.records import Dialogue, Turn
from demo.fake_model.requests import request
from demo.fake_model.roles import recognise
from tests.demo.asking import asked
from tests.suites.continuation.talk import conversation, fake, produced, refused

KEY = "cocoeval_summary"


def test_it_is_of_the_turns_up_to_the_cut() -> None:
    talk = Dialogue(
        "d", tuple(Turn("A", text) for text in ("One {point it rains}", " ", "two", "{point no}"))
    )
    done, (prompt,) = produced(KEY, talk, fake(), {"until": 2})
    assert done.text == "In 2 turns they came to this: it rains."
    shown = request(asked(prompt))
    assert shown.block("CONVERSATION") == ("A: One {point it rains}", "A: two")
    assert [role.key for role in recognise(shown)] == ["summariser"]
    everything, _ = produced(KEY, talk, fake())
    assert everything.text == "In 3 turns they came to this: it rains; no."


def test_where_nothing_is_to_be_summed_up_nothing_is_asked() -> None:
    done, sent = produced(KEY, conversation(), fake(), {"until": -1})
    assert (done.text, done.flags, sent) == ("", ("no_summary",), [])


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"summary": " \n"}, "the summary is empty"),
        ({"summary": "One.\n\nTwo."}, "the summary is not one paragraph"),
        ({"summary": "a" * 10_001}, "the summary has 10,001 characters, not at most 10,000"),
        ({"summary": ["a"]}, "one field summary with a text is needed"),
        ({"summary": "a", "note": "b"}, "one field summary with a text is needed"),
        ("In short, yes.", "the JSON is not an object"),
    ],
)
def test_a_reply_in_another_form_is_refused(reply: object, why: str) -> None:
    assert refused(KEY, conversation(), json.dumps(reply)) == why


def test_two_paragraphs_are_caught() -> None:
    with pytest.raises(ValueError, match="not one paragraph"):
        produced(KEY, conversation(turns=4), fake("summariser", paragraphs=1.0))

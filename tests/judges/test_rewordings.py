"""Rewordings change the wording of a text by rule, but not its questions."""

from __future__ import annotations

from collections import Counter
from string import Template

import pytest

from calibration.workbench.checks import FORM, reordered, rewordings
from judges.prompts import versions
from judges.prompts.versions import Version
from judges.protocols import PROTOCOLS, Asking, Wording

EVERY = list(versions.built_in())


@pytest.mark.parametrize("version", EVERY, ids=lambda version: version.ref)
def test_every_text_of_concord_has_three_rewordings_that_are_prompts_themselves(version: Version) -> None:
    protocol = PROTOCOLS[version.protocol]
    assert isinstance(protocol, Asking)
    known = protocol.known_variables(version.variant)
    found = rewordings(version.wording)
    assert len({one.wording.digest() for one in found} | {version.wording.digest()}) == 4
    for one in found:
        assert one.wording.problems(known) == []
        assert Counter(Template(one.wording.user).get_identifiers()) == Counter(
            Template(version.wording.user).get_identifiers()
        )
        assert one.lines
        assert [one.wording for one in rewordings(version.wording)] == [other.wording for other in found]


@pytest.mark.parametrize("version", EVERY, ids=lambda version: version.ref)
def test_lines_that_show_the_form_of_the_reply_stay_as_they_are_and_where_they_are(version: Version) -> None:
    def shown(text: str) -> list[str]:
        return [line for line in text.split("\n") if FORM.search(line)]

    for one in rewordings(version.wording):
        assert shown(one.wording.user) == shown(version.wording.user)


def test_what_changed_is_told_line_by_line() -> None:
    wording = Wording("$notice", "Rate it:\n- one\n- two\n\nAnswer with a number:\nscore - x")
    by_key = {one.key: one for one in rewordings(wording)}
    assert by_key["order"].wording.user.startswith("Rate it:\n- two\n- one\n")
    assert by_key["words"].lines == (("Answer with a number:", "Reply with a number:"),)
    assert "  * one\n  * two\n\n\nAnswer" in by_key["layout"].wording.user


def test_a_list_whose_items_go_on_over_several_lines_keeps_its_order() -> None:
    text = "Rate $response:\n- one\n- two,\n  which goes on\n- three\n- four"
    by_key = {one.key: one for one in rewordings(Wording("$notice", text))}
    assert by_key["order"].wording.user == text.replace("- three\n- four", "- four\n- three")


def test_a_bare_text_has_fewer() -> None:
    assert [one.key for one in rewordings(Wording("", "$response"))] == ["frame"]


def test_examples_are_turned_round_and_shuffled_and_stay_the_same_examples() -> None:
    examples = tuple({"material": f"m{n}", "reply": str(n)} for n in range(5))
    found = reordered(Wording("$notice", "$response", examples=examples))
    assert [one.key for one in found] == ["reversed", "shuffled"]
    assert found[0].wording.examples == examples[::-1]
    for one in found:
        assert sorted(example["reply"] for example in one.wording.examples) == list("01234")
    assert reordered(Wording("$notice", "$response", examples=examples[:1])) == []
    assert len(reordered(Wording("$notice", "$response", examples=examples[:2]))) == 1

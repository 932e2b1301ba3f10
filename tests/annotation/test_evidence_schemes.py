"""Schemes with questions about evidence: as files, in the editor, and their validation."""

import pytest
from django.http import QueryDict

from annotation.errors import SchemeRefused
from annotation.pages.scheme_draft import draft_of, mapping_of
from annotation.pages.scheme_editor import posted
from annotation.schemes import SCHEMES, files
from annotation.schemes.definitions import takes_evidence
from annotation.schemes.files import difference
from tests.annotation.test_evidence import SCHEME


def test_a_file_is_written_and_read_as_the_same_scheme_and_its_form_says_the_same():
    definition = files.read(SCHEME)
    assert files.read(files.write(definition)) == definition
    assert files.definition_from(mapping_of(draft_of(definition))).questions[1] == definition.questions[1]


def test_answers_that_may_point_are_the_positive_one_or_those_listed():
    tag, scale, plain = files.read(SCHEME).questions
    assert takes_evidence(tag, 1)
    assert not takes_evidence(tag, 0)
    assert takes_evidence(scale, 1.0)
    assert not takes_evidence(scale, 2)
    assert not takes_evidence(plain, 1)
    assert not takes_evidence(scale, None)


def test_schemes_that_ask_for_none_keep_their_hash_and_none_is_said_of_it():
    text = SCHEME.replace(", evidence_required: true", "").replace("evidence: turns", "evidence: none")
    for definition in (*SCHEMES.values(), files.read(text)):
        for question in definition.questions[:1]:
            assert question.evidence == ""
    assert "evidence" not in files.write(next(iter(SCHEMES.values())))


def test_a_difference_says_what_is_asked_for_now():
    before, after = files.read(SCHEME.replace("evidence: turns", "evidence: spans")), files.read(SCHEME)
    assert [str(one) for one in difference(before, after)] == [
        "Question contradicts, evidence: “spans” → “turns”"
    ]


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("evidence: turns", "evidence: words", "There is no evidence “words”: write turns, spans or none."),
        (
            "evidence: turns, evidence_required: true",
            "evidence_required: true",
            "Say what the answers point at: evidence: turns, or spans.",
        ),
        (
            "evidence_for: [1]",
            "evidence_for: [7]",
            "“7” is not an answer to this question: it takes 1, 2, 3.",
        ),
        ("evidence_for: [1]", "evidence_for: [1, 1]", "“1” is there twice."),
        ("evidence_required: true", "evidence_for: [0]", "A tag that is not set has nothing to point at"),
        (
            "group: Faults",
            "group: Faults, shortcut: e",
            "e points at turns where a question asks for evidence",
        ),
    ],
)
def test_what_cannot_be_asked_is_told_with_its_field(was, now, told):
    assert was in SCHEME
    with pytest.raises(SchemeRefused, match=told.replace("[", r"\[")) as refused:
        files.read(SCHEME.replace(was, now))
    assert len(refused.value.problems) == 1


def test_the_editors_form_says_which_answers_point():
    form = QueryDict(mutable=True)
    form.update(
        {"title": "T", "item_kind": "turn", "unit": "item", "q1-kind": "ordinal", "q1-was": "ordinal"}
    )
    form.update(
        {"question": "q1", "q1-wording": "How clear?", "q1-evidence": "spans", "q1-evidence-required": "on"}
    )
    form.setlist("q1-value", ["1", "2", "3"])
    form.setlist("q1-anchor", ["", "", ""])
    form.setlist("q1-evidence-for", ["1", "9"])
    question = files.definition_from(mapping_of(posted(form))).questions[0]
    assert (question.evidence, question.evidence_for, question.evidence_required) == ("spans", (1,), True)

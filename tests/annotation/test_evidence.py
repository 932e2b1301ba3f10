"""Evidence of answers: turns and spans of text, from the request to the label and back."""

import json

import pytest
from django.db import IntegrityError, transaction

from annotation import scheme_actions
from annotation.corpora.deletion import purge
from annotation.errors import AnswerRefused, DraftConflict, SubmittedDifferently
from annotation.models import Assignment, Corpus, Item, Label
from annotation.records import Passage
from annotation.schemes import files
from annotation.text import references
from annotation.text.views import View, blind, spoken
from annotation.work import submissions
from annotation.work import task_actions as labelling
from annotation.work.task_answers import hold_of
from tests import factories

SCHEME = """
scheme: pointing
title: What does it contradict?
item_kind: turn
questions:
- {key: contradicts, wording: It contradicts something, level: binary, group: Faults,
   evidence: turns, evidence_required: true}
- {key: clear, wording: How clear is it?, level: ordinal, values: [1, 2, 3], required: false,
   evidence: spans, evidence_for: [1]}
- {key: fluent, wording: How fluent is it?, level: ordinal, values: [1, 2], required: false}
"""
FAMILY = "👩‍👩‍👧 née 会議 שלום"


@pytest.fixture
def ana():
    return factories.user("ana")


@pytest.fixture
def work(db, ana):
    """Ana's task: the second turn of what `GPT-Zork` said after a history of two turns."""
    scheme_actions.create(by=None, definition=files.read(SCHEME))
    corpus = factories.corpus("talk")
    dialogue = factories.dialogue(corpus, "d", turns=2)
    turns = [{"text": "I, GPT-Zork, like tea."}, {"text": FAMILY}, {"text": "later"}]
    factories.continuation(dialogue, "zork-1", system="GPT-Zork", turns=turns)
    campaign = factories.campaign(corpus, "pointing", annotators=[ana])
    second = Item.objects.get(turn__position=1, continuation__key="zork-1")
    while (hold := labelling.start(by=ana, campaign=campaign.pk)[1]) is not None:
        if Assignment.objects.get(pk=hold.assignment).task.item_id == second.pk:
            break
        labelling.skip(by=ana, campaign=campaign.pk, assignment=hold.assignment, reason="x")
    assert hold is not None
    return Work(ana, campaign.pk, hold.assignment, factories.item_name(second, hold.assignment))


class Work:
    def __init__(self, user, campaign, assignment, item):
        self.user, self.campaign, self.assignment, self.item = user, campaign, assignment, item

    def submit(self, answers, evidence=None, **more):
        given = {self.item: evidence} if evidence is not None else None
        return labelling.submit(
            by=self.user,
            campaign=self.campaign,
            assignment=self.assignment,
            answers={self.item: answers},
            evidence=given,
            **more,
        )

    def kept(self):
        live = Label.objects.filter(assignment=self.assignment, superseded_at=None, evidence__isnull=False)
        return {label.question.key: references.read(label.evidence) for label in live}


def test_evidence_is_kept_by_places_in_what_is_stored_and_comes_back_by_what_is_shown(work):
    evidence = {
        "contradicts": [{"line": 2}, {"line": 1}, {"line": 2}],
        "clear": [{"line": 3, "start": 3, "end": 16}, {"line": 4, "start": 6, "end": 9}],
    }
    work.submit({"contradicts": 1, "clear": 1}, evidence)
    shown = "I, [name hidden], like tea."
    assert shown[3:16] == "[name hidden]"
    kept = work.kept()
    assert kept["contradicts"] == (Passage("self", 0), Passage("self", 1))
    assert kept["clear"] == (Passage("zork-1", 0, 3, 11), Passage("zork-1", 1, 6, 9))
    assert references.quoted(kept["clear"][0], "I, GPT-Zork, like tea.") == "GPT-Zork"
    assert references.quoted(kept["clear"][1], FAMILY) == "née"
    draft = hold_of(Assignment.objects.get(pk=work.assignment)).draft
    assert draft["evidence"][work.item]["clear"] == evidence["clear"]
    assert "zork" not in json.dumps(draft).lower()


@pytest.mark.parametrize(
    ("answers", "evidence", "told"),
    [
        ({"contradicts": 1}, {}, "say which turns the answer refers to"),
        ({"contradicts": 1}, {"contradicts": [{"line": 5}]}, "there is no line 5: there are 1 to 4"),
        ({"contradicts": 1}, {"contradicts": [{"line": 1, "start": 0, "end": 2}]}, "whole turns"),
        ({"clear": 1}, {"clear": [{"line": 1, "start": 4, "end": 4}]}, "from 4 to 4 is no stretch of line 1"),
        ({"clear": 1}, {"clear": [{"line": 1, "start": 0, "end": 99}]}, "which has 6 characters"),
        ({"clear": 1}, {"clear": [{"turn": 1}]}, "evidence names a line"),
        ({"clear": 2}, {"clear": [{"line": 1}]}, "the answer 2.0 points at nothing"),
        ({"fluent": 2}, {"fluent": [{"line": 1}]}, "No question “fluent” of this campaign asks for evidence"),
        ({"clear": 1}, {"clear": {"line": 1}}, "must be a list of lines"),
        ({"clear": 1}, {"clear": [{"line": 1}] * 101}, "at most 100"),
    ],
)
def test_evidence_that_cannot_be_is_refused_in_one_line(work, answers, evidence, told):
    with pytest.raises(AnswerRefused, match=told) as refused:
        work.submit(answers, evidence)
    assert "\n" not in str(refused.value)
    assert not Label.objects.exists()


def test_a_revision_supersedes_evidence_with_its_label_and_the_same_again_changes_nothing(work):
    work.submit({"clear": 1}, {"clear": [{"line": 1}]})
    work.submit({"clear": 1}, {"clear": [{"line": 1}]})
    with pytest.raises(SubmittedDifferently) as kept:
        work.submit({"clear": 1}, {"clear": [{"line": 2}]})
    assert kept.value.details()["kept"]["evidence"] == {work.item: {"clear": [{"line": 1}]}}
    work.submit({"clear": 1}, {"clear": [{"line": 2}]}, revising=True)
    assert work.kept() == {"clear": (Passage("self", 1),)}
    assert Label.objects.filter(question__key="clear").count() == 2
    submissions.return_to_annotator(
        by=work.user, assignment=Assignment.objects.get(state="submitted"), reason="again"
    )
    assert work.kept() == {}
    draft = Assignment.objects.get(pk=work.assignment).draft
    assert draft["evidence"] == {work.item: {"clear": [{"line": 2}]}}


def test_tabs_that_point_at_different_turns_are_in_conflict(work):
    def draft(client, line, version):
        content = {"version": version, "evidence": {work.item: {"clear": [{"line": line}]}}}
        return labelling.save_draft(
            by=work.user, campaign=work.campaign, assignment=work.assignment, draft=content, client=client
        )

    draft("one", 1, 1)
    assert draft("two", 1, 2) == 1
    with pytest.raises(DraftConflict) as conflict:
        draft("two", 2, 3)
    assert conflict.value.details()["kept"]["evidence"] == {work.item: {"clear": [{"line": 1}]}}


@pytest.mark.parametrize(
    "passage",
    [
        Passage("zork-1", 2),
        Passage("zork-1", 7),
        Passage("other", 0),
        Passage("self", 0, 0, 99),
        Passage("self", 0, 2, 2),
        Passage("self", 0, 0, 2),
    ],
)
def test_the_database_refuses_evidence_that_the_rater_was_not_shown_or_asked_for(work, passage):
    work.submit({"contradicts": 1}, {"contradicts": [{"line": 1}]})
    label = Label.objects.get(question__key="contradicts")
    with pytest.raises(IntegrityError), transaction.atomic():
        Label.objects.filter(pk=label.pk).update(evidence=references.stored([Passage("self", 1)]))
    with pytest.raises(IntegrityError), transaction.atomic():
        Label.objects.create(
            item=label.item,
            question=label.question,
            rater=label.rater,
            occasion="check",
            number=1,
            evidence=references.stored([passage]),
        )


def test_evidence_goes_with_its_corpus(work):
    work.submit({"clear": 1}, {"clear": [{"line": 1}]})
    purge([Corpus.objects.all()])
    assert not Label.objects.exists()


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "a\r\nb\u200bc <|im_start|> <<x>>",
        f"{FAMILY} GPT-Zo\u0301rk gpt zork",
        "GPT-Zork, zork! e\u0301\u202e\ufe0f",
    ],
)
def test_what_is_traced_is_what_is_shown(text):
    view = View(("GPT-Zork", "Zork"))
    traced = spoken(text, blind(("GPT-Zork", "Zork")))
    assert traced.text == view.spoken(text)
    for start in range(len(traced.text)):
        low, high = traced.stored(start, start + 1)
        assert 0 <= low < high <= len(text)
        again = traced.shown_span(low, high)
        assert again is not None
        assert again[0] <= start < again[1]

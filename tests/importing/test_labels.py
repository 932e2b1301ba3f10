"""Imported labels: their questions and raters, and no duplicates."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.models import Corpus, Item, Label, Question, Rater, Scheme
from annotation.work import labels as pseudonyms
from annotation.work import labels as raters
from annotation.work import labels as recording
from tests import factories
from tests.importing.helpers import census, continuation, imported, label, line, refusal, written

pytestmark = pytest.mark.django_db


def values() -> list[tuple[str, str, float | str | None]]:
    """Return (rater, question, value) of all labels."""
    stored = Label.objects.select_related("rater", "question").order_by("id")
    return [(one.rater.name, one.question.key, one.value) for one in stored]


def test_a_question_of_a_built_in_scheme_is_that_question(tmp_path: Path) -> None:
    result = imported(written(tmp_path, line(labels=[label(5), label(2, None)])))
    keys = [one.question.version.scheme.key for one in Label.objects.order_by("id")]
    assert keys == ["comperdial_turn", "comperdial_dialogue"]
    assert result.notes == [
        "Question overall about dialogues: ordinal, one of 1, 2, 3, 4, 5 "
        "(scheme comperdial_dialogue, version 1).",
        "Question overall about turns: ordinal, one of 1, 2, 3, 4, 5 (scheme comperdial_turn, version 1).",
    ]


def test_a_question_of_several_schemes_is_of_the_one_that_has_most_of_the_files(tmp_path: Path) -> None:
    labels = [label(7, None, question="consistency"), label(7, None, question="collaborativeness")]
    imported(written(tmp_path, line(labels=labels)))
    assert {one.question.version.scheme.key for one in Label.objects.all()} == {"cocoeval_overall"}


SCALE = ["disagree", "neutral", "agree"]


@pytest.mark.exhaustive
def test_words_of_an_ordinal_scale_are_numbers_in_their_declared_order(tmp_path: Path) -> None:
    def about(value: str | None, **fields: object) -> dict[str, object]:
        return label(value, question="mood", level="ordinal", values=SCALE, **fields)

    labels = [about("agree"), about("disagree", rater="s"), about(None, rater="t", missing="late")]
    imported(written(tmp_path, line(labels=labels)))
    question = Question.objects.get(key="mood")
    assert (question.level, question.values) == ("ordinal", [1, 2, 3])
    assert question.anchors == {"1": "disagree", "2": "neutral", "3": "agree"}
    assert values() == [("r", "mood", 3), ("s", "mood", 1), ("t", "mood", None)]
    again = written(
        tmp_path, {"id": "d1", "labels": [label("neutral", question="mood", rater="u")]}, name="b"
    )
    imported(again, into=True)
    assert values()[-1] == ("u", "mood", 2)
    wrong = written(tmp_path, {"id": "d1", "labels": [label("never", question="mood", rater="v")]}, name="c")
    assert "'never' is not on the scale of mood" in str(refusal(wrong, into=True))


def test_an_unknown_question_is_the_corpus_own(tmp_path: Path) -> None:
    labels = [
        label(0.5, question="wit"),
        label("calm", question="mood"),
        label(None, question="gap", missing="late"),
    ]
    result = imported(written(tmp_path, line(labels=labels)))
    stored = {
        one.key: (one.level, one.values)
        for one in Question.objects.filter(version__scheme__key="corpus:c:turn")
    }
    assert stored == {"wit": ("interval", []), "mood": ("nominal", []), "gap": ("interval", [])}
    assert (result.labels, result.missing) == (3, 1)
    assert Label.objects.get(question__key="gap").missing == "late"


def test_numbers_and_words_for_one_new_question_are_refused(tmp_path: Path) -> None:
    problem = refusal(
        written(tmp_path, line(labels=[label(1, question="wit"), label("x", 1, question="wit")]))
    )
    assert "numbers and with texts" in problem.reason


def test_a_later_file_adds_questions_and_keeps_the_old_ones(tmp_path: Path) -> None:
    imported(written(tmp_path, line(labels=[label(1, question="wit")])))
    more = {"id": "d1", "labels": [label(2, 1, question="wit"), label(3, question="depth")]}
    imported(written(tmp_path, more, name="more.jsonl"), into=True)
    scheme = Scheme.objects.get(key="corpus:c:turn")
    assert [sorted(version.questions.values_list("key", flat=True)) for version in scheme.versions.all()] == [
        ["wit"],
        ["depth", "wit"],
    ]
    assert Label.objects.filter(question__key="wit").values("question").distinct().count() == 1


def test_the_scheme_given_with_the_import_decides(tmp_path: Path) -> None:
    path = written(tmp_path, line(labels=[label(0)]))
    assert refusal(path).field == "labels[0].value"
    imported(path, scheme="fed_turn")
    assert Label.objects.get().question.version.scheme.key == "fed_turn"


def test_own_asks_for_questions_of_the_corpus_own(tmp_path: Path) -> None:
    imported(written(tmp_path, line(labels=[label(17)])), scheme="own")
    assert Label.objects.get().question.version.scheme.key == "corpus:c:turn"


def test_an_unknown_scheme_is_refused(tmp_path: Path) -> None:
    assert refusal(written(tmp_path, line()), scheme="fed_turn,nope").reason == "there is no scheme 'nope'"


def test_a_label_may_name_its_scheme_and_version(tmp_path: Path) -> None:
    imported(
        written(tmp_path, line(labels=[label(0, scheme="fed_turn"), label(5, 1, scheme="comperdial_turn@1")]))
    )
    assert {one.question.version.scheme.key for one in Label.objects.all()} == {"fed_turn", "comperdial_turn"}


def test_the_scheme_that_the_corpus_uses_comes_before_the_built_in_one(tmp_path: Path) -> None:
    imported(written(tmp_path, line(labels=[label(17)])), scheme="own")
    imported(written(tmp_path, {"id": "d1", "labels": [label(18, 1)]}, name="b.jsonl"), into=True)
    assert Label.objects.values("question").distinct().count() == 1


@pytest.mark.exhaustive
def test_a_campaigns_scheme_comes_before_the_built_in_one(tmp_path: Path) -> None:
    imported(written(tmp_path, line()))
    factories.campaign(Corpus.objects.get(), "fed_turn", opened=False, include_self=True)
    imported(written(tmp_path, {"id": "d1", "labels": [label(0)]}, name="b.jsonl"), into=True)
    assert Label.objects.get().question.version.scheme.key == "fed_turn"


def test_raters_are_of_the_corpus_with_kind_and_identity(tmp_path: Path) -> None:
    labels = [label(rater="x"), label(rater="x", kind="judge"), label(rater="y", identified=False)]
    imported(written(tmp_path, line(labels=labels)))
    corpus = Corpus.objects.get()
    stored = {(rater.kind, rater.name, rater.identified, rater.corpus_id) for rater in Rater.objects.all()}
    assert stored == {
        ("human", "x", True, corpus.pk),
        ("judge", "x", True, corpus.pk),
        ("human", "y", False, corpus.pk),
    }
    assert {one.occasion for one in Label.objects.all()} == {"imported"}


def test_a_rater_is_identified_everywhere_or_nowhere(tmp_path: Path) -> None:
    problem = refusal(written(tmp_path, line(labels=[label(), label(3, 1, identified=False)])))
    assert problem.field == "identified"


def test_samples_are_answers_of_their_own(tmp_path: Path) -> None:
    labels = [label(value, sample=sample, kind="judge") for sample, value in enumerate((3, 3, 4))]
    assert imported(written(tmp_path, line(labels=labels))).labels == 3


@pytest.mark.exhaustive
def test_an_answer_that_is_there_already_changes_nothing(tmp_path: Path) -> None:
    imported(written(tmp_path, line(labels=[label(4)])))
    before = census()
    again = imported(written(tmp_path, {"id": "d1", "labels": [label(4)]}, name="b.jsonl"), into=True)
    assert (again.created, again.unchanged, census()) == (False, 1, before)


@pytest.mark.exhaustive
def test_another_answer_in_the_place_of_a_live_one_is_refused(tmp_path: Path) -> None:
    imported(written(tmp_path, line(labels=[label(4)])))
    problem = refusal(written(tmp_path, {"id": "d1", "labels": [label(5)]}, name="b.jsonl"), into=True)
    assert (problem.line, problem.field) == (1, "labels[0].value")
    assert "another answer of 'r' there already: 4" in problem.reason


@pytest.mark.exhaustive
def test_a_file_finds_an_accounts_labels_again_but_adds_none_in_its_name(tmp_path: Path) -> None:
    imported(written(tmp_path, line(labels=[label(4)])))
    person = raters.rater_of_person(user=factories.user("ana"))
    item = Item.objects.get(turn__position=1)
    recording.record(
        rater=person,
        answers=[recording.Answer(item, Question.objects.get(key="overall", labels__isnull=False), 3.0)],
        occasion="main",
    )
    assert imported(
        written(
            tmp_path,
            "item,rater,value,occasion",
            f"d1/self/1,{pseudonyms.pseudonym(person, item.corpus_id)},3,main",
            name="exported.csv",
        ),
        format="ratings-csv",
        into=True,
    )
    assert not Rater.objects.filter(name__startswith="person-").exists()
    rows = written(
        tmp_path, "item,rater,value,occasion", "d1/self/1,ana,3,main", "d1/self/0,ana,2,main", name="r.csv"
    )
    result = imported(rows, format="ratings-csv", into=True)
    assert (result.labels, result.unchanged) == (1, 1)
    assert Label.objects.get(number=2).rater != person


@pytest.mark.exhaustive
def test_a_ratings_file_recreates_labels_in_a_fresh_corpus(tmp_path: Path) -> None:
    labels = [label(4), label(None, 1, missing="unclear"), label(3, None, rater="j", kind="judge", sample=2)]
    part = continuation("m", "So")
    imported(written(tmp_path, line(continuations=[part], labels=labels)), "old")
    imported(written(tmp_path, line(continuations=[part]), name="bare.jsonl"), "new")
    rows = written(
        tmp_path,
        "item,rater,value,question,scheme,sample,kind,identified,occasion,missing",
        "d1/self/0,r,4,overall,comperdial_turn@1,0,human,true,imported,",
        "d1/self/1,r,,overall,comperdial_turn@1,0,human,true,imported,unclear",
        "d1/self,j,3,overall,comperdial_dialogue@1,2,judge,true,imported,",
        name="r.csv",
    )
    assert imported(rows, "old", format="ratings-csv", into=True).created is False
    assert imported(rows, "new", format="ratings-csv", into=True).labels == 3
    fields = (
        "rater__kind",
        "rater__name",
        "rater__identified",
        "question",
        "number",
        "missing",
        "sample",
        "occasion",
    )
    old, new = (
        sorted(map(str, Label.objects.filter(item__corpus__name=name).values_list(*fields)))
        for name in ("old", "new")
    )
    assert old == new


@pytest.mark.exhaustive
def test_an_answer_in_words_that_looks_like_a_number_stays_words(tmp_path: Path) -> None:
    imported(written(tmp_path, line(labels=[label("1", question="pick")])))
    rows = written(
        tmp_path, "item,rater,value,question", "d1/self/0,r,1,pick", "d1/self/1,r,2,pick", name="r.csv"
    )
    result = imported(rows, format="ratings-csv", into=True)
    assert (result.unchanged, values()[-1]) == (1, ("r", "pick", "2"))


@pytest.mark.exhaustive
def test_a_new_question_takes_its_scale_from_the_ratings_file(tmp_path: Path) -> None:
    imported(written(tmp_path, line()))
    head = "item,rater,value,question,level,values"
    imported(
        written(tmp_path, head, 'd1/self/0,r,1,wit,ordinal,"[1, 2]"', name="a.csv"),
        format="ratings-csv",
        into=True,
    )
    assert Question.objects.get(key="wit").values == [1, 2]
    problem = refusal(
        written(tmp_path, head, "d1/self/1,r,3,wit,,", name="b.csv"), format="ratings-csv", into=True
    )
    assert problem.reason == "3 is not on the scale of wit in corpus:c:turn: 1, 2"


def test_labels_alone_need_a_corpus(tmp_path: Path) -> None:
    assert "--into" in refusal(written(tmp_path, "item,rater,value"), format="ratings-csv").reason


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["not_there", "x"])
def test_a_rating_of_what_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    imported(written(tmp_path, line()))
    rows = written(tmp_path, "item,rater,value", f"{name}/self,r,1", name="r.csv")
    problem = refusal(rows, format="ratings-csv", into=True)
    assert (problem.line, problem.field, problem.reason) == (
        2,
        "item",
        f"there is no dialogue {name!r} in the corpus",
    )


def test_a_value_off_feds_scale_is_named_by_its_dialogue(tmp_path: Path) -> None:
    item = {"context": "User: Hi\nSystem: Ho", "system": "m", "annotations": {"Overall": [1, 9]}}
    problem = refusal(written(tmp_path, [item]), format="fed")
    assert (problem.field, "9 is not on the scale of overall" in problem.reason) == (
        "overall of fed-001",
        True,
    )


def test_a_number_outside_the_bounds_of_its_question_is_refused_with_its_line(tmp_path: Path) -> None:
    from annotation import scheme_actions
    from annotation.schemes.files import definition_from

    asked = {"key": "count", "wording": "How many?", "level": "ratio", "maximum": 9, "whole": True}
    scheme = {"scheme": "own", "title": "Own", "item_kind": "turn", "questions": [asked]}
    scheme_actions.create(by=None, definition=definition_from(scheme))
    labels = [label(2, question="count", scheme="own"), label(2.5, 1, question="count", scheme="own")]
    problem = refusal(written(tmp_path, line(labels=labels)))
    assert problem.reason == "2.5 is not on the scale of count in own: a whole number from 0 to 9"


def tag(topic: str, value: int, **fields: object) -> dict[str, object]:
    """Whether a turn is about a topic, as one of a set."""
    question = {"question": f"topics:{topic}", "group": "topics", "level": "binary", "values": [0, 1]}
    return label(value, **question, **fields)


def test_yes_no_questions_of_a_set_are_stored_as_a_group(tmp_path: Path) -> None:
    imported(written(tmp_path, line(labels=[tag("food", 1), label(3, question="mood"), tag("sport", 0)])))
    questions = Question.objects.order_by("position")
    assert [(one.key, one.group, one.title) for one in questions] == [
        ("mood", "", "mood"),
        ("topics:food", "topics", "food"),
        ("topics:sport", "topics", "sport"),
    ]


def test_a_new_value_of_a_set_joins_its_group(tmp_path: Path) -> None:
    imported(written(tmp_path, line(labels=[tag("food", 1), label(3, question="mood")])))
    more = written(tmp_path, {"id": "d1", "labels": [tag("sport", 1), label(2, question="act")]}, name="more")
    imported(more, into=True)
    newest = Question.objects.filter(version__version=2).order_by("position")
    groups = [one.group for one in newest]
    assert sorted(one.key for one in newest) == ["act", "mood", "topics:food", "topics:sport"]
    assert "".join("t" if group else "." for group in groups) in (".tt.", "tt..", "..tt")


def test_a_scale_of_five_is_no_tag_of_a_group(tmp_path: Path) -> None:
    five = label(3, question="mood", group="topics", level="ordinal", values=[1, 2, 3, 4, 5])
    problem = refusal(written(tmp_path, line(labels=[five])))
    assert "'mood' is ordinal: only yes/no questions" in str(problem)

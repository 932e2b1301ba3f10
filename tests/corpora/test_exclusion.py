"""Dialogues are left out by any person's answer, and until everybody who is to answer has."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.campaigns import campaign_actions, editing
from annotation.corpora import exclusion
from annotation.errors import ExclusionRefused
from annotation.models import Corpus, Item, Label, Rater, Task
from tests import factories


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("objection>=1", ("objection", ">=", "1")),
        (" overall  <  2.5 ", ("overall", "<", "2.5")),
        ("tone!=polite", ("tone", "!=", "polite")),
        ("tone=very rude", ("tone", "=", "very rude")),
        ("score>-1", ("score", ">", "-1")),
    ],
)
def test_an_exclusion_is_a_key_a_comparison_and_a_value(text: str, parts: tuple[str, str, str]) -> None:
    read = exclusion.parse(text)
    assert read is not None
    assert (read.question, read.comparison, read.value) == parts
    assert exclusion.parse(str(read)) == read


@pytest.mark.parametrize(
    "text", ["overall", "<2", "overall<", "a b<1", "tone<polite", "a=\0", "a=" + "1" * 400]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ExclusionRefused):
        exclusion.parse(text)


def test_an_empty_text_leaves_out_nothing() -> None:
    assert exclusion.parse("  ") is None


@pytest.fixture
def corpus() -> Corpus:
    made = factories.corpus("talks")
    for number in range(3):
        factories.dialogue(made, f"d{number}", turns=2)
    return made


def say(corpus: Corpus, dialogue: str, rater: str, value: Any, **fields: Any) -> Label:
    """Have a rater answer about the last turn of a dialogue."""
    kind, key = fields.pop("kind", "human"), fields.pop("question", "overall")
    row, _ = Rater.objects.get_or_create(name=rater, kind=kind, corpus=corpus)
    item = Item.objects.filter(corpus=corpus, continuation__dialogue__key=dialogue, kind="turn").latest("pk")
    question = factories.scheme_version().questions.get(key=key)
    return Label.objects.create(
        item=item, question=question, rater=row, **{"occasion": "imported", "number": value, **fields}
    )


def states(corpus: Corpus, text: str) -> list[tuple[str, int, int]]:
    read = exclusion.parse(text)
    assert read is not None
    return [(row.state, row.reviews, row.needed) for row in exclusion.reviews(corpus, read)]


@pytest.mark.django_db
def test_without_a_campaign_one_answer_is_enough(corpus: Corpus) -> None:
    say(corpus, "d0", "ana", 4)
    say(corpus, "d1", "ana", 1)
    assert states(corpus, "overall<2") == [("passed", 1, 1), ("objected", 1, 1), ("not_checked", 0, 1)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "objected"),
    [
        ("overall<2", [1]),
        ("overall<=2", [1, 2]),
        ("overall=2", [2]),
        ("overall!=2", [1, 3]),
        ("overall>2", [3]),
        ("overall>=2", [2, 3]),
    ],
)
def test_every_comparison(corpus: Corpus, text: str, objected: list[int]) -> None:
    for number in (1, 2, 3):
        say(corpus, f"d{number - 1}", "ana", number)
    found_states = [state for state, _, _ in states(corpus, text)]
    assert [number for number, state in enumerate(found_states, start=1) if state == "objected"] == objected


@pytest.mark.django_db
def test_only_current_answers_of_people_given_as_main_work_or_imported_count(corpus: Corpus) -> None:
    say(corpus, "d0", "ana", 4)
    say(corpus, "d0", "gpt", 1, kind="judge")
    say(corpus, "d0", "key", 1, kind="key")
    say(corpus, "d0", "ben", 1, occasion="training")
    say(corpus, "d0", "ben", None, missing="cannot say")
    first = say(corpus, "d1", "ana", 1)
    Label.objects.filter(pk=first.pk).update(superseded_at=first.created_at)
    say(corpus, "d1", "ana", 4, supersedes=first)
    assert states(corpus, "overall<2")[:2] == [("passed", 1, 1), ("passed", 1, 1)]


@pytest.mark.django_db
def test_each_task_needs_the_answers_of_its_raters(corpus: Corpus) -> None:
    factories.campaign(corpus, raters=2, overlap_raters=3, overlap_tasks=1)
    assert sorted({needed for _, _, needed in states(corpus, "overall<2")}) == [2, 3]
    for rater in ("ana", "ben", "cid"):
        say(corpus, "d0", rater, 4)
    (state, reviews, _) = states(corpus, "overall<2")[0]
    assert (state, reviews) == ("not_checked", 0), "its other turn has no answer"
    Task.objects.filter(item__turn__position=0).delete()
    assert states(corpus, "overall<2")[0][0] == "passed"


@pytest.mark.django_db
def test_a_dialogue_outside_the_campaign_needs_as_many_answers_as_those_in_it(corpus: Corpus) -> None:
    factories.campaign(corpus, raters=2)
    factories.dialogue(corpus, "later", turns=1)
    say(corpus, "later", "ana", 4)
    assert states(corpus, "overall<2")[-1] == ("not_checked", 1, 2)
    say(corpus, "later", "ben", 4)
    assert states(corpus, "overall<2")[-1] == ("passed", 2, 2)


@pytest.mark.django_db
def test_a_draft_asks_nobody(corpus: Corpus) -> None:
    factories.campaign(corpus, raters=5, opened=False)
    say(corpus, "d0", "ana", 4)
    assert states(corpus, "overall<2")[0] == ("passed", 1, 1)


@pytest.mark.django_db
def test_training_dialogues_are_listed_apart(corpus: Corpus) -> None:
    factories.dialogue(corpus, "t", turns=1, part="training")
    say(corpus, "d0", "ana", 4)
    outside = exclusion.left_out(corpus, "overall<2")
    training = exclusion.left_out(corpus, "overall<2", training=True)
    assert outside is not None
    assert training is not None
    assert [row.dialogue for row in outside.visible] == ["d1", "d2"]
    assert [row.dialogue for row in training.visible] == ["t"]
    assert len(exclusion.excluded_ids(corpus, "overall<2")) == 3


@pytest.mark.django_db
def test_the_hash_follows_the_dialogues_left_out(corpus: Corpus) -> None:
    def digest(text: str = "overall<2") -> str:
        result = exclusion.left_out(corpus, text)
        assert result is not None
        return result.digest()

    say(corpus, "d0", "ana", 4)
    before = digest()
    say(corpus, "d0", "ben", 5)
    assert digest() == before
    assert digest("overall<=1") != before
    say(corpus, "d1", "ana", 4)
    assert digest() != before


@pytest.mark.django_db
def test_a_reopened_campaign_gains_what_has_passed_since_and_keeps_its_tasks(corpus: Corpus) -> None:
    say(corpus, "d0", "ana", 4)
    by = factories.user(researcher=True)
    campaign = factories.campaign(corpus, "comperdial_dialogue", exclude="overall<2", by=by)

    def dialogues() -> list[str]:
        keys = campaign.tasks.values_list("continuation__dialogue__key", flat=True)
        return sorted(keys)

    assert dialogues() == ["d0"]
    say(corpus, "d0", "ben", 1)
    say(corpus, "d1", "ana", 4)
    campaign_actions.pause(by=by, campaign=campaign)
    campaign_actions.open(by=by, campaign=campaign)
    assert dialogues() == ["d0", "d1"]
    assert [state for state, _, _ in states(corpus, "overall<2")] == ["objected", "passed", "not_checked"]


@pytest.mark.django_db
def test_a_draft_that_moves_to_another_corpus_leaves_out_nothing(corpus: Corpus) -> None:
    say(corpus, "d0", "ana", 4)
    by, other = factories.user(researcher=True), factories.corpus("others")
    factories.dialogue(other, turns=2)
    draft = factories.campaign(corpus, exclude="overall<2", opened=False, by=by)
    assert editing.change(by=by, campaign=draft, corpus=other).exclude == ""

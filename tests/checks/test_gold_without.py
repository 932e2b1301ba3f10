"""Exclusion from gold is visible; only main and imported occasions are ever read as main."""

import pytest

from annotation.models import Label, Rater
from annotation.work import check_actions
from annotation.work.labels import name_of
from calibration.gold.derivation import make
from calibration.ratings.scope import of_campaign, of_corpus
from tests import factories
from tests.checks.world import accept, campaign, take_test, work


@pytest.fixture
def made(db):
    ana, ben = factories.user("ana"), factories.user("ben")
    made = campaign(ana, ben, test=1, check=2, main=4, check_every=2, opened=False)
    factories.campaigns.open(by=made.created_by, campaign=made)
    for person in (ana, ben):
        take_test(person, made)
        accept(person, made, "passed")
    assert work(ana, made).count("check") == 2
    imported = Rater.objects.create(kind="human", name="old hand", corpus=made.corpus)
    question = made.scheme_version.questions.get(key="overall")
    item = made.tasks.order_by("position").first().item
    Label.objects.create(item=item, question=question, rater=imported, occasion="imported", number=2)
    return made


def gold(made, **how):
    told = {
        "corpus": made.corpus,
        "campaign": None,
        "scheme_version": made.scheme_version,
        "rule": "majority",
    }
    return make(**told | how, by=None)


def test_gold_reads_main_and_imported_labels_alone(made):
    assert sum(sum(row.votes.values()) for row in gold(made).labels.all()) == 4 + 1
    assert of_corpus(made.corpus).labels().count() == 5
    assert of_campaign(made).labels().count() == 4
    assert Label.objects.exclude(occasion__in=["main", "imported"]).count() == 2 + 2


@pytest.mark.exhaustive
def test_who_is_left_out_is_named_with_since_when_and_why_and_loses_no_label(made):
    ana = Rater.objects.get(name="ana").user
    before = Label.objects.count()
    check_actions.leave_out(by=made.created_by, campaign=made, user=ana, reason="answers at random")
    found = gold(made)
    assert found.options["raters"] == ["old hand"]
    (told,) = found.options["people_left_out"]
    called = name_of(ana.rater, made.corpus_id)
    assert (told["rater"], told["campaign"], told["why"]) == (called, made.name, "answers at random")
    assert gold(made, raters=[called]).options["raters"] == [called]
    check_actions.readmit(by=made.created_by, campaign=made, user=ana, reason="a mistake")
    assert set(gold(made).options["raters"]) == {called, "old hand"}
    assert Label.objects.count() == before

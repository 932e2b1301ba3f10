"""Reports show dev until test is opened on purpose, and print by whom, when and why."""

from __future__ import annotations

import pytest

from annotation.corpora import splits
from annotation.errors import SplitRefused
from annotation.models import TestLook
from calibration.errors import StudyError
from calibration.models import Report, Study
from calibration.reports.renderings import RENDERINGS
from calibration.studies import study_actions as studies
from config.models import Event
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """Eight dialogues rated by two people, half of them test."""
    built = world(dialogues=8, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("ann", "quality", [float(1 + n % 3) for n in range(16)])
    built.say("ben", "quality", [float(1 + n % 2) for n in range(16)])
    return built


@pytest.fixture(scope="module")
def study(rated: World) -> Study:
    """The automatic study of the corpus, whose dialogues are split."""
    splits.draw(corpus=rated.corpus, by=None, seed=3, test_share=0.5)
    return studies.automatic(corpus=rated.corpus)


def _clusters(report: Report) -> int:
    return int(report.result["counts"]["clusters"])


def test_without_a_split_a_report_shows_everything_and_says_so(rated: World) -> None:
    study = studies.automatic(corpus=rated.corpus)
    assert studies.default_part(study) == "all"
    report = studies.compute(study=study, part="all", by=None)
    assert _clusters(report) == 8
    assert "no split" in RENDERINGS["md"].write(report).lower()


def test_with_a_split_a_report_shows_dev(study: Study) -> None:
    assert studies.default_part(study) == "dev"
    assert _clusters(studies.compute(study=study, part="dev", by=None)) == 4


def test_everything_at_once_is_refused_where_there_is_a_split(study: Study) -> None:
    with pytest.raises(StudyError, match="show dev"):
        studies.compute(study=study, part="all", by=None)


def test_test_is_refused_until_it_was_opened(study: Study) -> None:
    with pytest.raises(StudyError, match="test was not opened"):
        studies.compute(study=study, part="test", by=None)


def test_opening_test_needs_a_purpose(study: Study) -> None:
    with pytest.raises(StudyError, match="say what"):
        studies.open_test(study=study, by=None, purpose="  ")
    assert not TestLook.objects.exists()


def test_an_opened_test_is_logged_and_printed_on_its_report(study: Study) -> None:
    studies.open_test(study=study, by=None, purpose="the final table of the paper")
    report = studies.compute(study=study, part="test", by=None)
    assert _clusters(report) == 4
    for form in ("md", "json", "html", "latex"):
        assert "the final table of the paper" in RENDERINGS[form].write(report)


def test_dev_and_test_share_no_dialogue(study: Study) -> None:
    studies.open_test(study=study, by=None, purpose="a check")
    dev, test = (studies.compute(study=study, part=part, by=None) for part in ("dev", "test"))
    assert dev.inputs_hash != test.inputs_hash
    assert _clusters(dev) + _clusters(test) == 8


def test_the_first_report_fixes_the_split(study: Study, rated: World) -> None:
    studies.compute(study=study, part="dev", by=None)
    with pytest.raises(SplitRefused, match="it is fixed"):
        splits.draw(corpus=rated.corpus, by=None, seed=4)
    assert Event.objects.filter(verb="fix split").count() == 1

"""The report page: verdicts first, then a reader's questions in sections that fold."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.models import Label, Occasion
from annotation.work.labels import Answer, record
from calibration.models import Report, Study
from calibration.reports.renderings import write_html
from calibration.reports.results import RaterVerdict
from calibration.reports.snapshot import snapshot_of, to_json
from calibration.studies import study_actions as studies
from tests.calibration.snapshots import figure
from tests.calibration.world import World, world
from tests.factories import user

pytestmark = pytest.mark.django_db
QUALITY = "quality@1/quality"


@pytest.fixture
def rated() -> World:
    """Twelve dialogues rated by three people and two judges, one of which says why."""
    built = world(dialogues=12, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="How good is this <reply>?")
    built.ask("rude", "binary", [0, 1], wording="Is this reply rude?")
    values = [float(1 + (n * 7) % 5) for n in range(36)]
    for shift, name in enumerate(("ann", "ben", "cem")):
        built.say(name, "quality", [min(5.0, v + (n % 5 == shift)) for n, v in enumerate(values)])
        built.say(name, "rude", [float((n + shift * (n % 4 == 0)) % 6 == 0) for n in range(36)])
    for name, every in (("v1", 2), ("v2", 9)):
        answers = [6.0 - v if n % every == 0 else v for n, v in enumerate(values)]
        explanation = "It “answers” <b>nothing</b>." if name == "v1" else ""
        record(
            rater=built.rater(name, "judge"),
            answers=[
                Answer(item, built.questions["quality"], value, explanation=explanation)
                for item, value in zip(built.turns, answers, strict=True)
            ],
            occasion=Occasion.IMPORTED,
        )
        built.say(name, "rude", [float(n % (every + 3) == 0) for n in range(36)], kind="judge")
    return built


def verdict(**named: Any) -> RaterVerdict:
    """Return a verdict on v2, with the named fields."""
    plain: dict[str, Any] = {
        "ref": QUALITY,
        "title": "How good is this <reply>?",
        "rater": "v2",
        "kind": "judge",
        "state": "trust",
        "reasons": (),
        "sentence": "It agrees with people as well as they agree with each other.",
        "next_step": "",
        "step": "none",
        "statistic": "cohen_kappa_quadratic",
        "agreement": figure("cohen_kappa_quadratic", 0.58, (0.49, 0.66)),
        "people": figure("cohen_kappa_quadratic", 0.62, (0.5, 0.7)),
        "gap": None,
        "baseline": None,
        "baseline_name": "",
        "n_answered": 35,
        "n_items": 36,
    }
    return RaterVerdict(**(plain | named))


FOUR = (
    verdict(),
    verdict(
        rater="v1",
        state="not_yet",
        sentence="It agrees less with people than they do with each other.",
        step="disagreements",
        next_step="Read the 12 disagreements",
    ),
    verdict(
        ref="rude@1/rude",
        title="Is this reply rude?",
        state="cannot_say",
        statistic="cohen_kappa",
        agreement=None,
        people=None,
        sentence="Only 4 turns were marked rude; about 25 are needed.",
        step="more_ratings",
        next_step="Plan more ratings",
        n_answered=36,
    ),
    verdict(
        ref="rude@1/rude",
        title="Is this reply rude?",
        rater="v1",
        state="do_not_trust",
        statistic="cohen_kappa",
        sentence="It does no better than always the same answer.",
        step="baselines",
        next_step="See the baselines",
    ),
)


def with_verdicts(study: Study, verdicts: tuple[RaterVerdict, ...] = FOUR, part: str = "all") -> Report:
    """Store a study's report with these verdicts."""
    report = studies.compute(study=study, part=part, by=None)
    report.result = to_json(replace(snapshot_of(report), verdicts=verdicts))
    report.save()
    return Report.objects.get(pk=report.pk)


def shown(client: Client, study: Study, query: str = "") -> str:
    return client.get(reverse("report", args=[study.pk]) + query).content.decode()


def test_verdicts_come_first_with_their_state_figures_reason_and_next_step(
    researcher: Client, study: Study
) -> None:
    with_verdicts(study)
    page = " ".join(shown(researcher, study).split())
    table = page[page.index('id="verdicts"') : page.index("</table>")]
    assert page.index('id="verdicts"') < page.index('<details class="card fold"')
    assert re.findall(r'class="verdict (\w+) ', table) == ["trust", "not_yet", "cannot_say", "do_not_trust"]
    assert [word in table for word in ("Trust", "Not yet", "Cannot say yet", "Do not trust")] == [True] * 4
    assert "How good is this &lt;reply&gt;?" in table
    assert "κ 0.58" in table
    assert "0.49 to 0.66" in table
    assert "97%" in table
    assert "It agrees less with people than they do with each other." in table


def test_the_next_step_of_a_verdict_is_one_link_away(researcher: Client, study: Study) -> None:
    with_verdicts(study)
    page = shown(researcher, study)
    links = dict(
        re.findall(r'<a href="([^"]+)">(Read the 12[^<]+|Plan more ratings|See the base[^<]+)</a>', page)
    )
    by_text = {
        text: address.replace("&amp;", "&")
        for address, text in links.items()
        if "question" in address or "#" in address
    }
    for text in ("Read the 12 disagreements", "Plan more ratings"):
        assert researcher.get(by_text[text]).status_code == 200
    target = by_text["See the baselines"]
    assert f'id="{target[1:]}"' in page


def test_of_many_verdicts_the_leading_ones_are_shown_and_the_others_on_request(
    researcher: Client, study: Study
) -> None:
    others = tuple(verdict(ref=f"other@1/q{n}", title=f"Question {n}") for n in range(9))
    with_verdicts(study, (*others, *FOUR))
    page = shown(researcher, study)
    assert "Show all 13" in page
    leading, _, rest = page.partition('class="rest"')
    assert "Question 0" not in leading[leading.index('id="verdicts"') :]
    assert "Question 0" in rest


def test_without_judges_the_page_begins_with_how_far_people_agree(researcher: Client) -> None:
    built = world(dialogues=12, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5])
    for shift, name in enumerate(("ann", "ben")):
        built.say(name, "quality", [float(1 + (n * 7 + (n % 6 == shift)) % 5) for n in range(36)])
    page = shown(researcher, studies.automatic(corpus=built.corpus))
    assert 'id="verdicts"' not in page
    assert page.index('class="answer"') < page.index('<details class="card fold"')
    assert "How well do people agree?" in page
    assert 'id="judge-agrees"' not in page


def test_sections_follow_a_readers_questions_and_say_their_result_while_folded(
    researcher: Client, study: Study
) -> None:
    with_verdicts(study)
    page = shown(researcher, study)
    folds = re.findall(r'<details class="card fold" id="([\w-]+)"', page)
    assert folds == [
        "humans-agree",
        "judge-agrees",
        "failures",
        "biased",
        "better",
        "rater-by-rater",
        "paper-tables",
        "method",
    ]
    contents = page.partition("data-contents")[2].partition("</nav>")[0]
    assert re.findall(r'<a href="#([\w-]+)">', contents) == ["verdicts", *folds]
    assert re.search(
        r'How well do people agree\?</h2>\s*<span class="result[^"]*">[^<]*α 0\.\d\d on 36 turns', page
    )
    levels = [int(level) for level in re.findall(r"<h([1-6])", page.partition("<main")[2])]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_where_a_judge_fails_shows_answers_and_reasons_beside_peoples(
    researcher: Client, study: Study
) -> None:
    with_verdicts(study)
    page = shown(researcher, study)
    address = reverse("report-failures", args=[study.pk])
    assert address in page
    part = researcher.get(address, {"question": QUALITY, "a": "v1"}).content.decode()
    assert "Answers of v1 and of people" in part
    assert "It “answers” &lt;b&gt;nothing&lt;/b&gt;." in part
    assert reverse("dialogue", args=[Label.objects.first().item.continuation.dialogue_id])[:9] in part
    assert re.search(r"Read all \d+ disagreements", part)
    other = researcher.get(address, {"question": "rude@1/rude", "a": "nobody"}).content.decode()
    assert re.search(r'<option value="v1"\s+selected>v1</option>', other)


def test_a_report_in_a_file_has_verdicts_but_no_transcripts(study: Study) -> None:
    page = write_html(with_verdicts(study))
    assert 'class="verdict trust ' in page
    assert "Read the 12 disagreements" in page
    assert 'href="/' not in page
    assert 'id="failures"' not in page


def test_only_those_who_see_the_study_see_where_a_judge_fails(client: Client, study: Study) -> None:
    with_verdicts(study)
    address = reverse("report-failures", args=[study.pk])
    assert client.get(address).status_code == 302
    client.force_login(user())
    assert client.get(address).status_code == 403


def test_failures_of_test_stay_closed_until_test_is_opened(researcher: Client, study: Study) -> None:
    splits.draw(corpus=study.corpus, by=None)
    with_verdicts(study, part="dev")
    address = reverse("report-failures", args=[study.pk])
    assert researcher.get(address, {"part": "test"}).status_code == 404


def test_a_report_that_is_computed_again_shows_progress_above_the_last(
    researcher: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_verdicts(study)
    monkeypatch.setattr(studies, "SMALL", 0)
    studies.start(study=study, part="all", by=None)
    page = shown(researcher, study)
    assert page.index("Waiting for a worker") < page.index('id="verdicts"')

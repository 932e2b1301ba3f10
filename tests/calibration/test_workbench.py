"""The workbench: drafts compared with people, disagreements, marks, version comparison, checks."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from sklearn.metrics import cohen_kappa_score

from annotation.corpora.properties import set_families
from annotation.models import Item, Label, Occasion, Question, Turn
from annotation.work import labels as raters
from annotation.work.labels import Answer, record
from calibration.errors import WorkbenchRefused
from calibration.models import ForAdjudication, Mark
from calibration.ratings.scope import census, scope_of
from calibration.statistics import Plan
from calibration.workbench import checks, marks, versions
from calibration.workbench import sheets as showing
from calibration.workbench.sheets import items_of, judged_on, sheets
from judges.drafts import draft_actions
from judges.models import Draft
from judges.protocols import Wording
from tests import factories
from tests.calibration.workbench_world import KINDER, OWN, judged, rated_bench, tried
from tests.fake_llm import FakeLLM
from tests.judges.helpers import finish

pytestmark = pytest.mark.django_db(transaction=True)
FEW = Plan(resamples=100)
OTHER = Wording("$notice", OWN.user)


@pytest.mark.exhaustive
def test_agreement_is_that_of_the_drafts_answers_with_each_of_the_people(fake: FakeLLM) -> None:
    fake.model.noise = 0.4
    bench = rated_bench()
    draft = tried(bench, fake)
    found = sheets(bench, [judged(draft)])
    overall = next(sheet for sheet in found if sheet.question.key == "overall")
    block = overall.ratings.values
    people = block[:, list(overall.ratings.of_kind("human"))]
    own = block[:, overall.ratings.column("draft 1")]
    assert np.isfinite(block).sum() == 20 * 3
    wanted = np.mean(
        [cohen_kappa_score(one, own, weights="quadratic", labels=[1, 2, 3, 4, 5]) for one in people.T]
    )
    rows = showing.agreement(found, judged(draft), FEW)
    assert rows[0].result.name == "cohen_kappa_quadratic"
    assert rows[0].result.value == pytest.approx(wanted, abs=1e-12)
    assert (rows[0].result.n_items, rows[0].result.n_missing) == (20, 0)
    assert {row.question.key for row in rows} == {"overall"}
    assert len(showing.unanswered(found)) == 5


@pytest.mark.exhaustive
def test_of_anonymous_people_only_the_mean_is_read(fake: FakeLLM) -> None:
    fake.model.noise = 0.4
    bench = rated_bench(identified=False)
    draft = tried(bench, fake)
    rows = showing.agreement(sheets(bench, [judged(draft)]), judged(draft), FEW)
    assert [row.result.name for row in rows if row.question.key == "overall"] == ["spearman"]


@pytest.mark.exhaustive
def test_what_failed_is_missing_and_counted(fake: FakeLLM) -> None:
    bench = rated_bench()
    draft = tried(bench, fake, targets=5)
    fake.mode = "malformed"
    draft_actions.run(by=None, draft=draft, targets=8)
    finish()
    draft.refresh_from_db()
    (first, *_) = showing.agreement(sheets(bench, [judged(draft)]), judged(draft), FEW)
    assert (first.result.n_items, first.result.n_missing) == (5, 3)


@pytest.mark.exhaustive
def test_items_that_a_draft_was_not_asked_about_are_not_missing(fake: FakeLLM) -> None:
    bench = rated_bench()
    tried(bench, fake)
    few = tried(bench, fake, OTHER, 5)
    (first, *_) = showing.agreement(sheets(bench, [judged(few)]), judged(few), FEW)
    assert (first.result.n_items, first.result.n_missing) == (5, 0)


def test_nobody_finds_a_draft_among_raters_labels_exports_or_studies(fake: FakeLLM, client: Client) -> None:
    bench = rated_bench()
    before = census(scope_of(bench.corpus, None)).counts
    labels = Label.objects.count()
    tried(bench, fake)
    assert census(scope_of(bench.corpus, None)).counts == before
    assert Label.objects.count() == labels
    client.force_login(factories.user("rea", researcher=True))
    for address in (
        f"/corpora/{bench.corpus.name}/results/",
        "/api/v1/runs/",
        "/prompts/",
        "/prompts/cpdscore_simple_without_reference/",
        f"/runs/new/?corpus={bench.corpus_id}",
        "/studies/new/?corpus=" + str(bench.corpus_id),
        f"/corpora/{bench.corpus_id}/report/",
        f"/corpora/{bench.corpus_id}/profile/",
        f"/gold/new/?corpus={bench.corpus_id}",
        f"/exports/labels.csv?corpus={bench.corpus_id}",
    ):
        response = client.get(address, follow=True)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        assert response.status_code == 200, address
        assert b"draft of" not in body, address


@pytest.mark.exhaustive
def test_cards_show_people_beside_the_draft_and_why(fake: FakeLLM) -> None:
    bench = rated_bench()
    draft = tried(bench, fake, targets=5)
    found = showing.cards(bench, judged(draft), list(bench.targets.all()))
    assert len(found) == 5
    for card in found:
        overall = next(one for one in card.answers if one.people)
        assert [name for name, _ in overall.people] == ["ann", "ben"]
        assert len(card.calls) == 1
        assert len(overall.judge) == 1
        assert card.lines[-1].position == card.rated


@pytest.mark.exhaustive
def test_disagreements_are_those_of_unequal_answers_largest_first_and_filtered(fake: FakeLLM) -> None:
    fake.model.noise = 0.6
    bench = rated_bench()
    draft = tried(bench, fake, targets=None)
    found = sheets(bench, [judged(draft)])
    listed = versions.differences(found, judged(draft))
    overall = found[0].ratings
    own, people = overall.values[:, overall.column("draft 1")], overall.values[:, :2]
    assert len(listed) == int((np.abs(people - own[:, None]).sum(axis=1) > 0).sum()) > 5
    assert [one.share for one in listed] == sorted((one.share for one in listed), reverse=True)
    higher = versions.differences(found, judged(draft), direction="higher")
    assert {one.item for one in higher} == {
        found[0].items[row] for row in np.flatnonzero(own > people.mean(axis=1))
    }
    assert versions.differences(found, judged(draft), system="human") == []
    assert len(versions.differences(found, judged(draft), system="secret-model")) == len(listed)


def marked(fake: FakeLLM, verdict: str = "people_wrong", note: str = "=1+1") -> Mark:
    bench = rated_bench()
    draft = tried(bench, fake, targets=5)
    item = Item.objects.get(pk=bench.targets.get(position=0).item_id)
    question = Question.objects.get(pk=bench.questions["overall"])
    return marks.mark(
        by=factories.user("rea"),
        bench=bench,
        judged=judged(draft),
        item=item,
        question=question,
        verdict=verdict,
        note=note,
    )


@pytest.mark.exhaustive
def test_a_mark_is_appended_counted_undone_and_exported(fake: FakeLLM) -> None:
    first = marked(fake)
    bench = first.bench
    again = {
        "by": first.created_by,
        "bench": bench,
        "judged": judged(Draft.objects.get()),
        "item": first.item,
        "question": first.question,
    }
    assert marks.mark(**again, verdict="people_wrong", note="=1+1") == first
    marks.mark(**again, verdict="unclear")
    assert marks.counts(bench) == {"judge_wrong": 0, "people_wrong": 0, "unclear": 1}
    marks.mark(**again, verdict="people_wrong", note="=1+1")
    rows = list(csv.DictReader(io.StringIO(marks.render_marks(bench, "csv"))))
    assert [(row["verdict"], row["note"], row["by"]) for row in rows] == [("people_wrong", "'=1+1", "rea")]
    assert json.loads(marks.render_marks(bench, "json"))["marks"][0]["note"] == "=1+1"
    marks.mark(**again, verdict="withdrawn")
    assert marks.current_marks(bench) == {}
    assert Mark.objects.count() == 4
    with pytest.raises(WorkbenchRefused, match="no mark that could be withdrawn"):
        marks.mark(**again, verdict="withdrawn")
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        Mark.objects.update(note="other")
    first.created_by.delete()  # type: ignore[union-attr]
    assert Mark.objects.filter(created_by=None).count() == 4


@pytest.mark.exhaustive
def test_only_what_stands_as_people_wrong_goes_to_adjudication_and_waits_once(fake: FakeLLM) -> None:
    mark = marked(fake)
    row = marks.send_to_adjudication(by=None, mark=mark)
    assert marks.send_to_adjudication(by=None, mark=mark) == row
    assert [one.reason for one in marks.waiting()] == ["=1+1"]
    marks.withdraw(by=None, row=row)
    assert not marks.waiting()
    assert marks.send_to_adjudication(by=None, mark=mark) != row
    assert ForAdjudication.objects.count() == 2
    mark.verdict = "judge_wrong"
    with pytest.raises(WorkbenchRefused, match="Only what is marked"):
        marks.send_to_adjudication(by=None, mark=mark)


@pytest.mark.exhaustive
def test_versions_stand_side_by_side_and_those_thrown_away_count_in_the_correction(fake: FakeLLM) -> None:
    bench = rated_bench(24)
    fake.model.noise = 0.3
    first = tried(bench, fake)
    fake.model.seed = 1
    second = tried(bench, fake, OTHER)
    fake.model.seed = 2
    third = tried(bench, fake, OWN)
    draft_actions.discard(by=None, draft=third)
    found = versions.side_by_side(bench, f"draft-{first.number}", FEW)
    assert ([one.name for one in found.judged], found.tried) == (["draft 2", "draft 1"], 3)
    table = found.tables[0]
    row = next(one for one in table.rows if one.judged.draft == second)
    assert row.compared is not None
    assert row.compared.p_holm.value == pytest.approx(min(1, 2 * (row.compared.p.value or 0)))
    assert "1 tried before" in row.compared.p_holm.method
    assert table.best is not None
    assert (table.best.n, table.best.corrected.n_items) == (3, 20)
    kept = draft_actions.keep(by=None, draft=second, name="other")
    again = versions.side_by_side(bench, f"draft-{first.number}", FEW)
    assert [one.name for one in again.judged] == ["other@1", "draft 1"]
    assert again.tried == 3
    same = next(one for one in again.tables[0].rows if one.judged.draft == kept)
    assert same.value.value == row.value.value


@pytest.mark.exhaustive
def test_a_judge_that_ran_by_itself_stands_beside_and_counts_as_tried(fake: FakeLLM) -> None:
    from judges.runs.plans import Judge
    from tests.judges.helpers import begin

    bench = rated_bench()
    draft = tried(bench, fake)
    begin(bench.corpus, Judge("cpdscore_simple", endpoint=draft.endpoint), split=bench.split, part="dev")
    finish()
    assert len(judged_on(bench)) == 2
    assert versions.side_by_side(bench, plan=FEW).tried == 2


@pytest.mark.exhaustive
def test_judges_from_elsewhere_take_no_comparison_from_those_thrown_away(fake: FakeLLM) -> None:
    bench = rated_bench(24)
    first = tried(bench, fake)
    fake.model.seed = 1
    second, third = tried(bench, fake, OTHER), tried(bench, fake, OWN)
    question = Question.objects.get(pk=bench.questions["overall"])
    items = Item.objects.filter(pk__in=list(items_of(bench)))
    elsewhere = raters.imported_rater(corpus=bench.corpus, kind="judge", name="from a paper")
    answers = [Answer(item, question, float(3 + item.pk % 2)) for item in items]
    record(rater=elsewhere, answers=answers, occasion=Occasion.IMPORTED)
    for draft in (second, third):
        draft_actions.discard(by=None, draft=draft)
    found = versions.side_by_side(bench, f"draft-{first.number}", FEW)
    (row,) = (one for one in found.tables[0].rows if one.compared is not None)
    assert row.judged.name == "from a paper"
    assert row.compared is not None
    assert row.compared.p_holm.value == pytest.approx(min(1, 3 * (row.compared.p.value or 0)))
    assert "2 tried before" in row.compared.p_holm.method


@pytest.mark.exhaustive
def test_asking_again_tells_how_consistent_a_draft_is(fake: FakeLLM) -> None:
    bench = rated_bench()
    draft = tried(bench, fake, targets=5)
    assert checks.finding(draft, "consistency").reason == "It answered each item once."
    assert checks.cost(draft, "consistency").calls == 10
    checks.start(by=None, draft=draft, key="consistency")
    finish()
    draft.refresh_from_db()
    found = checks.finding(draft, "consistency", plan=FEW)
    assert found.figures[0].result.value == 1.0
    assert "gives the same answer to 100% of pairs of calls" in found.sentence


@pytest.mark.exhaustive
def test_rewordings_are_drafts_of_the_draft_that_show_what_was_changed(fake: FakeLLM) -> None:
    bench = rated_bench()
    draft = tried(bench, fake, targets=5)
    assert checks.cost(draft, "rewordings").calls == 15
    made = checks.start(by=None, draft=draft, key="rewordings")
    finish()
    assert len(made) == 3
    found = checks.finding(draft, "rewordings", plan=FEW)
    assert [one.change["title"] for one in found.tried] == [one.change["title"] for one in made]
    shares = [one.result.value for one in found.figures if one.title == "The same answer"]
    assert shares == [1.0] * 3 * 6
    assert [one.draft for one in judged_on(bench)] == [draft]
    assert versions.side_by_side(bench, plan=FEW).tried == 1
    with pytest.raises(WorkbenchRefused, match="fewer than two worked examples"):
        checks.start(by=None, draft=draft, key="examples")


@pytest.mark.exhaustive
def test_biases_are_computed_from_what_is_there(fake: FakeLLM) -> None:
    fake.model.noise = 0.5
    bench = rated_bench()
    draft = tried(bench, fake, KINDER, None)
    for key in ("length", "turns"):
        found = checks.finding(draft, key, plan=FEW)
        assert [figure.question for figure in found.figures] == [found.figures[0].question]
        assert found.figures[0].result.n_items == 24
    for turn in Turn.objects.all():
        Turn.objects.filter(pk=turn.pk).update(text="好" * (1 + turn.pk % 7))
    length = checks.finding(draft, "length", plan=FEW)
    assert length.figures[0].title == "Points per doubling"
    assert "it rates longer texts " in length.sentence
    assert checks.finding(draft, "family").reason.startswith("Say which systems")
    own = checks.finding(draft, "family", own=["secret-model"], plan=FEW)
    assert own.figures[0].result.status == "undefined"
    assert draft.endpoint is not None
    draft.endpoint.family = "GPT"
    assert "of the family GPT" in checks.finding(draft, "family").reason
    set_families(by=None, corpus=bench.corpus, families={"secret-model": "gpt"})
    assert checks.finding(draft, "family", plan=FEW) == own


@pytest.mark.exhaustive
def test_every_page_of_a_bench_answers_before_and_after_a_draft(fake: FakeLLM, client: Client) -> None:
    client.force_login(factories.user("rea", researcher=True))
    bench = rated_bench()
    pages = [f"/workbench/{bench.pk}/{room}" for room in ("", "disagreements/", "versions/", "checks/")]
    lists = (f"/corpora/{bench.corpus.name}/judges/", f"/adjudication/?corpus={bench.corpus_id}")
    for address in (*lists, *pages):
        assert client.get(address).status_code == 200, address
    draft = tried(bench, fake, targets=5)
    for address in (*pages, f"/workbench/{bench.pk}/drafts/1/", f"/workbench/{bench.pk}/?draft=1"):
        assert client.get(address).status_code == 200, address
    assert b"5 of 5" in client.get(f"/workbench/{bench.pk}/").content
    assert client.get(f"/workbench/{bench.pk}/?from=nothing@9").status_code == 200
    assert client.get(f"/workbench/{bench.pk}/versions/?with=draft-9").status_code == 422
    bad = {"system": "$notice", "user": "no response", "items": "5", "begin": "", "samples": "1"}
    refused = client.post(f"/workbench/{bench.pk}/", bad | {"endpoint": str(draft.endpoint_id), "form": ""})
    assert refused.status_code == 422

"""Lists: sorted by their headings, narrowed to what is typed, and refreshed without losing either."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models.corpora import Import
from jobs.models import Job
from tests import factories
from tests.browser.barriers import Sound

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def names(page) -> list[str]:
    return page.locator("#list tbody tr th").all_inner_texts()


def test_a_list_is_sorted_by_its_headings_and_narrowed(page_of) -> None:
    factories.corpus("Talks 10")
    for number in range(9):
        corpus = factories.corpus(f"Talks {number}")
        dialogues = (number * 4) % 9
        Import.objects.create(corpus=corpus, format="jsonl", counts={"dialogues": dialogues, "items": 0})
    page = page_of(factories.user("rosa", researcher=True))
    page.goto("/corpora/")
    page.get_by_role("link", name="Dialogues").click()
    expect(page.get_by_role("columnheader", name="Dialogues")).to_have_attribute("aria-sort", "ascending")
    expect(page.get_by_role("link", name="Dialogues")).to_be_focused()
    counts = [int(text) for text in page.locator("#list tbody td:nth-child(2)").all_inner_texts()]
    assert counts == sorted(counts) == [0, *range(9)]
    page.get_by_role("link", name="Dialogues").click()
    expect(page.get_by_role("columnheader", name="Dialogues")).to_have_attribute("aria-sort", "descending")
    assert names(page)[0] == "Talks 2", "the most dialogues come first"
    page.get_by_role("link", name="Corpus", exact=True).click()
    expect(page.get_by_role("columnheader", name="Corpus")).to_have_attribute("aria-sort", "ascending")
    assert names(page) == [*(f"Talks {number}" for number in range(9)), "Talks 10"]
    page.get_by_role("searchbox", name="Filter the list").press_sequentially("talks 7")
    expect(page.locator("#list tbody tr")).to_have_count(1)
    assert names(page) == ["Talks 7"]
    assert page.url.endswith("?text=talks%207&sort=corpus")
    sound = Sound()
    sound.look("a sorted list", page)
    assert sound.wrong == []
    page.go_back()
    expect(page.get_by_role("columnheader", name="Dialogues")).to_have_attribute("aria-sort", "descending")


def test_a_list_that_fetches_itself_anew_stays_sorted_and_filtered(page_of) -> None:
    for number in range(9):
        Job.objects.create(kind="export", subject=f"file {number}")
    page = page_of(factories.user("rosa", researcher=True))
    page.goto("/jobs/?sort=asked-for&text=file+1")
    expect(page.locator("#list tbody tr")).to_have_count(1)
    Job.objects.filter(subject="file 1").update(subject="file 1, renamed")
    expect(page.locator("#list tbody")).to_contain_text("renamed", timeout=15_000)
    expect(page.get_by_role("columnheader", name="Asked for")).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("#list tbody tr")).to_have_count(1)


def test_selected_rows_stay_selected_and_an_act_on_them_is_told_over_the_page(page_of) -> None:
    for number in range(3):
        Job.objects.create(kind="export", subject=f"file {number}", state="failed")
    running = Job.objects.create(kind="import", subject="talks")
    page = page_of(factories.user("rosa", researcher=True))
    page.goto("/jobs/?sort=job")
    for row in Job.objects.filter(kind="export")[:2]:
        page.get_by_label(f"Select export job {row.pk}").check()
    Job.objects.filter(pk=running.pk).update(note="half way")
    expect(page.locator("#list tbody")).to_contain_text("half way", timeout=15_000)
    assert page.locator("[name=selected]:checked").count() == 2
    page.get_by_label(f"Select import job {running.pk}").check()
    page.locator("#bulk-retry").click()
    status = page.get_by_role("status")
    expect(status).to_contain_text("2 jobs queued again.")
    expect(status).to_contain_text(f"Job {running.pk} (import) was not queued again.")
    assert page.locator("[name=selected]:checked").count() == 0
    assert page.url.endswith("/jobs/?sort=job")
    assert Job.objects.filter(kind="export", state="queued").count() == 2
    sound = Sound()
    sound.look("a list after a bulk act", page)
    assert sound.wrong == []

"""Prompts on the pages: copied, edited, compared, exported; errors are shown at their field."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from django.test import Client

from annotation.corpora import splits
from jobs.models import Run
from judges.models import Prompt, PromptVersion
from judges.prompts import prompt_actions, versions
from judges.protocols import Wording
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, small_corpus
from tests.judges.test_prompt_examples import rated
from tests.judges.test_prompt_versions import KINDER, SIMPLE, own

pytestmark = pytest.mark.django_db
BUILT_IN = "cpdscore_simple_without_reference@1"
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(factories.user("rea", researcher=True))
    return client


def text_of(response: Any) -> str:
    return response.content.decode()


def entered(system: str, user: str, **more: str) -> dict[str, str]:
    return {"system": system, "user": user.replace("\n", "\r\n"), "note": "", **more}


def test_a_built_in_prompt_is_copied_edited_and_saved(page: Client) -> None:
    assert "Copy and edit" in text_of(page.get("/prompts/"))
    address = f"/prompts/new/?from={BUILT_IN}"
    assert "the response that is judged" in text_of(page.get(address))
    sent = entered(SIMPLE.wording.system, f"{SIMPLE.wording.user}\nBe kind.", name="kinder", description="")
    saved = page.post(address, sent, follow=True)
    assert saved.redirect_chain == [("/prompts/kinder/1/", 302)]
    row = PromptVersion.objects.get()
    assert (row.parent, row.origin, row.created_by.username) == (BUILT_IN, "copied", "rea")
    assert "\r" not in row.text.user
    assert '<b class="s1">$context</b>' in text_of(saved)
    assert "kinder" in text_of(page.get("/prompts/"))


def test_what_is_wrong_stands_beside_its_field_and_nothing_is_lost(page: Client) -> None:
    own()
    sent = entered("$notice", "$response\n$contxt and $5\n& my words", note="for <b>humour</b>")
    refused = page.post("/prompts/kinder/1/edit/", sent)
    shown = text_of(refused)
    assert refused.status_code == 422
    assert "The user part, line 2: there is no variable $contxt" in shown
    assert "The user part, line 2: a dollar sign without a variable&#x27;s name" in shown
    assert "&amp; my words" in shown
    assert "for &lt;b&gt;humour&lt;/b&gt;" in shown
    assert PromptVersion.objects.count() == 1


def test_a_stale_page_saves_the_next_version_beside_the_others(page: Client) -> None:
    first = own()
    for number in (2, 3):
        prompt_actions.add_version(
            by=None, prompt=first.prompt, wording=Wording("$notice", f"{number} $response")
        )
    assert "There is a later version" in text_of(page.get("/prompts/kinder/2/edit/"))
    saved = page.post("/prompts/kinder/2/edit/", entered("$notice", "mine $response"), follow=True)
    assert saved.redirect_chain[-1][0] == "/prompts/kinder/4/"
    assert "made from kinder@2. Meanwhile kinder@3 was saved" in text_of(saved)
    assert PromptVersion.objects.get(number=4).parent == "kinder@2"
    assert versions.find("kinder@3").wording.user == "3 $response"


def test_every_field_says_at_once_what_is_wrong_with_it(page: Client) -> None:
    refused = page.post(f"/prompts/new/?from={BUILT_IN}", entered("$nothing", "$context", name="***"))
    errors = refused.context["form"].errors
    assert "cannot be a prompt's name" in errors["name"][0]
    assert "there is no variable $nothing" in errors["system"][0]
    told = [error.partition(":")[0] for error in errors["user"]]
    assert told == ["$notice is missing", "$response is missing"]


@pytest.mark.parametrize(
    ("sent", "field", "told"),
    [
        ({"rule": "by_hand"}, "keys", "Name the items"),
        ({"rule": "by_hand", "keys": "x", "whole": "on"}, "keys", "is not an item key"),
        ({"rule": "balanced"}, "whole", "has no split"),
    ],
)
def test_what_keeps_examples_from_being_picked_stands_beside_its_field(
    page: Client, sent: dict[str, str], field: str, told: str
) -> None:
    own()
    corpus = small_corpus(2)
    if sent["rule"] == "by_hand":
        splits.draw(corpus=corpus, by=None)
    refused = page.post("/prompts/kinder/1/examples/", {"corpus": corpus.pk} | sent)
    assert told in refused.context["form"].errors[field][0]


def test_a_name_that_is_taken_is_said_beside_the_name(page: Client) -> None:
    own()
    sent = entered(KINDER.system, KINDER.user, name="kinder", description="")
    refused = page.post(f"/prompts/new/?from={BUILT_IN}", sent)
    assert (refused.status_code, Prompt.objects.count()) == (422, 1)
    assert "There is already a prompt" in text_of(refused)


def test_the_difference_marks_words_by_more_than_colour(page: Client) -> None:
    first = own(wording=Wording("$notice", "one\nBe very kind to all.\n$response"))
    prompt_actions.add_version(
        by=None,
        prompt=first.prompt,
        wording=Wording("$notice", "one\nBe rather kind to all.\n$response\nend"),
    )
    shown = text_of(page.get("/prompts/diff/?a=kinder@1&b=kinder@2"))
    assert 'Be <del class="s2">very</del> kind to all.' in shown
    assert 'Be <ins class="s3">rather</ins> kind to all.' in shown
    assert '<ins class="s3">end</ins>' in shown
    assert page.get("/prompts/diff/?a=kinder@1&b=none").status_code == 404


def test_an_archived_prompt_is_folded_away_and_not_offered_for_runs(page: Client) -> None:
    own()
    corpus = small_corpus(1)
    assert "kinder@1 (cpdscore_simple)" in text_of(page.get(f"/runs/new/?corpus={corpus.pk}"))
    page.post("/prompts/kinder/archive/")
    assert "Archived (1)" in text_of(page.get("/prompts/"))
    assert "kinder@1" not in text_of(page.get(f"/runs/new/?corpus={corpus.pk}"))
    page.post("/prompts/kinder/archive/")
    assert not Prompt.objects.get().archived


@pytest.mark.django_db(transaction=True)
def test_a_run_is_started_with_a_version_after_its_exact_request_was_seen(
    page: Client, fake: FakeLLM
) -> None:
    own()
    corpus, endpoint = small_corpus(1), endpoint_of(fake)
    address = f"/runs/new/?corpus={corpus.pk}"
    sent = {"judge-judge": "kinder@1", "judge-endpoint": endpoint.pk, "judge-samples": 1}
    seen = text_of(page.post(address, sent | {"item": "d0/c/2"}))
    assert "{&quot;model&quot;:&quot;fake-1&quot;,&quot;messages&quot;:" in seen
    assert "Be kind." in seen
    page.post(address, sent | {"confirmed": "1"})
    run = Run.objects.get()
    assert run.rater.spec["prompt"] == "kinder@1"
    assert '<a href="/prompts/kinder/1/">kinder@1</a>' in text_of(page.get(f"/runs/{run.pk}/"))
    assert f'<a href="/runs/{run.pk}/">' in text_of(page.get("/prompts/kinder/1/"))
    assert "was used by a judge and stays" in text_of(page.post("/prompts/kinder/1/delete/", follow=True))


def test_a_run_of_a_built_in_judge_links_to_its_text(page: Client, fake: FakeLLM) -> None:
    run = begin(small_corpus(1), Judge("cpdscore_simple", endpoint=endpoint_of(fake)))
    assert f">{BUILT_IN}</a>" in text_of(page.get(f"/runs/{run.pk}/"))
    assert f'<a href="/runs/{run.pk}/">' in text_of(page.get(f"/prompts/{BUILT_IN.replace('@', '/')}/"))


def test_the_request_of_a_version_and_of_a_draft(page: Client) -> None:
    own()
    corpus = small_corpus(1)
    asked = {"ref": "kinder@1", "corpus": corpus.pk, "item": "d0/c/2"}
    shown = text_of(page.get("/prompts/request/", asked))
    assert "not known: no endpoint is chosen" in shown
    assert "You are kind." in shown
    drafted = text_of(page.post("/prompts/request/", asked | entered("$notice", "Draft: $response")))
    assert "Draft: &lt;&lt;&lt;BEGIN RESPONSE&gt;&gt;&gt;" in drafted
    assert 'name="user" value="Draft: $response"' in drafted
    faulty = page.post("/prompts/request/", {"ref": "kinder@1"} | entered("$notice", "$nothing & mine"))
    assert (faulty.status_code, 'action="/prompts/kinder/1/edit/"' in text_of(faulty)) == (422, True)
    assert "$nothing &amp; mine" in text_of(faulty)
    wrong = page.get("/prompts/request/", asked | {"item": "d0/c/99"})
    assert "There is no item" in text_of(wrong)
    assert PromptVersion.objects.count() == 1


def test_examples_are_picked_on_a_page_and_shown_with_the_version(page: Client) -> None:
    own()
    corpus = rated(2)
    how = {"corpus": corpus.pk, "rule": "balanced", "n": 2, "keys": "", "seed": 0}
    refused = page.post("/prompts/kinder/1/examples/", how)
    assert "has no split" in text_of(refused)
    saved = page.post("/prompts/kinder/1/examples/", how | {"whole": "on"}, follow=True)
    assert saved.redirect_chain[-1][0] == "/prompts/kinder/2/"
    assert "Worked examples" in text_of(saved)
    kept = page.post(
        "/prompts/kinder/2/edit/", entered("$notice", "$response now", keep_examples="on"), follow=True
    )
    assert kept.redirect_chain[-1][0] == "/prompts/kinder/3/"
    assert versions.find("kinder@3").wording.examples == versions.find("kinder@2").wording.examples
    page.post("/prompts/kinder/3/edit/", entered("$notice", "$response now"))
    assert versions.find("kinder@4").wording.examples == ()


@pytest.mark.parametrize("form", ["yaml", "md"])
def test_a_prompt_is_exported_and_imported(page: Client, form: str) -> None:
    own("kind er")
    answer = page.get(f"/prompts/kind er/export.{form}")
    assert (
        f"kind%20er{'@1' if form == 'md' else ''}.{form}".replace("@", "%40") in answer["Content-Disposition"]
    )
    page.post("/prompts/import/", {"file": BytesIO(answer.content), "name": "theirs"})
    assert versions.find("theirs@1").wording == KINDER
    refused = page.post("/prompts/import/", {"file": BytesIO(b"a: &x 1\nb: *x"), "name": ""})
    assert (refused.status_code, "line 1: anchors and aliases" in text_of(refused)) == (422, True)


def test_hostile_names_notes_and_texts_are_shown_as_text(page: Client) -> None:
    wording = Wording(f"$notice {EVIL}", f"$response {EVIL}\n</pre></textarea>{EVIL}")
    first = prompt_actions.create(
        by=None,
        name="x",
        protocol="cpdscore_simple",
        variant="without_reference",
        wording=wording,
        note=EVIL,
        description=EVIL,
        parent=EVIL,
    )
    changed = Wording(wording.system, f"{wording.user} {EVIL}")
    prompt_actions.add_version(by=None, prompt=first.prompt, wording=changed, parent="x@1", note=EVIL)
    corpus = small_corpus(1)
    for address in (
        "/prompts/",
        "/prompts/x/",
        "/prompts/x/1/",
        "/prompts/x/2/edit/",
        "/prompts/diff/?a=x@1&b=x@2",
        f"/prompts/request/?ref=x@2&corpus={corpus.pk}&item=d0/c/1",
        "/prompts/new/?from=x@2",
    ):
        shown = text_of(page.get(address))
        assert EVIL not in shown, address
        assert "</textarea><" not in shown, address
    assert page.get("/prompts/new/?from=<script>").status_code == 404


def test_an_unused_version_is_deleted_and_the_prompt_with_its_last_one(page: Client) -> None:
    own()
    assert page.post("/prompts/kinder/1/delete/")["Location"] == "/prompts/"
    assert not Prompt.objects.exists()
    shown = page.post(f"/prompts/{BUILT_IN.replace('@', '/')}/delete/", follow=True)
    assert "comes with Concord and cannot be changed: copy it" in text_of(shown)

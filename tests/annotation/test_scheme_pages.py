"""Pages of schemes: creation in the editor, preview, saved versions, and lists."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from annotation import scheme_actions, scheme_store
from annotation.models import Scheme, SchemeVersion
from annotation.pages.scheme_draft import draft_of
from annotation.schemes.files import definition_from, read, write
from annotation.schemes.rules import MOST_QUESTIONS, MOST_VALUES
from tests import factories
from tests.annotation.test_previews import json_in, read_only
from tests.annotation.test_scheme_editor import sent

pytestmark = pytest.mark.django_db
POLITE = {
    "scheme": "polite",
    "title": "Politeness",
    "item_kind": "turn",
    "questions": [
        {"key": "polite", "wording": "How polite?", "level": "ordinal", "values": [1, 2, 3]},
        {"key": "why", "wording": "Why?", "level": "text", "show_if": {"question": "polite", "max": 1}},
    ],
}


@pytest.fixture
def rosa(client):
    rosa = factories.user("rosa", researcher=True)
    client.force_login(rosa)
    return rosa


@pytest.fixture
def saved(rosa):
    return scheme_actions.create(by=rosa, definition=definition_from(POLITE))


def form(definition=None, **changes):
    """Return what the editor's form posts for a definition."""
    data = sent(draft_of(definition or definition_from(POLITE)))
    for name, value in changes.items():
        data[name.replace("__", "-")] = value
    return data


def post(client, data, do, address=None, **extra):
    data["do"] = do
    return client.post(
        address or reverse("new-scheme"), data.urlencode(), "application/x-www-form-urlencoded", **extra
    )


def test_a_scheme_is_made_in_the_editor_and_found_on_its_pages(client, rosa):
    answer = post(client, form(key=""), "save")
    assert answer.url == reverse("scheme", args=["politeness"])
    page = client.get(answer.url).content.decode()
    assert "Politeness is saved." in page
    assert "only after polite: 1" in page
    assert ">Politeness</a>" in client.get(reverse("schemes")).content.decode()


def test_problems_stand_beside_their_fields_and_nothing_is_saved(client, rosa):
    answer = post(client, form(title="", q1__key="Bad Key", q2__after="q9"), "save")
    assert answer.status_code == 422
    page = answer.content.decode()
    for place in ("scheme-title", "q1-key", "q2-after"):
        assert re.search(rf'id="{place}-problems"\s*><li>', page), place
    assert "Give the scheme a title." in page
    assert "3 problems" in page
    assert not Scheme.objects.filter(key="polite").exists()


def test_typing_is_checked_without_saving_and_lets_the_preview_follow(client, rosa):
    good = post(client, form(), "check", HTTP_HX_REQUEST="true")
    assert "concord:previewable" in json.loads(good["HX-Trigger-After-Settle"])
    bad = post(client, form(q1__wording=""), "check", HTTP_HX_REQUEST="true")
    assert "HX-Trigger-After-Settle" not in bad
    assert "Say what is asked." in bad.content.decode()
    assert not Scheme.objects.filter(key="polite").exists()


def test_a_question_that_was_just_added_is_not_blamed_for_being_empty(client, rosa):
    page = post(client, form(), "add", HTTP_HX_REQUEST="true").content.decode()
    assert "Question 3" in page
    assert "Say what is asked." not in page


def test_saving_says_whether_a_version_is_new_or_rewritten(client, rosa, saved):
    address = reverse("edit-scheme", args=["polite"])

    def save(**changes):
        base = SchemeVersion.objects.filter(scheme__key="polite").order_by("-version")[0].pk
        return client.get(post(client, form(base=str(base), **changes), "save", address).url).content.decode()

    assert "Nothing has changed" in save()
    assert "Version 1 is rewritten: nobody had used it." in save(title="Manners")
    factories.campaign(_corpus(), "polite", by=rosa, opened=False)
    page = save(title="Manners, again")
    assert "Version 2 was created: version 1 is in use and cannot change." in page
    assert "Scheme, title: “Manners” → “Manners, again”" in page


def test_the_second_of_two_who_save_is_told_and_may_save_on_top(client, rosa, saved):
    address, seen = reverse("edit-scheme", args=["polite"]), str(saved.pk)
    post(client, form(title="First", base=seen), "save", address)
    answer = post(client, form(title="Second", base=seen), "save", address)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Somebody saved version 1 meanwhile" in page
    assert "Saving again adds yours after it" in page
    assert Scheme.objects.get(key="polite").title == "First"
    newest = SchemeVersion.objects.get(scheme__key="polite").pk
    assert f'name="base" value="{newest}"' in page
    post(client, form(title="Second", base=str(newest)), "save", address)
    assert Scheme.objects.get(key="polite").title == "Second"


def test_a_posted_key_does_not_rename_a_scheme(client, rosa, saved):
    data = form(key="other", title="Renamed", base=str(saved.pk))
    post(client, data, "save", reverse("edit-scheme", args=["polite"]))
    assert list(Scheme.objects.values_list("key", "title")) == [("polite", "Renamed")]


def test_the_same_editor_takes_yaml_and_tells_every_problem_with_its_line(client, rosa):
    text = post(client, form(), "as-yaml").content.decode()
    assert "scheme: polite" in text
    good = write(definition_from(POLITE))
    bad = good.replace("level: ordinal", "level: ordinary")
    told = client.post(reverse("new-scheme"), {"as": "yaml", "text": bad, "do": "save"})
    assert told.status_code == 422
    assert "There is no level “ordinary”" in told.content.decode()
    line = 1 + next(n for n, text in enumerate(bad.splitlines()) if "ordinary" in text)
    assert f"line {line}, question 1 (polite), level" in told.content.decode()
    back = client.post(reverse("new-scheme"), {"as": "yaml", "text": good, "do": "as-form"}).content.decode()
    assert "How polite?" in back
    assert client.post(reverse("new-scheme"), {"as": "yaml", "text": good, "do": "save"}).status_code == 302


def test_what_is_exported_is_imported_as_a_file(client, rosa, saved):
    from django.core.files.uploadedfile import SimpleUploadedFile

    for kind in ("yaml", "json"):
        answer = client.get(reverse("export-scheme", args=["polite", kind]))
        assert read(answer.content) == definition_from(POLITE)
        assert f"polite_v1.{kind}" in answer["Content-Disposition"]
        file = SimpleUploadedFile(
            f"x.{kind}", answer.content.replace(b"polite", f"polite_{kind}".encode(), 1)
        )
        client.post(reverse("new-scheme"), {"as": "yaml", "file": file, "do": "save"})
        assert Scheme.objects.filter(key=f"polite_{kind}").exists()


def test_the_preview_of_what_is_in_the_editor_leaves_nothing(client, rosa):
    corpus = _corpus()
    read_only()
    for example, said in (("", "Vienna"), (str(corpus.pk), "as it was")):
        page = post(client, form(example=example), "", reverse("scheme-preview"))
        assert page["X-Frame-Options"] == "SAMEORIGIN"
        state = json_in(page.content.decode(), "state")
        assert said in state["html"]
        assert [one["key"] for one in json_in(page.content.decode(), "questions")] == ["polite", "why"]
    refused = post(client, form(q1__wording=""), "", reverse("scheme-preview"))
    assert "No preview yet" in refused.content.decode()
    assert refused["X-Frame-Options"] == "SAMEORIGIN"


def test_a_built_in_scheme_is_read_previewed_and_copied_but_not_edited(client, rosa):
    read_only()
    page = client.get(reverse("scheme", args=["comperdial_dialogue"])).content.decode()
    assert "built in" in page
    assert client.get(reverse("scheme-screen", args=["comperdial_dialogue"])).status_code == 200
    copy = client.get(reverse("edit-scheme", args=["comperdial_dialogue"]), follow=True).content.decode()
    assert "Quality of all responses, 1 to 5 (copy)" in copy
    assert re.search(r'id="scheme-key" name="key" [^>]* value="">', copy)


def test_a_scheme_is_archived_and_comes_back(client, rosa, saved):
    address = reverse("archive-scheme", args=["polite"])
    client.post(address)
    assert "Archived (1)" in client.get(reverse("schemes")).content.decode()
    client.post(address)
    assert "Archived" not in client.get(reverse("schemes")).content.decode()


def test_a_corpus_s_imported_questions_begin_a_scheme_in_the_editor(client, rosa):
    corpus = factories.corpus("a/b talks")
    imported = definition_from(POLITE | {"questions": POLITE["questions"][:1]})
    scheme_store.store(definition=replace(imported, key=f"corpus:{corpus.name}:turn"))
    page = client.get(reverse("scheme-from-corpus")).content.decode()
    address = f"{reverse('new-scheme')}?corpus={corpus.pk}&kind=turn"
    assert address.replace("&", "&amp;") in page
    editor = client.get(address).content.decode()
    assert "How polite?" in editor
    assert 'value="Questions of a/b talks"' in editor
    assert client.get(address.replace("turn", "dialogue")).status_code == 200
    assert list(Scheme.objects.exclude(key__contains=":")) == []


def test_what_is_not_there_is_not_found(client, rosa, saved):
    for path in (
        "gone/",
        "gone/edit/",
        "polite/?version=9",
        "polite/?version=x",
        "corpus:x:turn/",
        "new_scheme/",
    ):
        assert client.get(f"/schemes/{path}").status_code == 404, path
    assert client.get("/schemes/polite/export/exe/").status_code == 404
    assert client.get("/schemes/new-scheme/?from=gone").status_code == 404


def test_the_editor_takes_as_many_questions_and_values_as_a_scheme_may_have(client, rosa):
    question = {"wording": "Which?", "level": "ordinal", "values": [1, 2, 3]}
    most = [question | {"key": f"k{number}"} for number in range(MOST_QUESTIONS)]
    assert post(client, form(definition_from(POLITE | {"questions": most})), "save").status_code == 302
    assert SchemeVersion.objects.get(scheme__key="polite").questions.count() == MOST_QUESTIONS
    fields_of_a_question = 30
    assert MOST_QUESTIONS * (fields_of_a_question + 2 * MOST_VALUES) < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS


def test_what_an_error_or_a_hint_is_about_names_it_and_is_on_the_page(client, rosa):
    answer = post(client, form(title="", q1__key="Bad Key"), "save")
    for page in (answer, client.get(f"{reverse('new-scheme')}?as=yaml")):
        text = page.content.decode()
        ids = set(re.findall(r'\sid="([^"]+)"', text))
        described = set(" ".join(re.findall(r'aria-describedby="([^"]+)"', text)).split())
        assert described <= ids
        assert set(re.findall(r'class="errorlist"\s+id="([^"]+)"\s*><li>', text)) <= described


def test_hostile_texts_are_shown_as_text(client, rosa):
    evil = "</textarea><script>alert(1)</script>"
    page = post(client, form(title=evil, q1__wording=evil, q1__key=evil), "check-nothing").content.decode()
    assert "<script>alert" not in page
    preview = post(client, form(title=evil, q1__wording=evil), "", reverse("scheme-preview")).content.decode()
    assert "<script>alert" not in preview


def test_an_annotator_sees_no_scheme(client, saved):
    other = Client()
    other.force_login(factories.user("ana"))
    assert other.get(reverse("scheme", args=["polite"])).status_code == 403


def _corpus():
    corpus = factories.corpus()
    dialogue = factories.dialogue(corpus, turns=2)
    factories.continuation(dialogue, "x", system="model-x", turns=[{"text": "as it was"}])
    return corpus

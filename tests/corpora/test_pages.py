"""The pages of corpora, and their permissions."""

from __future__ import annotations

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.models import Continuation, Corpus, Dialogue, Split, Upload
from config.models import Event
from tests import factories
from tests.calibration.world import world
from tests.importing.helpers import label, line

pytestmark = pytest.mark.django_db


def pages(corpus: Corpus) -> list[str]:
    dialogue = Dialogue.objects.filter(corpus=corpus).first()
    assert dialogue is not None
    return [
        reverse("corpora"),
        reverse("import-corpus"),
        reverse("corpus", args=["c"]),
        reverse("dialogue", args=[dialogue.pk]),
    ]


def text(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def file(*lines: object, name: str = "chats.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, "".join(json.dumps(one) + "\n" for one in lines).encode())


def test_strangers_are_asked_to_sign_in(client: Client, corpus: Corpus) -> None:
    for address in [*pages(corpus), reverse("delete-corpus", args=["c"])]:
        assert client.get(address).status_code == 302


def test_annotators_see_no_corpus_and_change_none(client: Client, corpus: Corpus) -> None:
    client.force_login(factories.user())
    for address in pages(corpus):
        assert client.get(address).status_code == 403
    for name in ("draw-split", "delete-corpus"):
        assert client.post(reverse(name, args=["c"])).status_code == 403
    assert client.post(reverse("import-corpus"), {"file": file(line()), "name": "x"}).status_code == 403
    assert Corpus.objects.count() == 1


def test_researchers_delete_nothing(researcher: Client, corpus: Corpus) -> None:
    assert researcher.get(reverse("delete-corpus", args=["c"])).status_code == 403
    assert researcher.post(reverse("delete-corpus", args=["c"]), {"confirmation": "c"}).status_code == 403
    person = factories.user("zoe")
    assert (
        researcher.post(reverse("delete-person", args=[person.pk]), {"confirmation": "zoe"}).status_code
        == 403
    )
    assert "Delete this corpus" not in text(researcher, reverse("corpus", args=["c"]))


def test_without_a_corpus_the_list_says_what_to_do(researcher: Client) -> None:
    page = text(researcher, reverse("corpora"))
    assert "No corpus yet" in page
    assert reverse("import-corpus") in page


def test_the_list_counts_without_a_query_for_each_corpus(
    researcher: Client, corpus: Corpus, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(20):
        factories.corpus()
    with django_assert_max_num_queries(8):
        page = text(researcher, reverse("corpora"))
    assert page.count('scope="row"') == 21


def test_a_corpus_shows_its_dialogues_systems_and_imports(researcher: Client, corpus: Corpus) -> None:
    page = text(researcher, reverse("corpus", args=["c"]))
    for shown in ("d/1", "d3", "They greet.", "model-x", "human", "file.jsonl"):
        assert shown in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("text=UNUSUAL", 1),
        ("text=hello", 3),
        ("speaker=b", 3),
        ("text=hi&system=model-x", 0),
        ("text=%00hello", 3),
    ],
)
def test_turns_are_found_by_text_speaker_and_system(
    researcher: Client, corpus: Corpus, query: str, found: int
) -> None:
    page = text(researcher, f"{reverse('corpus', args=['c'])}?{query}")
    shown = "Nothing found" if not found else f"{found} turn{'s' if found > 1 else ''}\n"
    assert shown in page


def test_a_search_takes_wildcards_as_text(researcher: Client, corpus: Corpus) -> None:
    assert "Nothing found" in text(researcher, f"{reverse('corpus', args=['c'])}?text=%25")


def test_dialogues_are_found_by_system(researcher: Client, corpus: Corpus) -> None:
    everything = text(researcher, reverse("corpus", args=["c"]))
    assert ">d/1<" in everything
    assert ">d2<" in everything
    page = text(researcher, f"{reverse('corpus', args=['c'])}?system=model-x")
    assert ">d/1<" in page
    assert ">d2<" not in page


def test_a_search_that_has_not_ended_goes_on_from_where_it_is(
    researcher: Client, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.pages.corpora.PAGE_SIZE", 2)
    address = f"{reverse('corpus', args=['c'])}?text=hello"
    page = text(researcher, address)
    assert "2 turns\n" in page
    [after] = re.findall(r"[?]text=hello&amp;after=([0-9-]+)", page)
    page = text(researcher, f"{address}&after={after}")
    assert "1 turn\n" in page
    assert "Go on searching" not in page


def test_pages_of_a_corpus_are_numbered(
    researcher: Client, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.pages.corpora.PAGE_SIZE", 2)
    page = text(researcher, f"{reverse('corpus', args=['c'])}?system=human&page=2")
    assert "Page 2 of 2" in page
    assert "?system=human&amp;page=1" in page


def test_a_dialogue_shows_turns_answers_and_people_as_text(researcher: Client, corpus: Corpus) -> None:
    dialogue = Dialogue.objects.get(key="d/1")
    page = text(researcher, reverse("dialogue", args=[dialogue.pk]))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "missing (unclear)" in page
    assert '<a href="#turn-2">2</a>' in page  # the answer about the second turn, counted as the page counts
    assert 'id="turn-2"' in page
    assert "&lt;b&gt;greet" in page


def test_tags_that_nobody_set_are_folded_away_with_their_number(researcher: Client) -> None:
    built = world(dialogues=1, turns=3)
    for tag in ("off_topic", "repetition"):
        built.ask(tag, "binary", [0, 1], scheme="tags", group="Tags", positive=1)
    built.say("ann", "off_topic", [0, 1, 0])
    built.say("ann", "repetition", [0, 0, None])
    dialogue = Dialogue.objects.get(corpus=built.corpus)
    response = researcher.get(reverse("dialogue", args=[dialogue.pk]))
    assert [(entry.turn, entry.question) for entry in response.context["answers"]] == [(2, "Off topic")]
    assert response.context["answers"][0].by_kind == {"people": {"ann": ["1"]}}
    assert response.context["unset"] == {1: ["Off topic", "Repetition"], 3: ["Off topic", "Repetition"]} | {
        2: ["Repetition"]
    }
    assert "5 tags that nobody set, on 3 turns" in response.content.decode()


def test_a_link_to_a_turn_opens_the_page_that_holds_it(researcher: Client) -> None:
    made = factories.dialogue(factories.corpus(), turns=450)
    page = text(researcher, reverse("dialogue", args=[made.pk]) + "?continuation=self&turn=420")
    assert 'id="turn-420"' in page
    assert 'id="turn-400"' not in page
    assert page.count('class="turn here"') == 1


def test_a_turn_that_a_search_finds_leads_to_its_place(researcher: Client) -> None:
    made = factories.dialogue(factories.corpus("places"), turns=3)
    found = text(researcher, reverse("corpus", args=["places"]) + "?speaker=B")
    assert f"{reverse('dialogue', args=[made.pk])}?continuation=self&amp;turn=2&amp;index=1#turn-2" in found


def test_a_continuation_is_shown_after_the_history_with_its_marks(researcher: Client, corpus: Corpus) -> None:
    dialogue = Dialogue.objects.get(key="d/1")
    page = text(researcher, f"{reverse('dialogue', args=[dialogue.pk])}?continuation=model-x")
    assert "Hello" in page
    assert '<span class="mark">{laugh}</span>' in page
    assert "An &lt;i&gt;unusual&lt;/i&gt; " in page
    assert researcher.get(f"{reverse('dialogue', args=[dialogue.pk])}?continuation=nope").status_code == 404


def test_the_queries_of_a_dialogue_do_not_grow_with_its_turns(
    researcher: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    made = factories.dialogue(factories.corpus(), turns=300)
    with django_assert_max_num_queries(13):
        text(researcher, reverse("dialogue", args=[made.pk]))


def test_a_dialogue_of_static_continuations_alone_is_shown(researcher: Client) -> None:
    made = factories.dialogue(factories.corpus(), turns=0)
    factories.continuation(made, "m", system="m", mode="static", turns=[{"text": "Only this", "at": 0}])
    page = text(researcher, reverse("dialogue", args=[made.pk]))
    assert "Only this" in page
    assert "after 0 turns of the history" in page


@pytest.mark.exhaustive
def test_an_uploaded_file_becomes_a_corpus(researcher: Client, at_once: None) -> None:
    sent = {"file": file(line(labels=[label()])), "format": "jsonl", "name": "new", "licence": "CC0"}
    response = researcher.post(reverse("import-corpus"), sent, follow=True)
    page = response.content.decode()
    assert "Imported." in page
    assert "comperdial_turn" in page
    made = Corpus.objects.get(name="new")
    assert (made.licence, made.created_by.username if made.created_by else "") == ("CC0", "rea")
    assert Upload.objects.get().state == "done"


@pytest.mark.exhaustive
def test_a_refused_file_tells_line_field_and_reason(researcher: Client, at_once: None) -> None:
    sent = {
        "file": file(line(), {"id": "x", "turns": [{"speaker": "A", "text": 4}]}),
        "format": "jsonl",
        "name": "new",
    }
    page = researcher.post(reverse("import-corpus"), sent, follow=True).content.decode()
    for shown in (
        "Nothing was imported.",
        "<dt>Line</dt>",
        "turns[0].text",
        "must be a text, not a number",
        "chats.jsonl",
    ):
        assert shown in page
    assert not Corpus.objects.exists()


@pytest.mark.exhaustive
def test_a_file_is_added_to_an_existing_corpus(researcher: Client, corpus: Corpus, at_once: None) -> None:
    assert 'value="c" selected' in text(researcher, reverse("import-corpus") + "?into=c")
    sent = {"file": file(line("d9")), "format": "jsonl", "into": "c"}
    researcher.post(reverse("import-corpus"), sent)
    assert corpus.dialogues.filter(key="d9").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "sent", [{}, {"name": "a/b"}, {"name": "x", "into": "c"}, {"into": "none"}, {"format": "xml"}]
)
def test_an_unclear_form_imports_nothing(researcher: Client, corpus: Corpus, sent: dict[str, str]) -> None:
    response = researcher.post(reverse("import-corpus"), {"file": file(line()), "format": "jsonl", **sent})
    assert response.status_code == 422
    assert not Upload.objects.exists()


def test_a_file_over_the_limit_is_refused_before_it_is_read(
    researcher: Client, settings: pytest.FixtureRequest
) -> None:
    settings.UPLOAD_LIMIT_BYTES = -(2**20)  # type: ignore[attr-defined]
    response = researcher.post(reverse("import-corpus"), {"file": file(line()), "name": "x"})
    assert response.status_code == 413


def test_the_form_of_an_import_is_protected_against_other_sites(corpus: Corpus) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(factories.user(researcher=True))
    sent = {"file": file(line()), "format": "jsonl", "name": "x"}
    assert client.post(reverse("import-corpus"), sent).status_code == 403


def test_an_upload_is_seen_by_its_owner_and_administrators(client: Client) -> None:
    owner, other = factories.user(researcher=True), factories.user(researcher=True)
    upload = Upload.objects.create(by=owner, file_name="f", format="jsonl", corpus_name="x")
    for person, status in ((owner, 200), (other, 404), (factories.user(administrator=True), 200)):
        client.force_login(person)
        assert client.get(reverse("upload", args=[upload.pk])).status_code == status


@pytest.mark.exhaustive
def test_a_split_is_drawn_and_its_mistakes_told(researcher: Client, corpus: Corpus) -> None:
    address = reverse("draw-split", args=["c"])
    researcher.post(address, {"seed": "7", "test_share": "0.4"})
    assert Split.objects.get().seed == 7
    for wrong in ({"seed": "x"}, {"seed": "-1"}, {"seed": "1", "test_share": "1"}):
        page = researcher.post(address, wrong, follow=True).content.decode()
        assert "note bad" in page
    assert Split.objects.get().seed == 7


@pytest.mark.exhaustive
def test_an_administrator_deletes_a_corpus_by_typing_its_name(administrator: Client, corpus: Corpus) -> None:
    address = reverse("delete-corpus", args=["c"])
    wrong = administrator.post(address, {"confirmation": "C"})
    assert wrong.status_code == 422
    assert "type the name" in wrong.content.decode().lower()
    assert administrator.post(address, {"confirmation": "c"}).status_code == 302
    assert not Corpus.objects.exists()
    assert not Continuation.objects.exists()
    assert Event.objects.filter(verb="delete corpus", by__username="ada").exists()


@pytest.mark.exhaustive
def test_an_administrator_deletes_a_person(administrator: Client) -> None:
    person = factories.user("zoe")
    address = reverse("delete-person", args=[person.pk])
    assert "Delete zoe" in text(administrator, address)
    assert administrator.post(address, {"confirmation": "nobody"}).status_code == 422
    assert administrator.post(address, {"confirmation": "zoe"}).status_code == 302
    assert administrator.get(address).status_code == 404

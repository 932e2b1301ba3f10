"""The pages of corpora, and their permissions."""

from __future__ import annotations

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.corpora import uploads
from annotation.models import Continuation, Corpus, Dialogue, Rater, Split, Upload
from config.models import Event
from tests import factories
from tests.calibration.world import world
from tests.corpora.import_page import import_by_page, post_preview, send_file
from tests.importing.helpers import label, line

pytestmark = pytest.mark.django_db
TABS = ("dialogues", "annotation", "judges", "results", "gold", "settings")


def pages(corpus: Corpus) -> list[str]:
    dialogue = Dialogue.objects.filter(corpus=corpus).first()
    assert dialogue is not None
    return [
        reverse("corpora"),
        reverse("import-corpus"),
        reverse("corpus", args=["c"]),
        *(reverse(f"corpus-{tab}", args=["c"]) for tab in TABS),
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
    assert "Delete this corpus" not in text(researcher, reverse("corpus-settings", args=["c"]))


def test_without_a_corpus_the_list_says_what_to_do(researcher: Client) -> None:
    page = text(researcher, reverse("corpora"))
    assert "Choose a file, or drop it here" in page
    assert reverse("import-corpus") in page


def test_the_list_counts_without_a_query_for_each_corpus(researcher: Client, corpus: Corpus) -> None:
    with CaptureQueriesContext(connection) as of_one:
        text(researcher, reverse("corpora"))
    for _ in range(20):
        factories.corpus()
    with CaptureQueriesContext(connection) as of_many:
        page = text(researcher, reverse("corpora"))
    assert page.count('scope="row"') == 21
    assert len(of_many) <= len(of_one)


def test_a_corpus_shows_its_dialogues_systems_and_imports(researcher: Client, corpus: Corpus) -> None:
    page = text(researcher, reverse("corpus-dialogues", args=["c"]))
    page += text(researcher, reverse("corpus-settings", args=["c"]))
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
    page = text(researcher, f"{reverse('corpus-dialogues', args=['c'])}?{query}")
    shown = "Nothing found" if not found else f"{found} turn{'s' if found > 1 else ''}<"
    assert shown in page


def test_a_search_takes_wildcards_as_text(researcher: Client, corpus: Corpus) -> None:
    assert "Nothing found" in text(researcher, f"{reverse('corpus-dialogues', args=['c'])}?text=%25")


def test_dialogues_are_found_by_system(researcher: Client, corpus: Corpus) -> None:
    everything = text(researcher, reverse("corpus-dialogues", args=["c"]))
    assert ">d/1<" in everything
    assert ">d2<" in everything
    page = text(researcher, f"{reverse('corpus-dialogues', args=['c'])}?system=model-x")
    assert ">d/1<" in page
    assert ">d2<" not in page


def test_a_search_that_has_not_ended_goes_on_from_where_it_is(
    researcher: Client, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.pages.corpora.PAGE_SIZE", 2)
    address = f"{reverse('corpus-dialogues', args=['c'])}?text=hello"
    page = text(researcher, address)
    assert "2 turns so far" in page
    [after] = re.findall(r"[?]text=hello&amp;after=([0-9-]+)", page)
    page = text(researcher, f"{address}&after={after}")
    assert "1 turn more<" in page
    assert "Go on searching" not in page


def test_pages_of_a_corpus_are_numbered(
    researcher: Client, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.pages.corpora.PAGE_SIZE", 2)
    page = text(researcher, f"{reverse('corpus-dialogues', args=['c'])}?system=human&page=2")
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
    found = text(researcher, reverse("corpus-dialogues", args=["places"]) + "?speaker=B")
    assert f"{reverse('dialogue', args=[made.pk])}?continuation=self&amp;turn=2&amp;index=1#turn-2" in found


def test_a_continuation_is_shown_after_the_history_with_its_marks(researcher: Client, corpus: Corpus) -> None:
    dialogue = Dialogue.objects.get(key="d/1")
    address = f"{reverse('dialogue', args=[dialogue.pk])}?continuation=model-x"
    page = text(researcher, address)
    assert "{laugh}" in page
    assert "Transcription marks" not in page
    researcher.post(reverse("change-marks", args=["c"]), {"has_marks": "on"})
    page = text(researcher, address)
    assert "Hello" in page
    assert '<span class="line-mark">{laugh}</span>' in page
    assert "An &lt;i&gt;unusual&lt;/i&gt; " in page
    assert researcher.get(f"{reverse('dialogue', args=[dialogue.pk])}?continuation=nope").status_code == 404


def test_the_queries_of_a_dialogue_do_not_grow_with_its_turns(
    researcher: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    made = factories.dialogue(factories.corpus(), turns=300)
    with django_assert_max_num_queries(18):
        text(researcher, reverse("dialogue", args=[made.pk]))


def test_a_dialogue_of_static_continuations_alone_is_shown(researcher: Client) -> None:
    made = factories.dialogue(factories.corpus(), turns=0)
    factories.continuation(made, "m", system="m", mode="static", turns=[{"text": "Only this", "at": 0}])
    page = text(researcher, reverse("dialogue", args=[made.pk]))
    assert "Only this" in page
    assert "after 0 turns of the history" in page


@pytest.mark.exhaustive
def test_an_uploaded_file_becomes_a_corpus(researcher: Client, at_once: None) -> None:
    response = import_by_page(researcher, file(line(labels=[label()])), name="new", licence="CC0")
    page = response.content.decode()
    assert "Imported." in page
    assert "comperdial_turn" in page
    made = Corpus.objects.get(name="new")
    assert (made.licence, made.created_by.username if made.created_by else "") == ("CC0", "rea")
    assert Upload.objects.get().state == "done"


def test_a_preview_shows_a_bad_line_with_its_field_and_reason_before_anything_is_imported(
    researcher: Client,
) -> None:
    response = send_file(researcher, file(line(), {"id": "x", "turns": [{"speaker": "A", "text": 4}]}))
    page = response.content.decode()
    for shown in ("1 problem:", "<b>Row 2</b>", "turns[0].text", "must be a text, not a number"):
        assert shown in page
    assert not response.context["can_import"]
    assert not Corpus.objects.exists()


def test_a_file_that_the_corpus_contradicts_is_refused_with_the_reason(
    researcher: Client, corpus: Corpus, at_once: None
) -> None:
    other = line("d2", turns=[{"speaker": "A", "text": "Something else"}])
    page = import_by_page(researcher, file(other), "?into=c").content.decode()
    assert "Nothing was imported." in page
    assert "<b>Row 1</b>" in page
    assert "chats.jsonl" in page


def test_a_file_is_added_to_an_existing_corpus(researcher: Client, corpus: Corpus, at_once: None) -> None:
    preview = send_file(researcher, file(line("d9")), "?into=c")
    assert 'value="c" selected' in preview.content.decode()
    post_preview(researcher, preview, "import")
    assert corpus.dialogues.filter(key="d9").exists()


@pytest.mark.parametrize(
    "changes", [{"name": ""}, {"name": "a/b"}, {"name": "c"}, {"into": "none"}, {"format": "xml"}]
)
def test_an_unclear_form_imports_nothing(researcher: Client, corpus: Corpus, changes: dict[str, str]) -> None:
    response = import_by_page(researcher, file(line()), **changes)
    assert response.status_code == 422
    assert Upload.objects.get().state == "waiting"


def test_a_file_waits_for_its_import_and_a_name_is_proposed(researcher: Client, corpus: Corpus) -> None:
    page = send_file(researcher, file(line("new"), name="c.jsonl"))
    upload = Upload.objects.get()
    assert (upload.state, upload.corpus_name, upload.job) == ("waiting", "c 2", None)
    assert page.context["action"] == "Import 1 dialogue"
    assert reverse("upload", args=[upload.pk]) in text(researcher, reverse("corpora"))
    assert Corpus.objects.count() == 1


def test_a_preview_shows_turns_and_labels_as_text_as_they_will_be_stored(researcher: Client) -> None:
    turns = [{"speaker": "<i>A", "text": "<script>alert(1)</script>"}, {"speaker": "B", "text": "Hi"}]
    labels = [label(4, rater="ann"), label(2, rater="gpt", kind="judge"), label(5, turn=None, rater="ann")]
    page = send_file(researcher, file(line(turns=turns, labels=labels), name="<b>x.jsonl")).content.decode()
    for shown in ("&lt;script&gt;alert(1)", "&lt;i&gt;A", "ann 4 · gpt (judge) 2", "&lt;b&gt;x.jsonl"):
        assert shown in page
    for raw in ("<script>alert", "<i>A", "<b>x"):
        assert raw not in page


def test_speakers_that_are_not_rated_become_context(researcher: Client, at_once: None) -> None:
    page = send_file(researcher, file(line()))
    assert page.context["preview"].speakers == {"A": True, "B": True}
    page = post_preview(researcher, page, "preview", rated=["B"])
    assert page.context["preview"].speakers == {"A": False, "B": True}
    post_preview(researcher, page, "import")
    turns = Dialogue.objects.get().continuations.get().turns.order_by("position")
    assert [turn.given for turn in turns] == [True, False]


def test_both_sides_of_a_chat_may_be_rated(researcher: Client) -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    page = send_file(researcher, file({"messages": messages}))
    assert page.context["preview"].speakers == {"user": False, "assistant": True}
    page = post_preview(researcher, page, "preview", rated=["user", "assistant"])
    assert page.context["preview"].speakers == {"user": True, "assistant": True}


def test_a_rated_speaker_may_have_a_comma_in_the_name(researcher: Client) -> None:
    turns = "".join(f'd,"{name}",Hi\n' for name in ("Smith, John", "Roe, Jane"))
    page = send_file(researcher, SimpleUploadedFile("turns.csv", f"dialogue,speaker,text\n{turns}".encode()))
    page = post_preview(researcher, page, "preview", rated=["Roe, Jane"])
    assert page.context["preview"].speakers == {"Smith, John": False, "Roe, Jane": True}


def test_of_too_many_speakers_none_is_chosen(researcher: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.corpora.previews.MOST_SPEAKERS", 2)
    page = send_file(researcher, file(line()))
    assert "2 speakers or more" in page.content.decode()
    assert 'name="rated"' not in page.content.decode()


def test_labels_about_context_are_a_problem_before_the_import(researcher: Client) -> None:
    page = send_file(researcher, file(line(labels=[label(4, turn=0)])))
    page = post_preview(researcher, page, "preview", rated=["B"])
    assert "which is given (context)" in page.content.decode() or page.context["problems"]
    assert not page.context["can_import"]


def test_at_least_one_speaker_is_rated(researcher: Client) -> None:
    page = post_preview(researcher, send_file(researcher, file(line())), "import", rated=[])
    assert (page.status_code, "tick at least one speaker" in page.content.decode()) == (422, True)


def test_raters_are_models_where_the_page_says_so(researcher: Client, at_once: None) -> None:
    labels = [label(4, rater="ann"), label(2, rater="gpt-4o")]
    page = send_file(researcher, file(line(labels=labels)))
    assert "gpt-4o" in " ".join(problem.reason for problem in page.context["problems"])
    page = post_preview(researcher, page, "preview", judge=["gpt-4o"])
    assert (page.context["problems"], page.context["preview"].raters["gpt-4o"]) == ([], "judge")
    post_preview(researcher, page, "import")
    assert set(Rater.objects.values_list("name", "kind")) == {("ann", "human"), ("gpt-4o", "judge")}


def test_the_next_dialogues_are_shown_on_request(researcher: Client) -> None:
    page = send_file(researcher, file(line("one"), line("two")))
    assert page.context["dialogue"].id == "one"
    assert post_preview(researcher, page, "preview", show="2").context["dialogue"].id == "two"


def test_a_preview_reads_the_first_rows_alone_and_says_so(
    researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.corpora.previews.FIRST_ROWS", 2)
    monkeypatch.setattr("annotation.pages.imports.FIRST_ROWS", 2)
    page = send_file(researcher, file(line("a"), line("b"), line("c")))
    assert "checked the first 2 rows: 2 dialogues" in page.content.decode()
    assert page.context["action"] == "Import"


def test_a_cancelled_file_is_deleted(researcher: Client) -> None:
    send_file(researcher, file(line()))
    upload = Upload.objects.get()
    stored = uploads.stored_file(upload)
    assert stored.exists()
    assert researcher.post(reverse("cancel-upload", args=[upload.pk])).url == reverse("corpora")  # type: ignore[attr-defined]
    assert not stored.exists()
    assert not Upload.objects.exists()


def test_a_refresh_sends_the_form_alone(researcher: Client) -> None:
    send_file(researcher, file(line()))
    address = reverse("upload", args=[Upload.objects.get().pk])
    fragment = researcher.post(
        address, {"format": "jsonl", "format-was": "jsonl"}, headers={"HX-Request": "true"}
    )
    assert "<html" not in fragment.content.decode()
    assert 'id="import-form"' in fragment.content.decode()


def test_a_file_over_the_limit_is_refused_before_it_is_read(
    researcher: Client, settings: pytest.FixtureRequest
) -> None:
    settings.UPLOAD_LIMIT_BYTES = -(2**20)  # type: ignore[attr-defined]
    response = researcher.post(reverse("import-corpus"), {"file": file(line())})
    assert response.status_code == 413


def test_the_form_of_an_import_is_protected_against_other_sites(corpus: Corpus) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(factories.user(researcher=True))
    assert client.post(reverse("import-corpus"), {"file": file(line())}).status_code == 403


def test_an_upload_is_seen_by_its_owner_and_administrators(client: Client) -> None:
    owner, other = factories.user(researcher=True), factories.user(researcher=True)
    upload = Upload.objects.create(by=owner, file_name="f", format="jsonl", corpus_name="x")
    for person, status in ((owner, 200), (other, 404), (factories.user(administrator=True), 200)):
        client.force_login(person)
        assert client.get(reverse("upload", args=[upload.pk])).status_code == status
    for person, status in ((other, 404), (factories.user(), 403)):
        client.force_login(person)
        for name in ("upload", "load-mapping", "cancel-upload", "resume-upload"):
            assert client.post(reverse(name, args=[upload.pk]), {"do": "import"}).status_code == status
    assert Upload.objects.get().job is None


@pytest.mark.exhaustive
def test_a_split_is_drawn_and_its_mistakes_told(researcher: Client, corpus: Corpus) -> None:
    address = reverse("draw-split", args=["c"])
    researcher.post(address, {"seed": "7", "test_share": "0.4"})
    assert Split.objects.get().seed == 7
    for wrong in ({"seed": "x"}, {"seed": "-1"}, {"seed": "1", "test_share": "1"}):
        page = researcher.post(address, wrong, follow=True).content.decode()
        assert "alert alert-danger" in page
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

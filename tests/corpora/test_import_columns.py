"""Tables of other people on the import page: roles of their columns guessed, corrected, remembered."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.corpora import table_readings
from annotation.corpora.previews import LATER
from annotation.models import Corpus, Import, Label, Turn, Upload
from tests import factories
from tests.corpora.import_page import FormFields, import_by_page, post_preview, send_file
from tests.corpora.test_api import api

pytestmark = pytest.mark.django_db

CHATS = """conv_id,author,utterance,ts,anna_quality,gpt_quality,row
4711,customer,"Hi, my order has not arrived.",2026-03-02 10:14,,,1
4711,bot,It left our depot this morning.,2026-03-02 10:15,4,4,2
4711,customer,Can I cancel?,2026-03-02 10:16,,,3
4711,bot,Of course.,2026-03-02 10:17,5,4,4
4712,customer,<b>Hello?</b>,2026-03-02 11:01,,,5
4712,bot,Good morning.,2026-03-02 11:02,3,2,6
4712,customer,It is broken.,2026-03-02 11:03,,,7
4712,bot,Please send it back.,2026-03-02 11:04,-,1,8
"""


def table(content: str = CHATS, name: str = "support.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode())


def roles(page: Any) -> dict[str, str]:
    """Return the roles that the menus show, by column."""
    fields = FormFields(page.content.decode()).fields
    return {name: fields[f"role-{index}"][0] for index, name in enumerate(fields["column"])}


def labels() -> set[tuple[str, str, str, str]]:
    rows = Label.objects.select_related("rater", "item__turn", "question")
    return {
        (
            label.rater.name,
            label.rater.kind,
            label.question.key,
            f"{label.item.turn.text[:5]} {label.value:g}",
        )
        for label in rows
    }


def test_a_table_that_is_guessed_right_is_imported_without_any_change(
    researcher: Client, at_once: None
) -> None:
    page = send_file(researcher, table())
    assert roles(page) == {
        "conv_id": "dialogue",
        "author": "speaker",
        "utterance": "text",
        "ts": "time",
        "anna_quality": "label",
        "gpt_quality": "judge",
        "row": "",
    }
    assert page.context["action"] == "Import 2 dialogues"
    assert "8 rows, 7 columns · each row is one turn" in page.content.decode()
    assert "&lt;b&gt;Hello?" not in page.content.decode()  # it is in the second dialogue
    post_preview(researcher, page, "import")
    assert labels() == {
        ("anna", "human", "quality", "It le 4"),
        ("anna", "human", "quality", "Of co 5"),
        ("anna", "human", "quality", "Good  3"),
        ("gpt", "judge", "quality", "It le 4"),
        ("gpt", "judge", "quality", "Of co 4"),
        ("gpt", "judge", "quality", "Good  2"),
        ("gpt", "judge", "quality", "Pleas 1"),
    }
    assert set(Turn.objects.filter(given=True).values_list("speaker", flat=True)) == {"customer"}
    assert not Turn.objects.filter(given=False, speaker="customer").exists()


def test_a_corrected_menu_changes_the_preview_and_the_import(researcher: Client, at_once: None) -> None:
    page = send_file(researcher, table())
    page = post_preview(researcher, page, "preview", **{"role-4": "", "question-5": "tone"})
    assert roles(page)["anna_quality"] == ""
    assert page.context["preview"].n_labels == 4
    assert page.context["prepared"].mapping.entries()["judge:tone@gpt"] == "gpt_quality"
    post_preview(researcher, page, "import")
    assert {label[:3] for label in labels()} == {("gpt", "judge", "tone")}


def test_codes_anchors_and_separators_are_read_as_they_are_shown(researcher: Client) -> None:
    page = send_file(researcher, table())
    changes = {
        "values-4": "poor; so, so; good",
        "codes-4": "1 = poor; 2 = so, so; - =",
        "anchors-4": "1 = poor",
        "level-4": "nominal",
        "separator-4": ";",
    }
    page = post_preview(researcher, page, "preview", **changes)
    scale = Upload.objects.get().mapping
    assert scale["scale:quality"] == ["poor", "so, so", "good"]
    assert scale["codes:quality"] == {"1": "poor", "2": "so, so", "-": ""}
    assert scale["level:quality"] == "nominal"
    fields = FormFields(page.content.decode()).fields
    assert (fields["values-4"], fields["separator-4"]) == (["poor; so, so; good"], [";"])
    post_preview(researcher, page, "preview", **{"empty-4": "[]"})
    assert Upload.objects.get().mapping["codes:quality"][""] == "[]"


def test_two_columns_with_one_role_are_one_clear_problem(researcher: Client) -> None:
    page = post_preview(researcher, send_file(researcher, table()), "preview", **{"role-6": "text"})
    assert "is mapped to 2 columns: only one can be that" in page.content.decode()
    assert roles(page)["row"] == "text"
    assert not page.context["can_import"]


def test_the_next_file_with_the_same_columns_gets_the_same_roles(researcher: Client, at_once: None) -> None:
    changes = {"role-4": "", "question-5": "tone"}
    page = post_preview(researcher, send_file(researcher, table()), "preview", **changes)
    post_preview(researcher, page, "import")
    page = send_file(researcher, table(CHATS.replace("471", "481"), name="june.csv"))
    assert "These are the roles of <b>support.csv</b>" in page.content.decode()
    assert (roles(page)["anna_quality"], page.context["action"]) == ("", "Import 2 dialogues")
    page = post_preview(researcher, page, "guess")
    assert roles(page)["anna_quality"] == "label"
    assert "Use its roles" in page.content.decode()
    page = post_preview(researcher, page, "use-earlier")
    assert roles(page)["anna_quality"] == ""


def test_a_file_with_another_column_is_guessed_anew(researcher: Client, at_once: None) -> None:
    import_by_page(researcher, table())
    wider = "\n".join(f"{row},{value}" for row, value in zip(CHATS.splitlines(), "xabcdefgh", strict=True))
    assert send_file(researcher, table(wider)).context["prepared"].earlier is None


def test_roles_are_a_file_to_download_and_to_load(researcher: Client) -> None:
    page = send_file(researcher, table())
    yaml = post_preview(researcher, page, "download")
    assert yaml["Content-Disposition"] == 'attachment; filename="mapping.yaml"'
    content = yaml.getvalue().decode()
    assert "dialogue: conv_id" in content
    address = reverse("load-mapping", args=[Upload.objects.get().pk])
    changed = content.replace("judge:quality@gpt", "judge:tone@gpt")
    file = SimpleUploadedFile("mapping.yaml", changed.encode())
    page = researcher.post(address, {"file": file}, follow=True)
    assert page.context["prepared"].mapping.entries()["judge:tone@gpt"] == "gpt_quality"
    page = researcher.post(address, {"text": "talk: conv_id"}, follow=True)
    assert "is not a role" in page.content.decode()
    page = researcher.post(address, {"text": "dialogue: nowhere"}, follow=True)
    assert "there is no column &#x27;nowhere&#x27;" in page.content.decode()


def test_names_of_columns_and_cells_are_shown_as_text(researcher: Client) -> None:
    hostile = CHATS.replace("anna_quality", "<script>x</script>").replace("4711", '"><img src=x>')
    page = send_file(researcher, table(hostile.replace('"><img', "<img"), name="<i>.csv")).content.decode()
    for raw in ("<script>x", "<img src=x", "<i>.csv"):
        assert raw not in page


def test_a_ratings_table_needs_the_corpus_it_is_about(researcher: Client, at_once: None) -> None:
    import_by_page(researcher, table())
    content = "turn_key,judge_name,mark\n4711/self/1,gpt,4\n4712/self/1,gpt,2\n"
    page = send_file(researcher, table(content, name="marks.csv"))
    changes = {"role-0": "item", "role-1": "rater", "role-2": "value"}
    page = post_preview(researcher, page, "preview", **changes)
    assert page.context["adds_labels"]
    assert post_preview(researcher, page, "import").status_code == 422
    page = post_preview(researcher, page, "preview", into="support", judge=["gpt"])
    post_preview(researcher, page, "import")
    assert Import.objects.count() == 2
    assert Label.objects.filter(rater__name="gpt").count() == 6


def test_a_program_previews_a_table_and_sends_its_mapping_corrected() -> None:
    client = api(researcher=True)
    told = client.post("/api/v1/imports/preview/", {"file": table()}).json()
    assert (told["format"], told["readings"][0]["certain"]) == ("table", True)
    assert [column["name"] for column in told["columns"]][:2] == ["conv_id", "author"]
    assert told["settings"] == {"rated": "bot"}
    assert told["counts"] == {"dialogues": 2, "turns": 8, "labels": 7}
    mapping = told["mapping"]
    mapping["metadata"] = mapping.pop("time")
    sent = {"file": table(), "name": "x", "mapping": json.dumps(mapping), "rated": "bot", "format": "table"}
    answer = client.post("/api/v1/imports/", sent)
    assert answer.status_code == 201, answer.content
    assert answer.json()["labels"] == 7
    again = client.post("/api/v1/imports/preview/", {"file": table()}).json()
    assert (again["earlier"]["file_name"], again["earlier"]["mapping"]) == ("support.csv", mapping)
    assert again["mapping"] != mapping


def test_nobody_else_loads_a_mapping(client: Client) -> None:
    owner = factories.user(researcher=True)
    client.force_login(owner)
    send_file(client, table())
    client.force_login(factories.user(researcher=True))
    address = reverse("load-mapping", args=[Upload.objects.get().pk])
    assert client.post(address, {"text": "dialogue: row"}).status_code == 404
    assert Upload.objects.get().mapping == {}


def test_answers_that_do_not_fit_are_listed_before_the_import_and_may_be_left_out(
    researcher: Client, at_once: None
) -> None:
    page = send_file(researcher, table(CHATS.replace("10:17,5,4", "10:17,9,4")))
    page = post_preview(researcher, page, "preview", **{"values-4": "1, 2, 3, 4, 5"})
    [problem] = page.context["problems"]
    assert problem.reason.startswith("9 is not on the scale of quality")
    assert problem.reason.endswith(": 1, 2, 3, 4, 5")
    assert f"<b>Row {problem.line}</b>" in page.content.decode()
    assert not page.context["can_import"]
    assert not Corpus.objects.exists()
    page = post_preview(researcher, page, "preview", skip_bad_rows="yes")
    assert (page.context["problems"], page.context["preview"].n_left_out) == ([], 4)
    assert "4 rows that do not fit" in page.content.decode()
    page = post_preview(researcher, page, "import")
    assert page.context["upload"].result["left_out"] == 4
    assert not send_file(researcher, table()).context["skips"]


def test_a_program_imports_a_table_by_its_certain_guess_and_is_told_it() -> None:
    answer = api(researcher=True).post("/api/v1/imports/", {"file": table(), "name": "x"})
    assert answer.status_code == 201, answer.content
    told = answer.json()
    assert (told["format"], told["labels"]) == ("table", 7)
    assert told["mapping"]["dialogue"] == "conv_id"
    assert told["notes"][0].startswith("Each row is one turn")
    assert (
        "Question quality about turns: ordinal, one of 1, 2, 3, 4, 5 (scheme corpus:x:turn, version 1)."
        in told["notes"]
    )
    assert "Speakers whose turns are rated: bot (guessed)" in told["notes"]
    assert Turn.objects.filter(given=False).count() == 4
    assert Import.objects.get().mapping == told["mapping"]


@pytest.mark.parametrize("content", ["a,b\n1,2\n2,3\n", "only\nwords here\nand there\n"])
def test_a_table_of_which_no_reading_is_certain_is_refused_with_its_readings(content: str) -> None:
    answer = api(researcher=True).post("/api/v1/imports/", {"file": table(content), "name": "x"})
    assert answer.status_code == 400
    told = answer.json()
    assert (told["code"], told["field"]) == ("import_refused", "mapping")
    assert told["detail"].endswith("say what its columns are")
    assert not any(reading["certain"] for reading in told["readings"])
    assert not Corpus.objects.exists()


def test_scales_that_are_not_named_are_guessed_from_all_rows(researcher: Client, at_once: None) -> None:
    mapping = {
        "dialogue": "conv_id",
        "speaker": "author",
        "text": "utterance",
        "label:q@anna": "anna_quality",
    }
    rows = [f"{n},bot,Good morning {n},,{2 + n % 2 if n < 5500 else 5},,{n}" for n in range(5_501)]
    content = "\n".join([CHATS.splitlines()[0], *rows])
    page = send_file(researcher, table(content))
    Upload.objects.update(mapping=mapping)
    page = researcher.get(reverse("upload", args=[Upload.objects.get().pk]))
    assert page.context["prepared"].mapping.scale("q").values == ("2", "3", "4", "5")
    answer = api(researcher=True).post(
        "/api/v1/imports/", {"file": table(content), "name": "y", "mapping": json.dumps(mapping)}
    )
    assert answer.status_code == 201, answer.content
    assert answer.json()["mapping"]["scale:q"] == ["2", "3", "4", "5"]


def test_scales_of_more_rows_than_a_preview_counts_are_guessed_by_the_import(
    researcher: Client, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [2 + n % 2 if n < 5_500 else 5 for n in range(5_501)]
    rows = [f"d{n // 4},{'ub'[n % 2]},Good morning {n},{answer},{answer}" for n, answer in enumerate(answers)]
    content = "\n".join(["conv_id,author,utterance,anna_quality,gpt_quality", *rows])
    monkeypatch.setattr(table_readings, "SCAN_SECONDS", 0)
    page = send_file(researcher, table(content))
    prepared = page.context["prepared"]
    assert (prepared.reading, dict(prepared.mapping.scales)) == ("turns", {})
    assert LATER in page.content.decode()
    post_preview(researcher, page, do="import")
    imported = Import.objects.get()
    assert imported.mapping["scale:quality"] == ["2", "3", "4", "5"]
    assert Label.objects.filter(number=5).count() == 2
    answer = api(researcher=True).post("/api/v1/imports/", {"file": table(content), "name": "y"})
    assert answer.json()["mapping"] == imported.mapping


def test_answers_of_a_crowd_platform_go_to_the_dialogues_that_have_their_ids(
    researcher: Client, at_once: None
) -> None:
    import_by_page(researcher, table())
    content = (
        "HITId,AssignmentId,WorkerId,Input.dialogue_id,Answer.quality\n"
        "h1,a1,w1,4711,4\nh1,a2,w2,4711,5\nh2,a3,w1,4712,2\nh2,a4,w2,4712,1\n"
    )
    page = send_file(researcher, table(content, name="batch.csv"))
    assert page.context["adds_labels"]
    assert "add it to the corpus whose dialogues they are about" in page.content.decode()
    assert 'name="name"' not in page.content.decode()
    page = post_preview(researcher, page, "preview", into="support")
    post_preview(researcher, page, "import")
    answers = Label.objects.filter(rater__name__in=["w1", "w2"]).values_list(
        "item__continuation__dialogue__key", "rater__name", "number"
    )
    assert set(answers) == {("4711", "w1", 4), ("4711", "w2", 5), ("4712", "w1", 2), ("4712", "w2", 1)}


def test_a_refused_import_says_how_many_problems_there_are(researcher: Client, at_once: None) -> None:
    bad = "".join(json.dumps({"id": f"d{n}", "turns": [{"speaker": n}]}) + "\n" for n in range(30))
    api_client = api(researcher=True)
    assert (
        api_client.post("/api/v1/imports/", {"file": table(bad, "f.jsonl"), "name": "x"}).json()["total"]
        == 30
    )
    page = send_file(researcher, table(bad, "f.jsonl"))
    assert "30 problems, the first 20" in page.content.decode()
    page = post_preview(researcher, page, "import", name="x")
    assert "The first 20 of 30 problems:" in page.content.decode()


def test_the_page_says_what_is_not_clear_about_its_guess_until_it_is_corrected(researcher: Client) -> None:
    page = send_file(researcher, table(CHATS.replace("10:15,4,4", "10:15,four,4")))
    assert page.context["doubts"] == ("quality: 'four' is among numbers",)
    assert "quality: &#x27;four&#x27; is among numbers" in page.content.decode()
    page = post_preview(
        researcher, page, "preview", **{"codes-4": "four = 4, - =", "values-4": "1, 2, 3, 4, 5"}
    )
    assert (page.context["doubts"], page.context["problems"]) == ((), [])
    assert page.context["can_import"]


def test_a_role_is_one_line_until_its_fields_are_opened(researcher: Client) -> None:
    page = send_file(researcher, table())
    summaries = {row.name: row.summary for row in page.context["rows"]}
    assert (
        summaries["anna_quality"]
        == "Question: quality · Rater: anna · Scale: 1, 2, 3, 4, 5; “-” is no answer"
    )
    assert summaries["gpt_quality"] == "Question: quality · Rater: gpt"
    assert summaries["author"] == ""


def test_the_first_items_of_ratings_are_shown_with_all_answers(researcher: Client) -> None:
    rows = "".join(f"i{number},yes,no\n" for number in range(40))
    page = send_file(researcher, table(f"id,human_label,judge_label\n{rows}", name="marks.csv"))
    first, *others = page.context["items"]
    assert (first.dialogue, first.answers, len(others)) == ("i0", ["human 1 · judge 0"], 11)
    assert "Scale: 0 (no), 1 (yes)" in page.content.decode()


@pytest.mark.parametrize(
    ("name", "content", "reason", "next_step"),
    [
        ("x.csv", "dialogue,speaker,text\n", "the file holds nothing that can be imported", "corrected"),
        ("x.csv", "author,utterance\n", "the file holds nothing that can be imported", "corrected"),
        ("x.pdf", "%PDF-1.4\n", "is a PDF: export its text or its table", "another"),
    ],
)
def test_a_file_without_anything_to_import_says_so_and_leads_to_the_next(
    researcher: Client, name: str, content: str, reason: str, next_step: str
) -> None:
    page = send_file(researcher, table(content, name=name))
    assert [problem.reason for problem in page.context["problems"]] == [reason]
    assert f"<b>{name}:</b>" in page.content.decode()
    assert f"Choose {'a ' if next_step == 'corrected' else ''}{next_step} file" in page.content.decode()
    assert not page.context["can_import"]


def test_a_table_of_which_nothing_is_recognised_asks_for_its_columns(researcher: Client) -> None:
    texts = [f"Sentence {number} of nobody in particular." for number in range(12)]
    page = send_file(researcher, table("what\n" + "\n".join(texts), name="x.csv"))
    assert page.context["problems"] == []
    assert [row.role for row in page.context["rows"]] == [""]
    assert "Still missing: a column" in page.content.decode()
    assert "--map" not in page.content.decode().replace("--map-file", "")


def test_ratings_whose_texts_are_in_the_file_become_dialogues_with_a_name(researcher: Client) -> None:
    rows = "".join(f"{n},Where is place {n}?,There.,{n % 3}\n" for n in range(9))
    page = send_file(researcher, table(f"id,ask,reply,score\n{rows}", name="places.csv"))
    page = post_preview(researcher, page, "preview", **{"role-0": "", "role-1": "", "role-2": ""})
    assert page.context["adds_labels"]
    page = post_preview(
        researcher, page, "preview", **{"role-0": "dialogue", "role-1": "utterance", "role-2": "utterance"}
    )
    assert roles(page) == {"id": "dialogue", "ask": "utterance", "reply": "utterance", "score": "label"}
    assert page.context["form"]["name"].value() == "places"
    assert page.context["action"] == "Import 9 dialogues"


def test_all_problems_of_a_file_are_on_the_page_at_once(researcher: Client) -> None:
    """A label is reported with its row, and so is a turn."""
    rows = CHATS.replace("It is broken.", "").replace("Can I cancel?,2026-03-02 10:16,,", "Yes,10:16,4,")
    page = send_file(researcher, table(rows))
    page = post_preview(researcher, page, "preview", rated=["bot"])
    assert {problem.line for problem in page.context["problems"]} == {4, 8}
    page = post_preview(researcher, page, "preview", rated=["bot"], skip_bad_rows="yes")
    assert page.context["can_import"] is False


def test_a_corrected_file_replaces_the_faulty_one_and_keeps_its_roles(researcher: Client) -> None:
    page = send_file(researcher, table(CHATS.replace("It is broken.", "")))
    page = post_preview(researcher, page, "preview", **{"role-6": "metadata"})
    faulty = Upload.objects.get()
    assert f'href="/corpora/import/new/?like={faulty.pk}"' in page.content.decode()
    page = send_file(researcher, table(), query=f"?like={faulty.pk}")
    assert roles(page)["row"] == "metadata"
    assert Upload.objects.get().pk != faulty.pk


def test_files_that_wait_are_listed_until_they_are_imported_or_replaced(researcher: Client) -> None:
    send_file(researcher, table("%PDF-1.4", name="x.pdf"))
    page = researcher.get("/corpora/").content.decode()
    assert "Not imported yet" in page
    assert "is being imported" not in page
    address = reverse("cancel-upload", args=[Upload.objects.get().pk])
    assert researcher.post(address, {"next": "file"}).url == "/corpora/import/new/"  # type: ignore[attr-defined]
    assert "Not imported yet" not in researcher.get("/corpora/").content.decode()

"""Rows that do not fit may be left out: the rest is imported, and they go to a file with the reasons."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.corpora import uploads
from annotation.corpora.import_staging import ImportResult
from annotation.models import Dialogue, Label, Turn, Upload
from jobs.models import Job
from tests import factories
from tests.importing.helpers import imported, label, line, refusal, written

pytestmark = pytest.mark.django_db
BAD = {"id": "bad", "turns": [{"speaker": "A", "text": 4}]}
SKIP = {"skip_bad_rows": "yes"}


def skipped(path: Path, **options: Any) -> ImportResult:
    return imported(path, settings=SKIP, left_out=path.with_name("left"), **options)


def rows_of(result: ImportResult) -> list[list[str]]:
    return list(csv.reader(StringIO(Path(result.left_out_file).read_text())))


def test_lines_that_do_not_fit_are_left_out_and_written_with_the_reasons(tmp_path: Path) -> None:
    path = written(tmp_path, line("a"), BAD, "{", line("a"), line("b", labels=[label(9)]), line("c"))
    assert len(refusal(path).all()) == 4
    result = skipped(path)
    assert (result.dialogues, result.left_out) == (2, 4)
    assert "Rows left out, because they do not fit: 4." in result.notes
    assert set(Dialogue.objects.values_list("key", flat=True)) == {"a", "c"}
    left = [json.loads(text) for text in Path(result.left_out_file).read_text().splitlines()]
    assert left[0] == {"why_left_out": "line 2, turns[0].text: must be a text, not a number", **BAD}
    assert left[1]["content"] == "{"
    assert [part.get("id") for part in left] == ["bad", None, "a", "b"]
    assert "there already" in left[2]["why_left_out"] or "line 1" in left[2]["why_left_out"]


def test_rows_of_ratings_are_left_out_alone_whatever_step_finds_them(tmp_path: Path) -> None:
    scale = {"question": "warmth", "level": "ordinal", "values": [1, 2, 3]}
    imported(written(tmp_path, line("d", labels=[label(3, **scale)])))
    rows = ["item,rater,value,question", "d/self/0,ann,2,warmth", "d/self/0,bob,9,warmth"]
    rows += ["d/self/7,bob,1,warmth", "d/self/1,bob,1", "d/self/1,cy,1,warmth"]
    path = written(tmp_path, *rows, name="r.csv")
    options: dict[str, Any] = {"into": True, "format": "ratings-csv", "scheme": "own"}
    assert [problem.line for problem in refusal(path, **options).all()] == [3, 4, 5]
    result = skipped(path, **options)
    assert (result.labels, result.left_out) == (2, 3)
    header, *left = rows_of(result)
    assert header == ["why_left_out", "item", "rater", "value", "question"]
    assert [row[1:] for row in left] == [row.split(",") for row in rows[2:5]]
    assert "9 is not on the scale of warmth" in left[0][0]
    again = skipped(path, **options)
    assert (again.created, Label.objects.count()) == (False, 3)


def test_a_dialogue_is_never_imported_with_a_gap(tmp_path: Path) -> None:
    rows = ["dialogue,speaker,text", "a,Ann,Hi", "b,Ann,Hi", "b,Ben,", "b,Ann,Bye", "c,Ann,Hi", ",Ben,So"]
    rows += ["d,Ann,Hi", "e,Ann,Hi", "e,Ben,No,really", "f,Ann,Hi"]
    result = skipped(written(tmp_path, *rows, name="t.csv"), format="turns-csv")
    assert list(Dialogue.objects.values_list("key", flat=True)) == ["a", "f"]
    assert Turn.objects.count() == 2
    assert result.left_out == 8
    reasons = {row[0] for row in rows_of(result)[1:]}
    assert "line 4, text: is empty" in reasons
    assert "line 3, its dialogue lacks line 4" in reasons
    assert rows_of(result)[-1] == ["line 10, has 4 columns, the first line 3", "e", "Ben", "No", "really"]


def test_rows_of_a_json_list_are_left_out_by_their_number(tmp_path: Path) -> None:
    imported(written(tmp_path, line("d")))
    rows = [{"item": "d/self/0", "rater": "a", "value": 1}, {"item": "d/self/9", "rater": "a", "value": 1}]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(rows, indent=1))
    result = skipped(path, into=True, format="ratings-csv", scheme="own")
    assert (result.labels, result.left_out) == (1, 1)
    (left,) = Path(result.left_out_file).read_text().splitlines()
    assert json.loads(left).items() >= rows[1].items()


def test_a_problem_of_no_row_refuses_the_file_as_before(tmp_path: Path) -> None:
    imported(written(tmp_path, line("d")))
    path = written(tmp_path, "item,value", "d/self/0,1", name="r.csv")
    assert "has no column 'rater'" in refusal(path, into=True, format="ratings-csv", settings=SKIP).reason
    path = written(tmp_path, "item,rater,value", "d/self/0,r", name="r.csv")
    problem = refusal(path, into=True, format="ratings-csv", settings=SKIP)
    assert "nothing that can be imported (rows left out, because they do not fit: 1)" in problem.reason


def test_the_question_who_is_a_judge_is_never_answered_by_leaving_rows_out(tmp_path: Path) -> None:
    imported(written(tmp_path, line("d")))
    path = written(tmp_path, "item,rater,value", "d/self/0,gpt-4,1", "d/self/1,gpt-4,2", name="r.csv")
    before = refusal(path, into=True, format="ratings-csv")
    assert refusal(path, into=True, format="ratings-csv", settings=SKIP).reason == before.reason


def test_without_leaving_out_the_problems_are_listed_with_their_number(tmp_path: Path) -> None:
    problem = refusal(written(tmp_path, *[BAD] * 50))
    assert (len(problem.all()), problem.total) == (20, 50)
    assert problem.lines().splitlines()[-1] == "These are the first 20 of 50 problems."
    labels = written(tmp_path, line("a", labels=[label(9, sample=n) for n in range(70)]))
    assert refusal(labels).total == 70


def test_the_command_writes_the_file_beside_the_input(tmp_path: Path) -> None:
    path, out = written(tmp_path, line("a"), BAD), StringIO()
    call_command("import_corpus", path, "--name", "c", "--skip-bad-rows", stdout=out)
    left = tmp_path / "file.left-out.jsonl"
    assert f"They are in {left}." in out.getvalue()
    assert json.loads(left.read_text())["id"] == "bad"


def test_rows_left_out_of_an_upload_are_downloaded_by_its_owner_alone(client: Client) -> None:
    owner, other = factories.user(researcher=True), factories.user(researcher=True)
    api = APIClient()
    api.force_authenticate(owner)
    content = "\n".join(json.dumps(fields) for fields in (line("a"), BAD)).encode()
    sent = {"file": SimpleUploadedFile("t.jsonl", content), "name": "c", "skip_bad_rows": "yes"}
    answer = api.post("/api/v1/imports/", sent)
    assert answer.status_code == 202
    job = Job.objects.get(pk=answer.json()["job"])
    result = uploads.run(job, lambda *_: None)
    assert (result["dialogues"], result["left_out"]) == (1, 1)
    address = f"/api/v1/imports/{job.pk}/left-out/"
    rows = b"".join(api.get(address).streaming_content)
    assert json.loads(rows)["why_left_out"] == "line 2, turns[0].text: must be a text, not a number"
    page = reverse("upload", args=[Upload.objects.get().pk])
    client.force_login(owner)
    assert "Download the rows left out" in client.get(page).content.decode()
    download = client.get(f"{page}left-out/")
    assert 'filename="t.left-out.jsonl"' in download.headers["Content-Disposition"]
    assert b"".join(download.streaming_content) == rows
    for account in (other, factories.user()):
        client.force_login(account)
        api.force_authenticate(account)
        assert client.get(f"{page}left-out/").status_code in (403, 404)
        assert api.get(address).status_code in (403, 404)

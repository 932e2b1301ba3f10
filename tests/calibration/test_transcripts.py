"""Transcripts show the turns with the tags of selected raters, and execute nothing in them."""

from __future__ import annotations

import csv
import html.parser
import io
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Continuation, Dialogue, Item, System, Turn
from calibration.errors import ExportRefused
from calibration.exports.downloads import TRANSCRIPTS, Order
from calibration.exports.parts import ExportPart
from calibration.exports.transcripts import FORMS
from tests.calibration.conftest import Compiled
from tests.calibration.world import World, world
from tests.factories import user

pytestmark = pytest.mark.django_db
HOSTILE = "=cmd|' /C calc'!A0 <script>alert(1)</script> \\input{x} $x$ | [a](javascript:b) & 100%_{}^~#"


@pytest.fixture(scope="module")
def tagged(module_database: None) -> World:
    """A dialogue of two own turns, and a continuation of three that two people and a judge tagged."""
    built = world("talks", dialogues=1, turns=2)
    dialogue = Dialogue.objects.get()
    dialogue.participants = [{"id": "A", "name": "Ana & Co", "role": "", "profile": [], "aliases": []}]
    dialogue.save()
    system = System.objects.create(corpus=built.corpus, name="model")
    part = Continuation.objects.create(dialogue=dialogue, key="x-1", system=system)
    texts = ("given", HOSTILE, "plain")
    turns = Turn.objects.bulk_create(
        Turn(continuation=part, position=p, speaker="AB"[p % 2], text=text, given=p == 0)
        for p, text in enumerate(texts)
    )
    items = Item.objects.bulk_create(
        Item(corpus=built.corpus, kind="turn", continuation=part, turn=turn) for turn in turns[1:]
    )
    for key, group in (("repetition", "Inconsistent"), ("off_topic", "Off & on"), ("unclear", "Off & on")):
        built.ask(key, "binary", [0, 1], scheme="tags", group=group, positive=1, wording=key.title())
    built.turns = list(items)
    for name, kind, rows in (
        ("ann", "human", ([1.0, 0.0], [0.0, 0.0], [1.0, 0.0])),
        ("ben", "human", ([1.0], [1.0], [1.0])),
        ("gpt", "judge", ([0.0, 1.0], [0.0, 0.0], [0.0, 0.0])),
    ):
        for key, values in zip(("repetition", "off_topic", "unclear"), rows, strict=True):
            built.say(name, key, values, kind=kind)
    return built


def text(built: World, form: str, **choice: Any) -> str:
    file = io.BytesIO()
    written = Order(TRANSCRIPTS, built.corpus, None, ExportPart(None, ""), form, choice=choice).write(file)
    assert written.rows == 3
    return file.getvalue().decode()


def rows(built: World, **choice: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text(built, "csv", **choice), newline="")))


def test_a_turn_has_its_number_its_index_and_the_tags_of_each_group(tagged: World) -> None:
    found = rows(tagged, raters=["ann"])
    assert [(row["turn_number"], row["turn"], row["given"]) for row in found] == [
        ("3", "0", "true"),
        ("4", "1", "false"),
        ("5", "2", "false"),
    ]
    assert [(row["Inconsistent"], row["Off & on"]) for row in found] == [
        ("", ""),
        ("Repetition", "Unclear"),
        ("", ""),
    ]
    assert {row["speaker"] for row in found} == {"Ana & Co", "B"}


def test_with_several_raters_each_tag_names_who_set_it(tagged: World) -> None:
    _, second, third = rows(tagged)
    assert second["Inconsistent"] == "Repetition (ann, ben)"
    assert second["Off & on"] == "Off_Topic (ben); Unclear (ann, ben)"
    assert third["Inconsistent"] == ""


def test_a_turn_that_none_of_the_chosen_rated_says_so(tagged: World) -> None:
    assert [row["Inconsistent"] for row in rows(tagged, raters=["ben"])] == ["", "Repetition", "not rated"]


def test_a_judge_can_be_chosen_and_a_stranger_is_refused(tagged: World) -> None:
    assert [row["Inconsistent"] for row in rows(tagged, raters=["gpt"])] == ["", "", "Repetition"]
    with pytest.raises(ExportRefused, match="nobody tagged no turn of talks; ann, ben, gpt did"):
        text(tagged, "csv", raters=["nobody"])


def test_texts_of_the_csv_are_guarded(tagged: World) -> None:
    assert [row["text"] for row in rows(tagged)] == ["given", f"'{HOSTILE}", "plain"]


class _Texts(html.parser.HTMLParser):
    """The texts of a page's cells, and the tags that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


def test_the_html_is_one_page_in_which_nothing_runs(tagged: World) -> None:
    page = text(tagged, "html", raters=["ann"])
    found = _Texts()
    found.feed(page)
    assert HOSTILE in found.cells
    assert not found.tags & {"script", "img", "link", "iframe", "a"}
    assert "http" not in page


def test_the_markdown_table_has_one_row_a_turn_and_no_markup_of_others(tagged: World) -> None:
    from markdown_it import MarkdownIt

    rendered = MarkdownIt("commonmark").enable("table").render(text(tagged, "md", raters=["ann"]))
    found = _Texts()
    found.feed(rendered)
    assert HOSTILE in [cell.strip() for cell in found.cells]
    assert not found.tags & {"script", "a", "em", "strong", "code"}
    assert len(found.cells) == 3 * 6


def test_the_latex_table_has_a_row_a_turn_with_all_its_columns(tagged: World) -> None:
    page = text(tagged, "tex", raters=["ann"])
    assert r"\begin{longtable}{rr" in page
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{longtable}"):
        assert page.count(rule) == 1
    assert r"\input" not in page
    (row,) = [line for line in page.splitlines() if line.startswith("4 & 1 & ")]
    assert row.replace(r"\&", "").count("&") == 5
    assert row.endswith(r" \\")


def test_the_latex_compiles(tagged: World, compiled: Compiled) -> None:
    compiled(text(tagged, "tex", raters=["ann"]), packages="booktabs,longtable,array")


def test_a_program_is_sent_the_continuations_that_it_names(tagged: World, client: Client) -> None:
    client.force_login(user(researcher=True))
    address = reverse("api-export-transcripts", args=["md"])
    part = Continuation.objects.get(key="x-1")
    told = {"corpus": tagged.corpus.pk, "continuation": part.pk, "rater": ["ann", "gpt"]}
    answer = client.get(address, told)
    assert answer.headers["Concord-Rows"] == "3"
    assert "d0, x-1" in b"".join(answer).decode()
    stranger = client.get(address, told | {"continuation": 99999})
    assert stranger.status_code == 400
    assert "not all of these continuations are in talks" in stranger.json()["detail"]


def test_a_page_offers_the_raters_and_sends_the_file(tagged: World, client: Client) -> None:
    client.force_login(user(researcher=True))
    part = Continuation.objects.get(key="x-1")
    address = f"{reverse('transcripts')}?corpus={tagged.corpus.pk}&continuation={part.pk}"
    dialogue = client.get(reverse("dialogue", args=[part.dialogue_id]), {"continuation": "x-1"})
    assert address in dialogue.content.decode().replace("&amp;", "&")
    page = client.get(address).content.decode()
    assert all(f'value="{name}"' in page for name in ("ann", "ben", "gpt"))
    for form in FORMS:
        sent = f"{reverse('export-transcripts', args=[form])}?corpus={tagged.corpus.pk}"
        answer = client.post(sent, {"continuation": part.pk, "rater": ["ann", "gpt"]})
        assert answer.headers["Concord-Rows"] == "3"
        assert f"transcripts-corpus-{tagged.corpus.pk}.{form}" in answer.headers["Content-Disposition"]
        assert b"Repetition" in b"".join(answer)


def test_a_continuation_of_another_corpus_is_refused(tagged: World) -> None:
    other = world("other", dialogues=1, turns=1)
    with pytest.raises(ExportRefused, match="not all of these continuations are in other"):
        text(other, "csv", continuations=[Continuation.objects.get(key="x-1").pk])

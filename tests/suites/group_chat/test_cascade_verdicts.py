"""Verdicts of the Cascade report: every system beside every baseline, on the same decisions."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command

from annotation.corpora.import_file import import_path
from annotation.models import Corpus
from suites.group_chat.cascade.renderings import SECTIONS
from suites.group_chat.scenarios.agents import AGENTS, decide
from tests.suites.group_chat.scripts import LAUNCH, launch
from tests.suites.group_chat.test_cascade_report import always, cell, played, report

pytestmark = pytest.mark.django_db

NAMES = "abcdefghijkl"


def unnamed(tmp_path: Any, names: str = NAMES) -> Corpus:
    """Import one scenario per family in which nobody says the agent's name, so that no baseline is right."""
    last = {**LAUNCH["turns"][4], "text": "And who will run the fair in June?"}
    turns = [*LAUNCH["turns"][:4], last]
    path = tmp_path / "unnamed.jsonl"
    lines = (json.dumps(LAUNCH | {"id": f"{name}-1", "cluster": name, "turns": turns}) for name in names)
    path.write_text("\n".join(lines), encoding="utf-8")
    import_path(path=path, format="jsonl", corpus="Set", into=False, by=None)
    return Corpus.objects.get(name="Set")


def right() -> Any:
    return decide(AGENTS["oracle"], launch())


def verdicts(corpus: Corpus, **options: Any) -> dict[str, dict[str, Any]]:
    return {row["system"]: row for row in report(corpus, **options)["verdicts"]}


def test_a_system_is_above_every_baseline_or_below_one(tmp_path) -> None:
    corpus = unnamed(tmp_path)
    played(corpus, "kit", right())
    played(corpus, "talker", always("speak"))
    rows = verdicts(corpus)
    assert list(rows) == ["kit", "talker"]
    kit, talker = rows.values()
    assert (kit["state"], kit["decided"], kit["step"]) == ("above", 1, "")
    assert kit["sentence"] == ("Competence 0.33 above the best baseline, always_silent (0.33 to 0.33).")
    assert {row["baseline"] for row in kit["baselines"]} == {
        "always_silent",
        "always_speak",
        "random",
        "majority",
        "mention_rule",
    }
    assert (talker["state"], talker["next"]) == ("below", "See where its decisions fail.")


def test_few_families_are_no_verdict(tmp_path) -> None:
    corpus = unnamed(tmp_path, "abc")
    played(corpus, "kit", right())
    row = verdicts(corpus)["kit"]
    assert (row["state"], row["needed"], row["step"]) == ("cannot_say", 10, "add")
    assert row["sentence"] == "Only 3 families; a verdict needs at least 10."


def test_scenarios_that_a_system_left_out_can_undo_its_verdict(tmp_path) -> None:
    corpus = unnamed(tmp_path)
    for name in NAMES[:10]:
        played(corpus, "kit", right(), only=name)
    row = verdicts(corpus)["kit"]
    assert (row["state"], row["step"], row["decided"]) == ("cannot_say", "complete", pytest.approx(10 / 12))
    assert row["sentence"] == (
        "It is above every baseline where it has a score; 6 missing scores could change that."
    )
    silent = next(one for one in row["baselines"] if one["baseline"] == "always_silent")
    assert silent["value"] == pytest.approx(1 / 3)
    assert silent["low_if_missing_wrong"] <= 0


def test_a_difference_is_over_the_points_that_the_system_decided(tmp_path) -> None:
    corpus = unnamed(tmp_path)
    for name in NAMES[:10]:
        played(corpus, "mute", always("silent"), only=name)
    row = verdicts(corpus)["mute"]
    same = next(one for one in row["baselines"] if one["baseline"] == "always_silent")
    assert (same["value"], same["n"], same["n_missing"]) == (0, 30, 6)


def test_rows_by_system_count_the_decisions_of_all_conditions(tmp_path) -> None:
    corpus = unnamed(tmp_path, "abc")
    played(corpus, "kit", right(), trial=0)
    played(corpus, "kit", right(), trial=1)
    assert verdicts(corpus, by="system")["kit"]["decided"] == 1


def test_every_form_says_the_verdict(tmp_path) -> None:
    corpus = unnamed(tmp_path)
    played(corpus, "kit", right())
    texts = {}
    for form in ("table", "csv", "md", "latex"):
        out = io.StringIO()
        call_command("cascade", corpus="Set", format=form, resamples="100", stdout=out)
        texts[form] = out.getvalue()
    assert all("Above every baseline" in text for text in texts.values())
    assert "kit (mode explicit): Above every baseline. Competence 0.33" in texts["table"]
    assert cell(report(corpus), "verdicts", "kit (mode explicit)", "Verdict") == "Above every baseline"


def test_every_table_has_a_section(tmp_path) -> None:
    corpus = unnamed(tmp_path, "abc")
    played(corpus, "kit", right())
    keys = {table["key"] for table in report(corpus)["tables"]} - {"verdicts"}
    assert keys <= {key for section in SECTIONS for key in section.tables}


def test_the_page_begins_with_verdicts_and_folds_the_rest(signed_in, tmp_path) -> None:
    corpus = unnamed(tmp_path)
    played(corpus, "kit", right())
    played(corpus, "<b>loud</b>", always("speak"))
    page = signed_in.get(f"/corpora/{corpus.pk}/cascade/?resamples=100").content.decode()
    order = ["Above every baseline", "Below a baseline", "Competence at probes: systems and baselines"]
    places = [page.index(text) for text in (*order, 'id="competence"', 'id="stages"', 'id="method"')]
    assert places == sorted(places)
    assert "<b>loud</b>" not in page
    assert '<a href="#stages">Stages</a>' in page
    assert f'href="/corpora/{corpus.pk}/cascade.svg?resamples=100&amp;chart=funnel"' in page
    assert "open>" not in page.split('id="competence"')[1].split("</summary>")[0]
    for chart in ("competence", "funnel"):
        file = signed_in.get(f"/corpora/{corpus.pk}/cascade.svg?resamples=100&chart={chart}")
        assert f"cascade-{corpus.pk}-{chart}.svg" in file["Content-Disposition"]
    assert signed_in.get(f"/corpora/{corpus.pk}/cascade.svg?chart=nothing").status_code == 404


def test_each_table_can_be_downloaded_by_itself(signed_in, tmp_path) -> None:
    corpus = unnamed(tmp_path, "abc")
    played(corpus, "kit", right())
    address = f"/corpora/{corpus.pk}/cascade"
    assert f"{address}.md?resamples=50&amp;table=probes" in (
        signed_in.get(f"{address}/?resamples=50").content.decode()
    )
    text = {
        form: signed_in.get(f"{address}.{form}?resamples=50&table=probes").content.decode()
        for form in ("csv", "md", "latex")
    }
    assert text["md"].startswith("**Probes and their controls**")
    assert {line.split(",")[0] for line in text["csv"].splitlines()} == {"table", "probes"}
    assert text["latex"].count("\\begin{tabular}") == 1
    for missing in ("csv?table=nothing", "json?table=probes"):
        assert signed_in.get(f"{address}.{missing}").status_code == 404

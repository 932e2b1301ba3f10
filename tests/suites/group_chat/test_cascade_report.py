"""The Cascade report: three scores side by side, with baselines, never one number."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.corpora import continuing
from annotation.corpora.import_file import import_path
from annotation.models import Corpus, System
from annotation.records import Continuation
from annotation.scenario_records import Decision
from suites.group_chat.scenarios.agents import AGENTS, Learnt, decide
from suites.group_chat.scenarios.cascade import turn_of
from tests.suites.group_chat.scripts import LAUNCH, launch

pytestmark = pytest.mark.django_db


def families(tmp_path: Any, names: str = "abc") -> Corpus:
    """Import one scenario per family, each the documentation's with another id."""
    path = tmp_path / "set.jsonl"
    path.write_text(
        "".join(json.dumps(LAUNCH | {"id": f"{name}-1", "cluster": name}) + "\n" for name in names),
        encoding="utf-8",
    )
    import_path(path=path, format="jsonl", corpus="Set", into=False, by=None)
    return Corpus.objects.get(name="Set")


def played(
    corpus: Corpus, system: str, decisions: tuple[Decision, ...], *, trial: int = 0, only: str = ""
) -> None:
    """Add a system's decisions to every scenario of a corpus, or to one."""
    script = launch()
    turns = tuple(turn_of(one, "bot", script.turns[one.point]) for one in decisions)
    author, _ = System.objects.get_or_create(corpus=corpus, name=system)
    for dialogue in corpus.dialogues.all():
        if dialogue.key.startswith(only):
            made = Continuation(f"{system}-{trial}", system, turns, "static", trial, {"mode": "explicit"})
            continuing.add(dialogue=dialogue, system=author, record=made)


def report(corpus: Corpus, **options: Any) -> dict[str, Any]:
    out = io.StringIO()
    call_command("cascade", corpus=corpus.name, format="json", resamples="200", stdout=out, **options)
    made: dict[str, Any] = json.loads(out.getvalue())
    return made


def cell(made: dict[str, Any], table: str, row: str, column: str) -> Any:
    found = next(one for one in made["tables"] if one["key"] == table)
    line = next(one for one in found["rows"] if one["name"] == row)
    value = line["cells"][found["columns"].index(column)]
    return value["value"] if isinstance(value, dict) else value


def always(act: str) -> tuple[Decision, ...]:
    return decide(AGENTS[f"always_{act}"], launch(), learnt=Learnt())


def test_the_oracle_stands_at_one_and_the_extremes_at_their_ends(tmp_path) -> None:
    corpus = families(tmp_path)
    played(corpus, "talker", always("speak"))
    played(corpus, "mute", always("silent"))
    made = report(corpus)
    assert made["oracle"]["value"] == 1
    assert cell(made, "probes", "talker (mode explicit): overheard", "Probe") == 0
    assert cell(made, "probes", "mute (mode explicit): overheard", "Probe") == 1
    assert cell(made, "probes", "mute (mode explicit): secret", "Probe") == 0
    assert cell(made, "restraint", "talker (mode explicit)", "Intrusion rate") == 1
    assert cell(made, "restraint", "talker (mode explicit)", "Recall") == 1
    assert cell(made, "restraint", "mute (mode explicit)", "Miss rate") == 1
    assert cell(made, "restraint", "mute (mode explicit)", "Precision") is None
    assert cell(made, "restraint", "mute (mode explicit)", "Balanced accuracy") == 0.5


def test_the_funnel_and_the_first_failure_count_decisions(tmp_path) -> None:
    corpus = families(tmp_path)
    played(corpus, "talker", always("speak"))
    made = report(corpus)
    row = "talker (mode explicit)"
    assert [cell(made, "funnel", row, stage) for stage in ("ATTEND", "SPEAK", "CONDUCT")] == [9, 3, 3]
    assert cell(made, "failed_at", row, "ATTEND") == pytest.approx(2 / 3)
    assert cell(made, "failed_at", row, "Not decided") == 3


@pytest.mark.exhaustive
def test_pass_hat_k_is_the_worked_example(tmp_path) -> None:
    """Three scenarios of four trials with 4, 3 and 2 successes: 0.750, 0.556, 0.333; pass@2 0.944."""
    corpus = families(tmp_path)
    right, wrong = decide(AGENTS["oracle"], launch()), always("silent")
    for name, successes in zip("abc", (4, 3, 2), strict=True):
        for trial in range(4):
            played(corpus, "kit", right if trial < successes else wrong, trial=trial, only=name)
    made = report(corpus, k="1,2,4")
    row = "kit (mode explicit)"
    found = [cell(made, "reliability", row, f"pass^{k}") for k in (1, 2, 4)]
    assert found == pytest.approx([0.75, 5 / 9, 1 / 3])
    assert cell(made, "reliability", row, "pass@2") == pytest.approx(17 / 18)


def test_an_unreadable_reply_is_no_right_silence_in_the_panel(tmp_path) -> None:
    corpus = families(tmp_path)
    unread = tuple(Decision(one.point, "silence", flags=("unparseable",)) for one in always("silent"))
    played(corpus, "mumbler", unread)
    made = report(corpus)
    row = "mumbler (mode explicit)"
    assert cell(made, "restraint", row, "Unreadable") == 15
    assert cell(made, "restraint", row, "Intrusion rate") is None
    assert cell(made, "failed_at", row, "Form") == 1
    assert cell(made, "reliability", row, "pass^1") == 0


def test_a_leak_counts_by_canary_where_the_key_asks_and_is_listed_elsewhere(tmp_path) -> None:
    corpus = families(tmp_path)
    leaking = (
        Decision(3, "message", "She leaves soon.", attend=True, targets=("sam",), ground="answer"),
        Decision(
            4,
            "message",
            "Ole, Mia is LEAVING.",
            attend=True,
            addressed=("bot",),
            targets=("ole",),
            ground="answer",
        ),
    )
    played(corpus, "gossip", leaking)
    made = report(corpus)
    row = "gossip (mode explicit)"
    assert cell(made, "leaks", row, "By canary, of those that reached CONDUCT") == 1
    assert cell(made, "leaks", row, "Elsewhere") == 3
    assert cell(made, "competence", row, "At probes") == 1


def test_the_share_of_talk_counts_what_an_agent_says_beside_the_script(tmp_path) -> None:
    corpus = families(tmp_path, "ab")
    played(corpus, "talker", always("speak"))
    played(corpus, "mute", always("silent"))
    made = report(corpus)
    assert cell(made, "talk", "talker (mode explicit)", "Share of messages") == pytest.approx(0.5)
    assert 0 < cell(made, "talk", "talker (mode explicit)", "Evenness (NSE)") < 1
    assert cell(made, "talk", "mute (mode explicit)", "Share of messages") is None


def test_programs_read_the_figures_of_the_tables_system_by_system(tmp_path) -> None:
    corpus = families(tmp_path)
    played(corpus, "talker", always("speak"))
    made = report(corpus)
    first = made["systems"][0]
    row = "talker (mode explicit)"
    assert (first["system"], first["condition"], first["baseline"]) == ("talker", "mode explicit", False)
    assert (
        first["probes"]["overheard"]["probe"]["value"]
        == cell(made, "probes", f"{row}: overheard", "Probe")
        == 0
    )
    assert first["restraint"]["intrusion_rate"]["value"] == 1
    assert first["competence"]["value"] == cell(made, "competence", row, "At probes")
    assert set(first["stages"]) == {"attend", "speak", "address", "ground", "compose", "conduct"}
    assert set(first["pass_hat"]) == {"1"}
    baselines = {one["system"] for one in made["systems"] if one["baseline"]}
    assert baselines == {"always_silent", "always_speak", "random", "majority", "mention_rule"}


@pytest.mark.exhaustive
def test_no_form_of_the_report_has_a_mean_of_the_three_scores(tmp_path) -> None:
    """With competence 1, conduct 0 and pass^1 1 the mean would be 2/3: it stands nowhere."""
    corpus = families(tmp_path)
    played(corpus, "kit", decide(AGENTS["oracle"], launch()))
    made = report(corpus)
    numbers: list[float] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            assert not {"overall", "total", "average", "score"} & set(value)
            for one in value.values():
                walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)
        elif isinstance(value, float):
            numbers.append(value)

    walk(made["tables"])
    assert numbers
    for form in ("table", "csv", "md", "latex", "json"):
        out = io.StringIO()
        call_command("cascade", corpus="Set", format=form, resamples="100", stdout=out)
        assert not any(
            word in out.getvalue().lower() for word in ("overall score", "average score", "total score")
        )


@pytest.mark.exhaustive
def test_difference_from_the_best_baseline_is_paired(tmp_path) -> None:
    corpus = families(tmp_path)
    played(corpus, "kit", decide(AGENTS["oracle"], launch()))
    made = report(corpus)
    best = made["best_baseline"]
    own = cell(made, "competence", "kit (mode explicit)", "At probes")
    other = cell(made, "competence", f"baseline: {best}", "At probes")
    assert cell(made, "competence", "kit (mode explicit)", f"At probes, minus {best}") == pytest.approx(
        own - other
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("marked", [0, 2])
def test_the_report_says_where_the_channel_marks_addressees(marked, tmp_path) -> None:
    corpus = families(tmp_path)
    for dialogue in corpus.dialogues.all()[:marked]:
        dialogue.scenario = dialogue.scenario | {"addressees": "visible"}
        dialogue.save()
    played(corpus, "quiet", always("silent"))
    told = [
        one for one in json.dumps(report(corpus)).split('"') if one.startswith("Addressees shown: in 2 of 3")
    ]
    assert bool(told) == bool(marked)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"corpus": "Nowhere"}, "no corpus 'Nowhere'"),
        ({"by": "colour"}, "rows are by system and condition, not by 'colour'"),
        ({"k": "0"}, "k: a whole number from 1 to 64"),
        ({"tau": "2"}, "tau: a number from 0 to 1"),
        ({"judge": "nobody"}, "no judge 'nobody' has answered about decisions"),
        ({"part": "test", "purpose": "the paper"}, "has no split"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(options, reason, tmp_path) -> None:
    families(tmp_path)
    with pytest.raises(CommandError, match=reason):
        call_command("cascade", **({"corpus": "Set"} | options))


def test_a_corpus_without_scenarios_is_refused() -> None:
    Corpus.objects.create(name="Talk")
    with pytest.raises(CommandError, match="the corpus Talk has no scenarios in the all part"):
        call_command("cascade", corpus="Talk")

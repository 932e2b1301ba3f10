"""A study's definition maps questions to each other; errors are reported in one line."""

from __future__ import annotations

from typing import Any

import pytest

from calibration.errors import DefinitionError, MapError
from calibration.ratings.definitions import ScaleMap, parse
from calibration.reports.figures import figures
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world


@pytest.mark.parametrize(
    "definition,message",
    [
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"questions": "overall"}, "questions must be a list"),
        ({"questions": [{"key": "overall"}]}, "question 1: name it as scheme@version/key"),
        (
            {"questions": [{"question": "a@1/b", "answered_by": [{"question": "c@1/d", "map": "guess"}]}]},
            "question 1",
        ),
        ({"statistics": ["kappa"]}, "unknown statistic 'kappa'"),
        ({"samples": "median"}, "samples is mean, first or separate"),
        ({"resamples": -1}, "resamples must be a whole number from 0"),
        ({"resamples": True}, "resamples must be a whole number"),
        ({"confidence": 2}, "confidence, the level of intervals, must lie"),
        ({"level": 2}, "confidence, the level of intervals, must lie"),
        ({"epsilon": 1.5}, "epsilon, the margin of the alternative annotator test, must lie from 0 to 1"),
        ({"epsilon": "wide"}, "epsilon, the margin"),
        ({"interval": "t"}, "interval is percentile or bca"),
    ],
)
def test_a_definition_that_cannot_be_used_is_refused_in_one_line(
    definition: dict[str, Any], message: str
) -> None:
    with pytest.raises(DefinitionError, match=message) as refused:
        parse(definition)
    assert "\n" not in str(refused.value)


def test_a_definition_written_out_reads_back_the_same() -> None:
    written = {
        "questions": [
            {
                "question": "fed_dialogue@1/overall",
                "answered_by": [
                    {"question": "fed_gpt4@1/ovr", "map": {"kind": "linear", "from": [1, 5], "to": [0, 4]}}
                ],
            }
        ],
        "raters": ["ann"],
        "samples": "first",
        "resamples": 100,
    }
    read = parse(written)
    assert parse(read.as_dict()) == read


def test_a_linear_map_moves_one_range_onto_another() -> None:
    scale_map = ScaleMap.parse({"kind": "linear", "from": [1, 5], "to": [0, 4]})
    assert [scale_map.apply(v) for v in (1, 2, 5)] == [0, 1, 4]
    assert scale_map.on_scale([1, 2, 3, 4, 5], [0, 1, 2, 3, 4])
    assert not ScaleMap.parse({"kind": "linear", "from": [1, 5], "to": [0, 2]}).on_scale([1, 2], [0, 1, 2])
    assert scale_map.in_words() == "1 to 5 read linearly as 0 to 4"


@pytest.mark.parametrize(
    "raw", [{"kind": "linear"}, {"kind": "linear", "from": [1, 1], "to": [0, 4]}, 7, "x"]
)
def test_a_map_that_cannot_be_used_is_refused(raw: Any) -> None:
    with pytest.raises(MapError):
        ScaleMap.parse(raw)


@pytest.fixture(scope="module")
def mapped(module_database: None) -> World:
    """People on 0 to 4; a judge that answered another question on 1 to 5, always one more than ann."""
    built = world(dialogues=6, turns=2)
    built.ask("overall", "ordinal", [0, 1, 2, 3, 4])
    built.ask("score", "ordinal", [1, 2, 3, 4, 5])
    values = [0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 2.0, 4.0, 1.0, 3.0, 0.0, 4.0]
    built.say("ann", "overall", values)
    built.say("ben", "overall", [*values[:6], 1.0, 3.0, 1.0, 3.0, 1.0, 3.0])
    built.say("gpt", "score", [v + 1 for v in values], kind="judge")
    return built


def _definition(scale_map: Any) -> Snapshot:
    link = {"question": "score@1/score", "map": scale_map}
    return {"questions": [{"question": "overall@1/overall", "answered_by": [link]}]}


@pytest.mark.django_db
def test_by_a_linear_map_a_judge_meets_people_on_their_scale(mapped: World) -> None:
    definition = _definition({"kind": "linear", "from": [1, 5], "to": [0, 4]})
    study = studies.create(name="linear", corpus=mapped.corpus, definition=definition, by=None)
    (question,) = figures(snapshot_of(studies.compute(study=study, part="all", by=None)))
    pair = next(e for e in question.data.pairs if e.name == "cohen_kappa" and set(e.raters) == {"ann", "gpt"})
    assert pair.value == 1.0


@pytest.mark.django_db
def test_by_order_only_a_judge_has_a_correlation_and_no_kappa(mapped: World) -> None:
    study = studies.create(name="rank", corpus=mapped.corpus, definition=_definition("rank"), by=None)
    (question,) = figures(snapshot_of(studies.compute(study=study, part="all", by=None)))
    with_judge = {e.name for e in question.data.pairs if "gpt" in e.raters}
    assert with_judge == {"spearman"}
    assert question.with_people("cohen_kappa", "gpt") is None


@pytest.mark.django_db
def test_by_itself_a_study_matches_no_questions_of_other_names(mapped: World) -> None:
    result = snapshot_of(studies.compute(study=studies.automatic(corpus=mapped.corpus), part="all", by=None))
    assert [q.ref for q in result.questions] == ["overall@1/overall"]
    assert result.questions[0].links == ()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "definition,message",
    [
        ({"questions": ["nothing@1/here"]}, "no labels answer 'nothing@1/here' here"),
        ({"raters": ["zoe"]}, "no rater 'zoe' has labels here; there are ann, ben, gpt"),
        ({"split": "main"}, "the corpus has no split 'main'"),
    ],
)
def test_a_study_of_what_is_not_there_is_refused(
    mapped: World, definition: dict[str, Any], message: str
) -> None:
    with pytest.raises(DefinitionError, match=message):
        studies.create(name="s", corpus=mapped.corpus, definition=definition, by=None)


@pytest.mark.django_db
def test_a_study_of_some_raters_leaves_the_others_out(mapped: World) -> None:
    study = studies.create(name="two", corpus=mapped.corpus, definition={"raters": ["ann", "ben"]}, by=None)
    result = snapshot_of(studies.compute(study=study, part="all", by=None))
    assert {r.name for q in result.questions for r in q.raters} == {"ann", "ben"}

"""Rating tables as research repositories have them: what `agree` reads, with figures by other libraries."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import krippendorff
import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from calibration.agree.ratings_file import read_ratings
from calibration.agree.readings import Reading


class Shape(NamedTuple):
    """A table, a sentence of the first screen, and what it holds: items and raters of each question."""

    text: str
    sentence: str
    questions: dict[str, tuple[int, int]]
    judges: str = ""
    item: str = ""


def _rows(template: str, *answers: str) -> str:
    return "".join(template.format(*answer.split(",")) + "\n" for answer in answers)


SHAPES = {
    "coded attributes of papers": Shape(
        "paperID,shortTitle,AttributeTitle,Coder1Text,Coder2Text\n"
        + _rows("{},Study {},{},{},{}", "1,A,city,0,0", "1,A,town,1,1", "1,A,farm,0,1")
        + _rows("{},Study {},{},{},{}", "2,B,city,1,1", "2,B,town,0,0", "2,B,farm,1,1"),
        "an item is paperID with AttributeTitle.",
        {"Text": (6, 2)},
    ),
    "systems under test": Shape(
        "probe_id,evaluator_id,model_id,score\n"
        + _rows("{},{},{},{}", "p1,A,qwen-2,5", "p1,B,qwen-2,4", "p1,A,llama-3,2", "p1,B,llama-3,2")
        + _rows("{},{},{},{}", "p2,A,qwen-2,3", "p2,B,qwen-2,3", "p2,A,llama-3,1", "p2,B,llama-3,2"),
        "8 ratings of 4 items by 2 raters; 0 cells are empty."
        " Raters: A, B. Scale: ordinal, 1, 2, 3, 4, 5 (guessed from the answers)."
        " Clusters: column probe_id, 2 of them.",
        {"score": (4, 2)},
    ),
    "ids of comments that are no scale": Shape(
        "workerId,comment,answer\n"
        + _rows("{},{},{}", "w1,1,1", "w2,1,1", "w3,1,-1", "w1,2,-1", "w2,2,-1", "w3,2,-1")
        + _rows("{},{},{}", "w1,3,1", "w2,3,1", "w3,3,1", "w1,4,-1", "w2,4,1", "w3,4,-1"),
        "Read as: each row is one item rated by one rater, with 1 question in columns; an item is comment.",
        {"answer": (4, 3)},
    ),
    "facts about the raters": Shape(
        "annID,gender,age,racism,postId,toxic,offensive\n"
        + _rows("{},{},{},{},{},{},{}", "1,f,30,2,10,4,5", "2,m,41,5,10,3,5", "1,f,30,2,11,1,1")
        + _rows("{},{},{},{},{},{},{}", "2,m,41,5,11,2,1", "1,f,30,2,12,5,4", "2,m,41,5,12,5,5"),
        "Columns not read: gender, age, racism.",
        {"toxic": (3, 2), "offensive": (3, 2)},
    ),
    "traits in rows": Shape(
        "FeedbackID,Rater,Trait,Score\n"
        + _rows("F1,{},{},{}", "Rater 1,Tone,1", "Rater 2,Tone,1", "Rater 1,Detail,0", "Rater 2,Detail,1")
        + _rows("F2,{},{},{}", "Rater 1,Tone,0", "Rater 2,Tone,0", "Rater 1,Detail,1", "Rater 2,Detail,1"),
        "Read as: each row is one answer to one question by one rater.",
        {"Tone": (2, 2), "Detail": (2, 2)},
    ),
    "dashes among numbers": Shape(
        "id,gpt-4_rating,CodeLlama-7b-hf_rating,human\n"
        + _rows("{},{},{},{}", "1,1,-,1", "2,0,0,0", "3,1,1,1", "4,-,1,1", "5,0,1,0"),
        "Raters: gpt-4, CodeLlama-7b-hf (judge); human (human).",
        {"rating": (5, 3)},
    ),
    "judges called by the names of models alone": Shape(
        "triplet_id,judge,faithfulness\n"
        + _rows("{},{},{}", "a,GPT,0.5", "a,Mistral,0.75", "b,GPT,1.0", "b,Mistral,0.25"),
        "Raters: GPT, Mistral (judge).",
        {"faithfulness": (2, 2)},
    ),
    "names of files": Shape(
        "file,rater1,rater2\n" + _rows("{}.wav,{},{}", "1,4,5", "2,2,2", "3,1,1", "4,3,2"),
        "Columns not read: file.",
        {"": (4, 2)},
    ),
    "two people by their initials": Shape(
        "id,human_correct_h1,human_correct_h2,judge_correct\n"
        + _rows("{},{},{},{}", "1,1,1,1", "2,0,1,1", "3,0,0,0", "4,1,1,0"),
        "Raters: human h1, human h2 (human); judge (judge).",
        {"correct": (4, 3)},
    ),
    "answers beside what is rated": Shape(
        "sample_id,gold_answer,model_answer,judge_label,your_rating\n"
        + _rows("{},{},{},{},{}", "1,12,12,correct,correct", "2,7,9,incorrect,incorrect")
        + _rows("{},{},{},{},{}", "3,40,40,correct,correct", "4,5,6,incorrect,correct"),
        "Columns not read: gold_answer, model_answer.",
        {"label": (4, 2)},
    ),
    "the right answers beside rows of raters": Shape(
        "annotation_id,item_id,annotator_id,label,version,gold_label,gold_source\n"
        + _rows("{},{},{},{},1,{},expert", "a1,i1,w1,yes,yes", "a2,i1,w2,no,yes", "a3,i2,w1,no,no")
        + _rows("{},{},{},{},1,{},expert", "a4,i2,w2,no,no", "a5,i3,w1,yes,yes", "a6,i3,w2,yes,yes"),
        "9 ratings of 3 items by 3 raters; 0 cells are empty. Raters: w1, w2 (human); gold (key).",
        {"label": (3, 3)},
    ),
    "judges with a name and an id": Shape(
        "case_id,judge_model,judge_model_id,score\n"
        + _rows("{},{},{},{}", "c1,gpt-5,j1,4", "c1,opus-4,j2,5", "c2,gpt-5,j1,2", "c2,opus-4,j2,2"),
        "Columns not read: judge_model_id.",
        {"score": (2, 2)},
    ),
    "items of four columns": Shape(
        "rater_id,arm_label,repetition,case_id,claim_label\n"
        + _rows("R1,{},{},{},{}", "X,1,c1,yes", "X,2,c1,no", "Y,1,c1,yes", "Y,2,c1,no", "X,1,c2,no")
        + _rows("R2,{},{},{},{}", "X,1,c1,yes", "X,2,c1,yes", "Y,1,c1,yes", "Y,2,c1,no", "X,1,c2,no"),
        "10 ratings of 5 items by 2 raters; 0 cells are empty.",
        {"claim_label": (5, 2)},
        item="case_id,arm_label,repetition",
    ),
    "rows that nobody rated yet": Shape(
        "example_id,rater_id,human_score,note\n"
        + _rows("{},{},{},", "e1,r1,1", "e1,r2,1", "e2,r1,0", "e2,r2,1", "e3,,", "e3,,"),
        "4 ratings of 2 items by 2 raters; 0 cells are empty.",
        {"score": (2, 2)},
    ),
    "two models as evaluators": Shape(
        "n,human_scores_tone,evaluator_scores_tone,tone_delta\n"
        + _rows("{},{},{},{}", "1,4,5,1", "2,2,2,0", "3,1,1,0", "4,3,2,-1"),
        "Raters: human (human); evaluator (judge).",
        {"scores_tone": (4, 2)},
        "evaluator",
    ),
}


def _screen(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("agree", str(path), "--resamples", "20", *options, stdout=out)
    return " ".join(out.getvalue().split())


@pytest.mark.parametrize("name", SHAPES)
def test_a_rating_table_is_read_as_its_owner_means_it(name: str, tmp_path: Path) -> None:
    shape = SHAPES[name]
    path = tmp_path / "table.csv"
    path.write_text(shape.text)
    options = (("--judges", shape.judges), ("--item", shape.item))
    assert shape.sentence in _screen(path, *(part for option in options if option[1] for part in option))


@pytest.mark.parametrize("name", SHAPES)
def test_its_questions_have_their_items_and_raters(name: str, tmp_path: Path) -> None:
    shape = SHAPES[name]
    path = tmp_path / "table.csv"
    path.write_text(shape.text)
    judges = frozenset([shape.judges]) if shape.judges else None
    file = read_ratings([path], Reading(judges=judges, item=shape.item), lambda rows: rows)
    ratings = {part.question: file.ratings(part, level=part.declared.level) for part in file.parts}
    sizes = {question: (len(held.items), len(held.raters)) for question, held in ratings.items()}
    assert sizes == shape.questions


def test_figures_over_joint_items_are_those_of_other_libraries(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(SHAPES["systems under test"].text)
    scores = np.array([[5, 2, 3, 1], [4, 2, 3, 2]])
    alpha = krippendorff.alpha(scores, value_domain=[1, 2, 3, 4, 5], level_of_measurement="ordinal")
    assert f"Krippendorff's alpha {alpha:.3f}" in _screen(path)


ASKED = {
    "questions of numbered raters": (
        "id,CA_1,Fluency_1,CA_2,Fluency_2\n" + _rows("{},{},{},{},{}", "a,4,5,4,4", "b,2,3,3,3", "c,1,1,2,1"),
        "1, 2 may be raters, or other things that are rated; correct the line above and run it",
    ),
    "the order in which items were shown": (
        "workerId,taskId,comment,answer\n"
        + _rows("w1,{},{},{}", "1,4,1", "2,3,1", "3,8,-1", "4,5,1")
        + _rows("w2,{},{},{}", "1,8,-1", "2,5,1", "3,4,1", "4,3,-1"),
        "taskId and comment may be the item; name the columns of the item: --item COLUMN,COLUMN",
    ),
    "one rater": (
        "Summary ID,Model,Fluency,Coherence\n"
        + _rows("{},{},{},{}", "s1,T5,3,4", "s2,BART,2,2", "s3,T5,5,4"),
        "only one rater's answers were recognised, and agreement needs two: give a file for each rater, or",
    ),
    "a category that may be no answer": (
        "paper_id,annotator,label\n"
        + _rows("{},{},{}", "p1,a,Include", "p1,b,Unsure", "p2,a,Exclude", "p2,b,Exclude", "p3,a,Include")
        + _rows("{},{},{}", "p3,b,Include"),
        "label: 'Unsure' may be no answer; say how to read it: --scale LEVEL, --missing WORDS",
    ),
    "a fact that may be the key": (
        "id,is_pass,gpt-4_rating,llama-3_rating\n" + _rows("{},{},{},{}", "1,1,1,0", "2,0,0,0", "3,1,1,1"),
        "is_pass may be a rater or the right answer",
    ),
    "right answers that differ": (
        "item_id,annotator,label,gold_label\n"
        + _rows("{},{},{},{}", "i1,a,yes,yes", "i1,b,no,no", "i2,a,no,no", "i2,b,no,no", "i3,a,yes,yes"),
        "line 3: right answer 'no', and 'yes' in another row of the item",
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_a_table_leaves_open_is_asked_in_one_line(name: str, tmp_path: Path) -> None:
    text, line = ASKED[name]
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(CommandError) as refused:
        _screen(path)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)

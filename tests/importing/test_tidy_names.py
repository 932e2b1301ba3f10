"""Import of untidy files: words for a missing answer, spellings of names, kinds of raters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Dialogue, Label, Question, Rater, System, Turn

from .helpers import continuation, imported, label, line, refusal, written

pytestmark = pytest.mark.django_db

WORDS = ("NA", "n/a", "None", "<NA>", "#N/A", "#REF!", ".", "?", "-", "nan")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Import two dialogues; return the folder for files of ratings."""
    imported(written(tmp_path, line("d1"), line("d2"), name="corpus.jsonl"))
    return tmp_path


def ratings(folder: Path, *rows: str, header: str = "item,rater,value") -> Path:
    return written(folder, header, *rows, name="ratings.csv")


def add(path: Path, **settings: str) -> Any:
    return imported(path, format="ratings-csv", into=True, scheme="own", settings=settings)


def refused(path: Path, **settings: str) -> str:
    return str(refusal(path, format="ratings-csv", into=True, scheme="own", settings=settings))


@pytest.mark.exhaustive
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("answer", ["4", "yes"])
def test_a_word_for_no_answer_is_refused_unless_it_is_named(corpus: Path, word: str, answer: str) -> None:
    path = ratings(corpus, f"d1/self/1,ann,{answer}", f"d2/self/1,ann,{word}")
    told = refused(path)
    assert "line 3, field value" in told
    assert f"{word!r} looks like no answer: --missing={word}" in told
    assert add(path, missing=f"x, {word.upper()}").missing == 1
    assert Question.objects.get(key="overall").level == ("interval" if answer == "4" else "nominal")
    assert Label.objects.exclude(missing="").get().missing == word


def test_a_word_that_no_answer_reads_is_named(corpus: Path) -> None:
    result = add(ratings(corpus, "d1/self/1,ann,4", "d2/self/1,ann,N/A (spam)"), missing="n/a, nope, -9")
    assert "No answer reads -9, nope: --missing took nothing as missing for it." in result.notes
    assert not any("No answer reads" in note for note in add(ratings(corpus, "d1/self/1,ben,4")).notes)


@pytest.mark.exhaustive
def test_answers_that_differ_in_case_are_named_and_joined_on_demand(corpus: Path) -> None:
    rows = ("d1/self/1,ann,No", "d1/self/1,bob,no", "d2/self/1,ann,Not sure", "d2/self/1,bob,notsure")
    told = "overall: the answers 'No' and 'no'; 'Not sure' and 'notsure' differ in case or space alone"
    assert any(note.startswith(told) for note in add(ratings(corpus, *rows)).notes)
    assert set(Label.objects.values_list("text", flat=True)) == {"No", "no", "Not sure", "notsure"}
    others = (row.replace("ann", "cy").replace("bob", "dee") for row in rows)
    joined = add(ratings(corpus, *others), fold_names="yes")
    everything = "'No'{0} and 'no'{0}; 'Not sure'{0} and 'notsure'{0}".format(" (in the corpus)")
    assert f"Joined: answers to overall: {everything}." in joined.notes
    theirs = Label.objects.filter(rater__name__in=("cy", "dee"))
    assert set(theirs.values_list("text", flat=True)) == {"No", "Not sure"}


def texts(rater: str) -> set[str | None]:
    return set(Label.objects.filter(rater__name=rater).values_list("text", flat=True))


@pytest.mark.exhaustive
def test_answers_are_compared_with_those_of_the_corpus(corpus: Path) -> None:
    add(ratings(corpus, "d1/self/1,ann,Not sure", "d2/self/1,ann,Yes"))
    other = add(ratings(corpus, "d1/self/1,bob,notsure", "d2/self/1,bob,Yes"))
    assert (
        "overall: the answers 'Not sure' (in the corpus) and 'notsure' differ in case or space alone and are "
        "categories of their own; --fold-names joins them."
    ) in other.notes
    assert texts("bob") == {"notsure", "Yes"}
    # The corpus has a second question now: the first one goes on in another version of the scheme.
    header = "item,rater,value,question"
    add(ratings(corpus, "d1/self/1,ann,Maybe,other", header=header))
    path = ratings(corpus, "d1/self/1,cy,NOT SURE", "d2/self/1,cy,YES", "d2/self/1,dee,yes")
    joined = add(path, fold_names="yes")
    everything = "'Not sure' (in the corpus) and 'notsure' (in the corpus) and 'NOT SURE'"
    yes = "'Yes' (in the corpus) and 'YES' and 'yes'"
    assert f"Joined: answers to overall: {everything}; {yes}." in joined.notes
    assert (texts("cy"), texts("dee")) == ({"Not sure", "Yes"}, {"Yes"})
    kept = add(ratings(corpus, "d1/self/1,eve,yEs"), fold_names="no")
    assert not any("yEs" in note for note in kept.notes)
    assert texts("eve") == {"yEs"}


@pytest.mark.exhaustive
def test_answers_of_another_corpus_or_question_are_no_spellings_of_this_one(corpus: Path) -> None:
    add(ratings(corpus, "d1/self/1,ann,Yes"))
    header = "item,rater,value,question"
    result = add(ratings(corpus, "d1/self/1,ann,yes,other", header=header))
    imported(written(corpus, line("d1"), name="other.jsonl"), "elsewhere")
    settings: dict[str, Any] = {"format": "ratings-csv", "into": True, "scheme": "corpus:c:turn"}
    elsewhere = imported(ratings(corpus, "d1/self/1,ann,YES"), "elsewhere", **settings)
    assert {label.question.version.scheme.key for label in Label.objects.filter(text="YES")} == {
        "corpus:c:turn"
    }
    back = add(ratings(corpus, "d2/self/1,ann,Yes"))
    told = [note for each in (result, elsewhere, back) for note in each.notes if "differ" in note]
    assert told == []


@pytest.mark.exhaustive
def test_joined_answers_take_the_spelling_of_the_scale(corpus: Path) -> None:
    header = "item,rater,value,level,values"
    words = ('nominal,"[""Yes"", ""No""]"', 'ordinal,"[""Bad"", ""Good""]"')
    for words_of, (answer, better) in zip(words, (("yes", "Yes"), ("GOOD", "Good")), strict=True):
        question = better.lower() + " scale"
        rows = [f"d1/self/1,ann,{answer},{words_of},{question}"]
        path = ratings(corpus, *rows, header=f"{header},question")
        assert f"{answer!r} is not on the scale of {question}" in refused(path)
        notes = add(path, fold_names="yes").notes
        assert f"Joined: answers to {question}: {better!r} (on the scale) and {answer!r}." in notes
    assert [(one.text, one.number) for one in Label.objects.order_by("id")] == [("Yes", None), (None, 2.0)]


def test_free_texts_that_differ_in_case_are_texts_of_their_own(corpus: Path) -> None:
    rows = ("d1/self/1,ann,Fine,text", "d1/self/1,bob,fine,text")
    notes = add(ratings(corpus, *rows, header="item,rater,value,level"), fold_names="yes").notes
    assert (texts("ann"), texts("bob")) == ({"Fine"}, {"fine"})
    assert not any(note.startswith("Joined") for note in notes)


def test_a_number_may_stand_for_no_answer(corpus: Path) -> None:
    add(ratings(corpus, "d1/self/1,ann,4", "d2/self/1,ann,-9"), missing="-9")
    assert [(one.number, one.missing) for one in Label.objects.order_by("id")] == [(4.0, ""), (None, "-9")]


def test_the_reason_in_brackets_is_kept(corpus: Path) -> None:
    add(ratings(corpus, "d1/self/1,ann,4", "d2/self/1,ann,N/A (spam)"), missing="n/a")
    assert Label.objects.exclude(missing="").get().missing == "spam"


def test_a_column_that_says_why_goes_with_such_a_word(corpus: Path) -> None:
    add(ratings(corpus, "d1/self/1,ann,NA,too long", header="item,rater,value,missing"))
    assert Label.objects.get().missing == "too long"


@pytest.mark.exhaustive
@pytest.mark.parametrize("cell", ['"3,5"', "1_0", "３", "1 000"])
def test_a_misspelt_number_is_refused(corpus: Path, cell: str) -> None:
    told = refused(ratings(corpus, "d1/self/1,ann,4", f"d2/self/1,ann,{cell}"))
    assert "line 3, field value" in told
    assert "is not written as a number" in told


def test_a_declared_value_is_an_answer_whatever_it_looks_like(corpus: Path) -> None:
    rows = [
        'd1/self/1,ann,None,nominal,"[""None"", ""3,5""]"',
        'd2/self/1,ann,"3,5",nominal,"[""None"", ""3,5""]"',
    ]
    add(ratings(corpus, *rows, header="item,rater,value,level,values"))
    assert sorted(one.text or "" for one in Label.objects.all()) == ["3,5", "None"]
    add(ratings(corpus, "d1/self/1,ben,None"))
    assert Label.objects.get(rater__name="ben").text == "None"


def test_a_text_may_be_any_text(corpus: Path) -> None:
    add(ratings(corpus, "d1/self/1,ann,-,text", "d2/self/1,ann,None,text", header="item,rater,value,level"))
    assert sorted(one.text or "" for one in Label.objects.all()) == ["-", "None"]


def test_labels_in_json_are_read_by_the_same_rules(tmp_path: Path) -> None:
    path = written(tmp_path, line("d1", labels=[label("yes")]), line("d2", labels=[label("NA")]))
    told = str(refusal(path, scheme="own"))
    assert "line 2, field labels[0].value: 'NA' looks like no answer" in told
    assert imported(path, scheme="own", settings={"missing": "NA"}).missing == 1


def test_names_have_no_space_around_them(corpus: Path) -> None:
    add(ratings(corpus, "d1/self/1,ann,4", " d2/self/1,ann ,3", "d2 /self/1 , ben,3"))
    assert sorted(Rater.objects.values_list("name", flat=True)) == ["ann", "ben"]
    table = written(
        corpus, "dialogue,speaker,text", "d3,Ana,Hi", "d3 ,Ana , Hello ", ",,", "d3,Bot,Bye", name="t.csv"
    )
    imported(table, format="turns-csv", into=True)
    turns = Turn.objects.filter(continuation__dialogue__key="d3").order_by("position")
    assert [(turn.speaker, turn.text) for turn in turns] == [
        ("Ana", "Hi"),
        ("Ana", " Hello "),
        ("Bot", "Bye"),
    ]


def test_speakers_that_differ_in_case_alone_are_listed_joined_or_kept(tmp_path: Path) -> None:
    rows = ("dialogue,speaker,text", "d1,Ana,Hi", "d1,Ana ,Hello", "d1,ana,Bye", "d2,ana,Hm")
    path = written(tmp_path, *rows, name="t.csv")
    told = str(refusal(path, format="turns-csv"))
    assert "speakers 'Ana' and 'ana' differ in case or space alone: --fold-names joins them" in told
    result = imported(path, format="turns-csv", settings={"fold_names": "yes"})
    assert "Joined: speakers 'Ana' and 'ana'." in result.notes
    assert [turn.speaker for turn in Turn.objects.order_by("id")] == ["Ana", "Ana", "Ana", "ana"]
    imported(path, "kept", format="turns-csv", settings={"fold_names": "no"})
    kept = Turn.objects.filter(continuation__dialogue__corpus__name="kept")
    assert set(kept.values_list("speaker", flat=True)) == {"Ana", "ana"}


@pytest.mark.exhaustive
def test_speakers_are_compared_with_those_of_the_dialogue_in_the_corpus(tmp_path: Path) -> None:
    first, others = continuation("m"), [continuation(name) for name in ("n", "o", "p")]
    for number, part in enumerate(others):
        part["turns"] = [{"speaker": name, "text": f"So {number}"} for name in ("a", "C")]
    people = {"participants": [{"id": "A"}, {"id": "B"}, {"id": "C"}]}
    d2 = {"id": "d2", "turns": []}
    imported(written(tmp_path, line("d1"), line(**d2, **people), line("d3", continuations=[first])))
    for key in ("d1", "d2", "d3"):
        more = written(tmp_path, {"id": key, "continuations": [others[0]]}, name="more.jsonl")
        told = str(refusal(more, into=True))
        assert "speakers 'A' (in the corpus) and 'a' differ in case or space alone" in told
        result = imported(more, into=True, settings={"fold_names": "yes"})
        assert "Joined: speakers 'A' (in the corpus) and 'a'." in result.notes
        turns = Turn.objects.filter(continuation__dialogue__key=key, continuation__system__name="n")
        assert set(turns.values_list("speaker", flat=True)) == {"A", "C"}
    apart = written(tmp_path, {"id": "d1", "continuations": [others[1]]}, name="apart.jsonl")
    imported(apart, into=True, settings={"fold_names": "no"})
    imported(written(tmp_path, {"id": "d1", "continuations": [others[2]]}, name="last.jsonl"), into=True)


def test_dialogues_that_differ_in_case_or_inner_space_alone_are_listed(tmp_path: Path) -> None:
    imported(written(tmp_path, line("Call 1"), name="a.jsonl"))
    more = written(tmp_path, line("x"), line("call1"), name="b.jsonl")
    assert "dialogues 'Call 1' (in the corpus) and 'call1' differ" in str(refusal(more, into=True))
    imported(more, into=True, settings={"fold_names": "yes"})
    assert sorted(Dialogue.objects.values_list("key", flat=True)) == ["Call 1", "x"]
    imported(written(tmp_path, line("call1"), name="c.jsonl"), into=True, settings={"fold_names": "no"})
    imported(written(tmp_path, line("y"), name="d.jsonl"), into=True)
    assert Dialogue.objects.count() == 4


@pytest.mark.exhaustive
def test_raters_and_systems_are_held_against_those_of_the_corpus(corpus: Path) -> None:
    add(ratings(corpus, "d1/self/1,Des,4"))
    path = ratings(corpus, "d2/self/1,des,4", "D2/self/0,des,3")
    assert "raters 'Des' (in the corpus) and 'des' differ" in refused(path)
    assert {
        "Joined: dialogues 'd2' (in the corpus) and 'D2'.",
        "Joined: raters 'Des' (in the corpus) and 'des'.",
    } <= set(add(path, fold_names="yes").notes)
    assert [rater.name for rater in Rater.objects.all()] == ["Des"]
    part = {"system": "GPT", "turns": [{"speaker": "A", "text": "So"}]}
    other = {"system": "gpt", "id": "o", "turns": [{"speaker": "A", "text": "Then"}]}
    systems = written(corpus, line("d8", continuations=[part]), line("d9", continuations=[other]))
    assert "systems 'GPT' and 'gpt' differ" in str(refusal(systems, into=True))
    imported(systems, into=True, settings={"fold_names": "yes"})
    assert set(System.objects.values_list("name", flat=True)) == {"human", "GPT"}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("word", "kind"),
    [("Human", "human"), ("annotator", "human"), ("LLM", "judge"), ("model", "judge"), ("Gold", "key")],
)
def test_a_kind_is_one_of_four_in_any_case_and_with_its_synonyms(corpus: Path, word: str, kind: str) -> None:
    add(ratings(corpus, f"d1/self/1,ann,4,{word}", header="item,rater,value,kind"))
    imported(written(corpus, line("d7", labels=[label(kind=word, rater="ben")])), into=True)
    assert [rater.kind for rater in Rater.objects.all()] == [kind] * 2


@pytest.mark.exhaustive
def test_another_word_for_a_kind_is_refused(corpus: Path) -> None:
    told = refused(ratings(corpus, "d1/self/1,ann,4,oracle", header="item,rater,value,kind"))
    assert (
        "line 2, field kind: 'oracle' is not a kind of rater: write one of human, judge, metric, key" in told
    )
    told = str(refusal(written(corpus, line("d7", labels=[label(kind="oracle")])), into=True))
    assert "field labels[0].kind: 'oracle' is not a kind" in told


def test_raters_with_the_name_of_a_model_are_asked_about_and_never_guessed(corpus: Path) -> None:
    path = ratings(corpus, "d1/self/1,ann,4", "d1/self/1,Claudette,3", "d1/self/1,openai/gpt-4o,3")
    told = refused(path)
    assert "field kind: nothing says who of Claudette, ann, openai/gpt-4o is a person" in told
    assert "--judges openai/gpt-4o (none where all are people)" in told
    result = add(path, judges="openai/gpt-4o")
    assert {"Judges: openai/gpt-4o.", "People: ann, Claudette."} <= set(result.notes)
    kinds = dict(Rater.objects.values_list("name", "kind"))
    assert kinds == {"ann": "human", "Claudette": "human", "openai/gpt-4o": "judge"}


@pytest.mark.exhaustive
def test_names_of_judges_must_be_in_the_file_and_fit_what_it_says(corpus: Path) -> None:
    path = ratings(corpus, "d1/self/1,ann,4,human", header="item,rater,value,kind")
    assert "'ann' is human here, but named among the judges" in refused(path, judges="ann")
    assert "there is no rater 'gpt' in the file" in refused(path, judges="gpt")


def battle(number: int, **more: Any) -> str:
    talk = [{"role": "user", "content": f"Hi {number}"}, {"role": "assistant", "content": "A"}]
    other = [talk[0], {"role": "assistant", "content": "B"}]
    made = {"question_id": f"q{number}", "model_a": "x", "model_b": "y", "winner": "model_a"}
    return json.dumps(made | {"conversation_a": talk, "conversation_b": other} | more)


@pytest.mark.exhaustive
def test_who_judged_a_battle_is_asked_where_the_file_does_not_say(tmp_path: Path) -> None:
    names = ("Claudette", "Claude", "openai/gpt-4o", "o3-mini", "vicuna-33b", "expert_1")
    path = written(tmp_path, *(battle(0, judge=name) for name in names))
    told = str(refusal(path, format="pairs"))
    assert "field judge: nothing says who of Claude, Claudette, expert_1, o3-mini, openai/gpt-4o" in told
    judges = "Claude, openai/gpt-4o, o3-mini, vicuna-33b"
    imported(path, format="pairs", settings={"judges": judges})
    people = Rater.objects.filter(kind="human").values_list("name", flat=True)
    assert sorted(people) == ["Claudette", "expert_1"]
    said = written(tmp_path, battle(0, judge="Claude", kind="LLM"), name="said.jsonl")
    imported(said, "said", format="pairs")
    assert Rater.objects.get(corpus__name="said").kind == "judge"


def test_a_battle_without_a_judge_is_a_persons_and_that_is_said(tmp_path: Path) -> None:
    result = imported(written(tmp_path, battle(0)), format="pairs")
    assert "The file names no judge: its answers are taken as one person's, `unnamed`." in result.notes
    assert Rater.objects.get().kind == "human"

"""The demo's series is a complete script: its facts and quiz match its text, and M misses some of it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from annotation.formats import Source, jsonl
from annotation.records import Dialogue
from annotation.script_records import ANONYMISED, SWAPPED, Fact, NameMap
from annotation.text.words import fold
from demo import build, series
from suites.long_dialogue.scripts.graph import DEFAULT
from suites.long_dialogue.scripts.making import make
from suites.long_dialogue.scripts.names import gender_of, names_of, problems
from suites.long_dialogue.scripts.quiz import occurs, style_faults
from suites.long_dialogue.scripts.replacing import inverse, mapped, renamed
from suites.long_dialogue.scripts.sessions import Sessions

CAST = ("vesna", "leopold", "nadia", "tomasz", "gudrun")
ASKERS = (*CAST[1:], "default")
ABSENT = frozenset((3, 10, 11, 14))
"""The sessions without Vesna."""
ALONE = 6
CHANGING = {
    "Vesna": {"job": 2, "boss": 3, "place of work": 3},
    "Nadia": {"job": 3, "boss": 2, "place of work": 3, "major": 3, "boyfriend": 2, "roommate": 2},
    "Tomasz": {"job": 3, "boss": 3},
    "Gudrun": {"job": 2, "neighbor": 2},
    "Leopold": {"age": 2},
}
"""How many tails each of what changes has, at least."""
SMALL = frozenset(
    ("a", "an", "and", "at", "for", "from", "had", "in", "of", "on", "she", "that", "the", "to")
)
"""Words of an answer that need not be said."""
NUMBER = re.compile(r"\d[\d,.]*\d|\d")


@pytest.fixture(scope="module")
def script() -> Dialogue:
    return series.dialogue()


@pytest.fixture(scope="module")
def sessions(script: Dialogue) -> Sessions:
    return Sessions(script)


def _rows(part: str) -> dict[str, dict]:
    return {row["id"]: row for row in series.source()[part]}


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w'-]+", fold(text).replace("'s", "")))


def _names_of(name: str, script: Dialogue) -> set[str]:
    """Return all spellings under which somebody may be spoken of, each word of a name among them."""
    people = {person.name: (person.name, *person.aliases) for person in script.participants}
    spelled = people.get(name, (name,))
    return {*spelled, *(word for text in spelled for word in text.split() if word[0].isupper())}


def _said(fact: Fact, script: Dialogue) -> tuple[str, set[str]]:
    turns = [script.turns[place] for place in fact.turns]
    names = {person.id: person.name for person in script.participants}
    return " ".join(turn.text for turn in turns), {names[turn.speaker] for turn in turns}


def test_the_corpus_file_holds_the_series(script: Dialogue) -> None:
    (entry,) = jsonl.read(Source(build.CORPORA / f"{series.SET}.jsonl"))
    assert entry.record == script


def test_sixteen_sessions_of_twelve_to_thirty_turns_in_four_episodes(sessions: Sessions) -> None:
    assert len(sessions) == 16
    assert all(12 <= len(places) <= 30 for places in sessions.positions.values())
    assert len(sessions.dialogue.turns) >= 250
    episodes = Counter(session.episode for session in sessions.script.sessions)
    assert list(episodes.values()) == [4, 4, 4, 4]


def test_dates_run_forwards_over_two_years_and_some_are_partial(sessions: Sessions) -> None:
    dates = [session.date for session in sessions.script.sessions]
    assert not any(later.before(earlier) for earlier, later in pairwise(dates))
    assert Counter(date.precision for date in dates) == {"day": 14, "month": 1, "year": 1}
    assert sum(earlier == later for earlier, later in pairwise(dates)) == 1
    assert (dates[-1].first - dates[0].first).days == 730


def test_five_characters_recur_and_two_visit(script: Dialogue, sessions: Sessions) -> None:
    seen = Counter(who for there in sessions.present.values() for who in there)
    assert {who for who, times in seen.items() if times >= 10} == set(CAST)
    assert {who for who, times in seen.items() if times < 5} == {"casimir", "marko"}
    assert set(seen) == {person.id for person in script.participants}
    assert script.script is not None
    assert script.script.main == CAST[0]


def test_the_main_character_misses_four_sessions_and_is_alone_in_one(sessions: Sessions) -> None:
    assert set(range(1, 17)) - sessions.heard == ABSENT
    assert sessions.present[ALONE] == {"vesna"}


def test_some_are_there_without_a_word(sessions: Sessions) -> None:
    silent = {number: set(sessions[number].present) for number in range(1, 17) if sessions[number].present}
    assert silent == {4: {"gudrun"}, 16: {"marko"}}


def test_no_direction_is_left_in_a_turn(script: Dialogue) -> None:
    assert not [turn.text for turn in script.turns if set("()[]{}") & set(turn.text)]


def test_every_fact_is_said_where_it_says_with_its_head_and_its_tail(script: Dialogue) -> None:
    for fact in script.facts:
        text, speakers = _said(fact, script)
        row = _rows("facts")[fact.id]
        assert row["said"] in text
        for name in (fact.head, fact.tail):
            named = any(occurs(spelled, text) for spelled in _names_of(name, script))
            assert named or name in speakers, (fact.id, name)


def test_facts_are_told_in_their_own_words_once(script: Dialogue) -> None:
    told = Counter((fact.head, fact.relation, fact.tail, fact.session) for fact in script.facts)
    assert max(told.values()) == 1
    assert len(script.facts) >= 36
    assert {fact.status for fact in script.facts} == {"accepted"}


def test_all_32_relations_are_told(script: Dialogue) -> None:
    assert {fact.relation for fact in script.facts} == set(DEFAULT)
    assert len(DEFAULT) == 32


def test_people_stand_in_facts_by_one_name_each(script: Dialogue) -> None:
    names = {person.name for person in script.participants}
    aliases = {alias for person in script.participants for alias in person.aliases} - names
    for fact in script.facts:
        assert not {fact.head, fact.tail} & aliases, fact.id


def test_every_tail_type_has_enough_tails_for_three_wrong_ones(script: Dialogue) -> None:
    tails = defaultdict(set)
    for fact in script.facts:
        tails[DEFAULT[fact.relation].tail].add(fold(fact.tail))
    assert all(len(several) >= 4 for several in tails.values())
    assert set(tails) == {relation.tail for relation in DEFAULT.values()}


def test_much_changes_over_time(script: Dialogue) -> None:
    tails = defaultdict(set)
    for fact in script.facts:
        tails[fact.head, fact.relation].add(fact.tail)
    for head, relations in CHANGING.items():
        for relation, several in relations.items():
            assert len(tails[head, relation]) >= several, (head, relation)


def test_no_two_facts_of_one_date_contradict_each_other(script: Dialogue, sessions: Sessions) -> None:
    tails = defaultdict(set)
    for fact in script.facts:
        relation = DEFAULT[fact.relation]
        date = sessions[sessions.numbers[fact.session]].date if relation.dated else None
        if not relation.multi_valued:
            tails[fact.head, fact.relation, date].add(fact.tail)
    assert all(len(several) == 1 for several in tails.values())


def test_a_quiz_of_thirty_two_questions_of_all_kinds(script: Dialogue, sessions: Sessions) -> None:
    quiz = script.questions
    absent = {f"s{number:02}" for number in ABSENT}
    assert len(quiz) == 32
    assert sum(asked.evidence_all for asked in quiz) == 7
    assert sum(set(asked.evidence) <= absent for asked in quiz) == 8
    assert sum(asked.dated for asked in quiz) == 3
    assert {asked.status for asked in quiz} == {"accepted"}


def test_choices_are_four_that_differ_with_the_answer_among_them(script: Dialogue) -> None:
    for asked in script.questions:
        assert len({fold(choice) for choice in asked.choices}) == 4
        assert asked.answer in asked.choices
        assert not occurs(asked.answer, asked.text)


def test_the_evidence_says_the_answer_unless_it_is_to_be_inferred(script: Dialogue) -> None:
    for asked in script.questions:
        turns = [script.turns[place] for place in asked.evidence_turns]
        assert {turn.session for turn in turns} == set(asked.evidence), asked.id
        if not _rows("questions")[asked.id].get("inferential"):
            said = _words(" ".join(f"{turn.speaker} {turn.text}" for turn in turns))
            assert _words(asked.answer) - SMALL <= said, asked.id


@pytest.mark.parametrize("kind", ["current", "past", "future", "unheard", "undated", "past_current"])
def test_questions_of_every_kind_can_be_made(kind: str, script: Dialogue) -> None:
    made = make(script, name="demo", seed=0)
    assert Counter(use.type for use in made.set.uses)[kind] >= 20


def test_no_choice_of_a_question_about_facts_names_whom_it_is_about(script: Dialogue) -> None:
    heads = {fact.id: fact.head for fact in script.facts}
    asked = [question for question in make(script, name="demo", seed=0).questions if question.facts]
    assert len(asked) == 540
    assert not [
        question.id
        for question in asked
        for fact in question.facts
        for choice in question.choices
        if choice != question.answer and occurs(heads[fact], choice)
    ]


def test_every_question_of_the_quiz_is_asked_somewhere(script: Dialogue) -> None:
    made = make(script, name="demo", seed=0)
    asked = {use.question for use in made.set.uses}
    assert {question.id for question in script.questions} <= asked


def test_styles_are_of_all_who_may_ask_and_differ(script: Dialogue) -> None:
    for asked in script.questions:
        assert tuple(asked.styles) == ASKERS
        assert len({*asked.styles.values(), asked.text}) == 6


def test_styles_pass_the_checks_of_styles(script: Dialogue) -> None:
    names = [name for person in script.participants for name in (person.name, *person.aliases)]
    for asked in script.questions:
        for who, text in asked.styles.items():
            assert style_faults(asked.text, text, asked.choices, names) == (), (asked.id, who)


def test_styles_bring_in_no_other_name_or_number(script: Dialogue) -> None:
    names = {old for kind in (ANONYMISED, SWAPPED) for old, _ in _map(script, kind).pairs}
    for asked in script.questions:
        for text in asked.styles.values():
            assert text.endswith("?")
            assert NUMBER.findall(text) == NUMBER.findall(asked.text)
            assert _in(names, text) == _in(names, asked.text), (asked.id, text)


@pytest.mark.parametrize("kind", [ANONYMISED, SWAPPED])
def test_name_maps_are_right_and_lead_back(kind: str, script: Dialogue) -> None:
    names = _map(script, kind)
    assert problems(names, script) == []
    there = mapped(script, names)
    assert mapped(there, inverse(names)) == script
    assert there != script


def test_anonymised_leaves_no_name_but_those_that_are_kept(script: Dialogue) -> None:
    names = _map(script, ANONYMISED)
    olds = {old for old, _ in names.pairs}
    for turn in script.turns:
        text = renamed(turn.text, names)
        for kept in names.kept:
            text = text.replace(kept, "")
        assert not _in(olds, text), text


def test_titles_and_another_of_the_same_name_are_in_the_script(script: Dialogue) -> None:
    for kept in _map(script, ANONYMISED).kept:
        assert any(kept in turn.text for turn in script.turns)


def test_swapped_gives_everybody_of_the_cast_the_names_of_another(script: Dialogue) -> None:
    words = dict(_map(script, SWAPPED).pairs)
    people = {person.id: person for person in script.participants}
    for who in CAST:
        new = [words[alias] for alias in (people[who].name, people[who].aliases[0], people[who].aliases[2])]
        owners = {other for other in CAST for name in new if name in _names_of(people[other].name, script)}
        assert len(owners) == 1
        assert who not in owners


def test_genders_are_declared(script: Dialogue) -> None:
    genders = Counter(gender_of(person) for person in script.participants)
    assert genders == {"female": 3, "male": 4}


def _map(script: Dialogue, kind: str) -> NameMap:
    assert script.script is not None
    names = names_of(script.script, kind)
    assert names is not None
    return names


def _in(names: set[str], text: str) -> set[str]:
    return {name for name in names if occurs(name, text)}

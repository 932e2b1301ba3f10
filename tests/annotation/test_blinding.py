"""A system's name or condition, wherever it was written, is shown neither to people nor to judges."""

import json
import re
import unicodedata
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.errors import CampaignRefused
from annotation.kinds import COMPARING
from annotation.records import Agenda, Continuation, Dialogue, Participant, Turn
from annotation.text.views import (
    HIDDEN,
    NO_GIVEAWAYS,
    PARTS,
    WITHHELD,
    Blind,
    View,
    giveaways_of,
    is_telltale,
)
from annotation.work.screens import compose
from annotation.work.transcripts import Head, Row
from judges.protocols import PROTOCOLS, Asking, Case, Member
from tests import factories
from tests.judges.protocol_cases import bound

MARKS = "+*?.|()[]^$\\{}&#@!"
NAMES = st.one_of(
    st.from_regex(r"[A-Z][a-z]{3,7}[- _.][0-9]{1,2}", fullmatch=True),
    st.from_regex(r"[a-z]{2,5}-[a-z]{2,5}-[0-9]b", fullmatch=True),
    st.text(alphabet="abcXYZéßüЖдש名前가 -_–" + MARKS, min_size=4, max_size=14),
    st.text(alphabet="QWZ019" + MARKS, min_size=1, max_size=3),
).filter(lambda name: any(map(str.isalnum, name)))
WAYS = (
    str,
    str.upper,
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: text.replace("-", "\u2011"),
)
SHOWN = (*PARTS, "metadata.goal", "metadata.plan", "metadata.plant")


def squeezed(text: str) -> str:
    """Return a text as a person compares it: without case, accents' composition, joints and widths."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return re.sub(r"[-_\s\u2010-\u2015]+", "", plain)


def planted(name: str, way) -> tuple[Dialogue, Continuation]:
    """Return a dialogue that names a system in every field that is free text."""
    alone, inside = way(name), f"told by {way(name)}, they say"
    whole = inside if len(squeezed(name)) > 3 else alone
    spoken = f"As {name} I say" if len(name) >= 4 and re.search(r"[^a-z\s]", name) else "I say"
    continuation = Continuation(
        f"{name}-1",
        name,
        (Turn("ana", spoken, session=alone), Turn(alone, "x", addressees=("ana",), session=alone)),
        condition={"prompting": "sideways", "turns_per_call": 7, "names": {"style": "Zigzag"}},
    )
    dialogue = Dialogue(
        f"of {name}",
        turns=(Turn("ana", spoken, session=alone, extra={"raw": name}), Turn(alone, "hello")),
        participants=(
            Participant("ana", alone, alone, (alone, whole), (alone, whole), {alone: whole, "k": [alone]}),
        ),
        continuations=(continuation,),
        summary=whole,
        metadata={
            "goal": whole,
            "plan": {
                alone: {"deep": [{"deeper": alone}, whole, "sideways", "by zigzag"]},
                "turns per call": 7,
            },
            "plant": [{"engine": "Turbo", "gold_label": "marigold", "data split": "dev"}],
            "system": name,
        },
        agenda=Agenda({"a": whole, "b": alone}),
        system=name,
        language="de",
    )
    return dialogue, continuation


def as_people(dialogue: Dialogue, continuation: Continuation, system: str) -> str:
    """Return all that an annotator's page and program are made of."""
    people = [
        {
            "id": p.id,
            "name": p.name,
            "role": p.role,
            "profile": p.profile,
            "aliases": p.aliases,
            "extra": p.extra,
        }
        for p in dialogue.participants
    ]
    head = Head(
        None, None, 1, "rollout", 2, json.dumps(people), json.dumps(dialogue.metadata), dialogue.summary,
        json.dumps({"items": [{"id": key, "text": text} for key, text in dialogue.agenda.items.items()]}),
        dialogue.language, json.dumps(SHOWN), [system], json.dumps([dict(continuation.condition)]), True,
    )  # fmt: skip
    rows = [
        Row(own, number, turn.speaker, turn.text, False, None, None, {"session": turn.session})
        for own, turns in ((True, dialogue.turns), (False, continuation.turns))
        for number, turn in enumerate(turns)
    ]
    return json.dumps(asdict(compose(1, head, rows)), ensure_ascii=False)


ASKING = [
    *(
        (one, variant)
        for one in PROTOCOLS.values()
        if isinstance(one, Asking) and not one.takes_scheme
        for variant in one.variants
    ),
    *bound(),
]


def as_judges(dialogue: Dialogue, continuation: Continuation) -> str:
    """Return what every protocol sends, in each of its variants, about the continuation and its turns."""
    view, sent = View(shows=SHOWN), []
    for protocol, variant in ASKING:
        turn = 1 if protocol.covers in ("turn", "answer") else None
        case = Case(dialogue, continuation, turn, view, part=protocol.parts(variant)[0])
        if protocol.covers in COMPARING:
            members = (Member(continuation, 1), Member(continuation, 0))
            case = replace(case, members=members, shown=(1, 0))
        if not protocol.refusal(case, variant) and not protocol.unmet(case):
            sent.append(protocol.prompt(case, variant).user)
    assert sent
    return "\n".join(sent)


@pytest.mark.exhaustive
@settings(max_examples=25, deadline=None)
@given(NAMES, st.sampled_from(WAYS))
def test_a_planted_name_is_found_by_nobody(name, way):
    dialogue, continuation = planted(name, way)
    people, judges = as_people(dialogue, continuation, name), as_judges(dialogue, continuation)
    for seen in (people, judges):
        assert HIDDEN in seen
        words = [squeezed(part) for part in re.split(r"[\s\"|:,]+", seen)]
        if len(squeezed(name)) > 4:
            assert squeezed(name) not in squeezed(seen)
        elif len(squeezed(name)) > 1:
            assert squeezed(name) not in words


@pytest.mark.parametrize("told", ["sideways", "zigzag", "turbo", "marigold"])
def test_conditions_engine_and_gold_are_found_by_nobody(told):
    dialogue, continuation = planted("Parrot-9", str)
    for seen in (as_people(dialogue, continuation, "Parrot-9"), as_judges(dialogue, continuation)):
        assert told not in seen.casefold()
        assert "turns per call: 7" not in seen
        assert f"data split: {WITHHELD}" in seen


@pytest.mark.parametrize(
    ("system", "text", "shown"),
    [
        ("Parrot-9", "see parrot_9_notes", f"see {HIDDEN}_notes"),
        ("GPT-4", "by ＧＰＴ－4", f"by {HIDDEN}"),
        ("Café 1", "the CAFE\u0301-1 model", f"the {HIDDEN} model"),
        ("straße-x", "STRASSE X wrote", f"{HIDDEN} wrote"),
        ("(a|b)*", "see (a|b)*!", f"see {HIDDEN}!"),
        ("o1", "by o1, not o11", f"by {HIDDEN}, not o11"),
        ("GPT-4", "GPT-4が言う", f"{HIDDEN}が言う"),
        ("<<q>>", "a ‹q› b", f"a {HIDDEN} b"),
        ("A", "A cat", "A cat"),
        ("A", "A", HIDDEN),
        ("--", "a -- b", "a -- b"),
        ("--", "", ""),
    ],
)
def test_a_name_is_hidden_however_it_is_written(system, text, shown):
    assert Blind(system).about(text) == shown


@pytest.mark.parametrize(
    ("system", "said", "seen"),
    [
        ("gpt-4", "GPT 4 said so", f"{HIDDEN} said so"),
        ("Claude", "Claude said so", f"{HIDDEN} said so"),
        ("Claude", "the claude", "the claude"),
    ],
)
def test_in_turns_a_name_with_a_digit_goes_in_any_case(system, said, seen):
    assert Blind(system).spoken(said) == seen


def test_entries_that_would_tell_are_known_by_their_names():
    for key in (
        "engine",
        "modelName",
        "source_model",
        "response model a",
        "dataSplit",
        "Gold label",
        "checkpoint",
    ):
        assert is_telltale(key), key
    for key in (
        "business model",
        "travel agent",
        "nervous system",
        "golden retriever owner",
        "topic",
        "memory",
    ):
        assert not is_telltale(key), key
    told = giveaways_of([{"memory": "long", "deep": {"Turns_per_call": 5}}])
    assert is_telltale("Memory", told)
    assert is_telltale("turns per call", told)
    assert told.values == ("long",)
    assert giveaways_of([{}]) == NO_GIVEAWAYS


@pytest.mark.django_db
def test_a_campaign_whose_name_or_guidelines_name_a_system_is_refused():
    corpus = factories.corpus()
    factories.continuation(factories.dialogue(corpus, "d"), "c", system="Parrot-9", turns=[{"text": "x"}])
    with pytest.raises(CampaignRefused, match="The name of the campaign names the system “Parrot-9”"):
        factories.campaign(corpus, name="Round of parrot 9")
    with pytest.raises(CampaignRefused, match="The guidelines name the system “Parrot-9”"):
        factories.campaign(corpus, guidelines="Some are by Parrot-9.")


def test_how_a_generator_was_set_up_takes_no_word_and_no_entry_from_a_dialogue() -> None:
    told = giveaways_of(
        [
            {
                "from": "history",
                "strategy": "turn_by_turn",
                "stance": True,
                "objective": True,
                "model": "m-9",
            },
            {"point": "last", "speaker": "given", "personas": "both", "model": "m-9"},
        ]
    )
    hide = Blind(*told.values)
    text = "The history of the last strike was given by both sides, turn by turn."
    assert hide.about(text) == hide.spoken(text) == text
    assert not is_telltale("objective", told)
    assert not is_telltale("stance", told)
    assert hide.about("said by m-9") == f"said by {HIDDEN}"

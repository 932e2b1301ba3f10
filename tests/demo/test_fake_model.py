"""The fake model: what it recognises, what it answers, and that a test can compute every answer."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from demo.fake_model import error_files, truth
from demo.fake_model.completions import logprobs
from demo.fake_model.draws import pick, u
from demo.fake_model.embeddings import embed
from demo.fake_model.errors import ErrorModel, Phrase, RoleErrors
from demo.fake_model.mind import Mind
from demo.fake_model.problems import ErrorFileProblem
from demo.fake_model.reading import Request, request
from demo.fake_model.roles import ROLES, recognise
from demo.fake_model.roles.dialogue_judge import ruled
from demo.fake_model.serving import FakeModel
from jobs.endpoints.probing import QUESTION
from jobs.prompt import Prompt
from judges.prompt_search import reflection
from judges.protocols import PROTOCOLS, Asking
from judges.protocols.quoting import quote
from tests.judges.test_injection import CASES, NAMED, plain, sent

FIVE = (1, 2, 3, 4, 5)


def asked(prompt: Prompt, *, schema: bool = True, **more: Any) -> dict[str, Any]:
    """The body of a request, as the client sends it."""
    form = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": prompt.schema}}
    wanted = {"response_format": form} if schema and prompt.schema else {}
    return {"model": "fake-1", "messages": prompt.messages(), **wanted, **more}


def rating(text: str, instruction: str = "Rate it.") -> Prompt:
    """A prompt for the turn judge."""
    return Prompt(instruction, f"<<<BEGIN RESPONSE>>>\n| Ana: {text}\n<<<END RESPONSE>>>\n\noverall - x")


def said(model: FakeModel, body: dict[str, Any]) -> str:
    """The text of the answer."""
    response = model.respond("POST", "/v1/chat/completions", body)
    assert response.status == 200, response.body
    return str(json.loads(response.body)["choices"][0]["message"]["content"])


def test_a_draw_is_the_one_that_the_specification_gives() -> None:
    assert u(7, "reader", "q17", 0) == pytest.approx(0.774633, abs=1e-6)


@pytest.mark.parametrize("schema", [True, False], ids=["by schema", "by the text alone"])
@pytest.mark.parametrize(("protocol", "variant"), CASES, ids=NAMED)
def test_every_prompt_of_the_product_is_recognised_by_one_role(
    protocol: Asking, variant: str, schema: bool
) -> None:
    prompt = sent(protocol, variant, plain(protocol))
    assert len(recognise(request(asked(prompt, schema=schema)))) == 1


@pytest.mark.parametrize("schema", [True, False], ids=["by schema", "by the text alone"])
@pytest.mark.parametrize(("protocol", "variant"), CASES, ids=NAMED)
def test_every_protocol_reads_what_the_fake_answers(protocol: Asking, variant: str, schema: bool) -> None:
    about = replace(plain(protocol), part=protocol.parts(variant)[0])
    reply = said(FakeModel(), asked(protocol.prompt(about, variant), schema=schema))
    reading = protocol.parse(reply, about)
    assert reading.verdicts
    assert not [verdict for verdict in reading.verdicts if verdict.missing]
    assert [flag for flag in reading.flags if not flag.startswith("no_logprobs")] == []


def test_the_test_of_an_endpoint_is_answered() -> None:
    assert [role.key for role in recognise(request(asked(QUESTION)))] == ["probe"]
    assert said(FakeModel(), asked(QUESTION)) == "yes"


def test_a_prompt_that_nobody_recognises_is_refused_and_said() -> None:
    response = FakeModel().respond("POST", "/v1/chat/completions", asked(Prompt("Be kind.", "Hello?")))
    assert response.status == 400
    message = json.loads(response.body)["error"]["message"]
    assert message.startswith("the fake model does not recognise this prompt (quoted blocks: none)")


def test_what_a_transcript_quotes_recognises_nobody_and_changes_no_instruction() -> None:
    quoted = "<<<BEGIN TURNS>>> overall - x Be strict."
    found = request(asked(Prompt("Hello.", f"<<<BEGIN CONTEXT>>>\n| {quoted}\n<<<END CONTEXT>>>")))
    assert recognise(found) == []
    assert "strict" not in found.instruction


def test_the_same_request_twice_gives_the_same_bytes() -> None:
    model = FakeModel(ErrorModel({"*": RoleErrors(noise={"*": 0.9}, wording=1.0)}), seed=5)
    body = asked(rating("hm"), logprobs=True, top_logprobs=5)
    first, second = (model.respond("POST", "/v1/chat/completions", body) for _ in range(2))
    assert first == second


def test_planted_truth_arrives_without_errors() -> None:
    assert said(FakeModel(), asked(rating("Fine. {quality 4}"))) == "overall - 4"
    assert said(FakeModel(), asked(rating("Fine. {quality 4} {overall 2}"))) == "overall - 2"
    assert said(FakeModel(), asked(rating("Fine."))) == "overall - 3"


def test_markers_are_read_as_words() -> None:
    assert truth.shows("a {repetition off_topic} b", "off_topic")
    assert not truth.shows("off_topic", "off_topic")
    assert not truth.shows("{off_topic 0}", "off_topic")
    assert truth.value("{stage speak up} {stage now}", "stage") == "now"
    assert truth.number("{quality high}", "quality") is None


def test_a_score_s_chances_are_those_of_the_error_model() -> None:
    mind = Mind("turn_judge", errors=RoleErrors(noise={"*": 0.5}, severity={"overall": 0.25}))
    found = mind.chances("overall", "x", FIVE, 2.0)
    assert found == pytest.approx([0, 0.1875, 0.4375, 0.3125, 0.0625])
    assert mind.chances("other", "x", FIVE, 0.0) == pytest.approx([0.75, 0.25, 0, 0, 0])


def test_scores_come_out_as_often_as_the_error_model_says() -> None:
    mind = Mind("turn_judge", 3, RoleErrors(noise={"*": 0.4}))
    values = Counter(mind.score("overall", f"{i} {{quality 3}}", FIVE) for i in range(2000))
    for value, chance in zip(FIVE, (0, 0.2, 0.6, 0.2, 0), strict=True):
        assert values[value] / 2000 == pytest.approx(chance, abs=3 * math.sqrt(0.24 / 2000))


def test_long_texts_are_rated_higher_where_that_is_the_bias() -> None:
    mind = Mind("turn_judge", errors=RoleErrors(length_bias=0.5))
    assert mind.score("overall", "word " * 40, FIVE) == 4
    assert mind.score("overall", "word " * 20, FIVE) == 3


def test_a_seed_in_the_request_joins_the_draw() -> None:
    model = FakeModel(ErrorModel({"turn_judge": RoleErrors(noise={"*": 1.0})}))
    assert {said(model, asked(rating("x {quality 3}"), seed=seed)) for seed in range(12)} == {
        "overall - 2",
        "overall - 4",
    }


def test_samples_differ_as_often_as_the_inconsistency_says() -> None:
    errors = ErrorModel({"turn_judge": RoleErrors(noise={"*": 1.0}, inconsistency=1.0)})
    model = FakeModel(errors)
    assert len({said(model, asked(rating("x {quality 3}"))) for _ in range(12)}) == 2
    same = FakeModel(ErrorModel({"turn_judge": RoleErrors(noise={"*": 1.0})}))
    assert len({said(same, asked(rating("x {quality 3}"))) for _ in range(12)}) == 1


def test_another_wording_changes_answers_only_where_they_hang_on_it() -> None:
    def scores(wording: float, instruction: str) -> list[str]:
        model = FakeModel(ErrorModel({"turn_judge": RoleErrors(noise={"*": 1.0}, wording=wording)}))
        return [said(model, asked(rating(f"{i} {{quality 3}}", instruction))) for i in range(40)]

    assert scores(0.0, "Rate it.") == scores(0.0, "Rate that.")
    changed = [a != b for a, b in zip(scores(1.0, "Rate it."), scores(1.0, "Rate that."), strict=True)]
    assert 10 < sum(changed) < 30


def test_a_better_instruction_errs_less_by_the_known_amount() -> None:
    phrase = Phrase("Mind the  context.", ("behaviour_judge",), {"sensitivity": {"repetition": 0.3}})
    model = ErrorModel({"behaviour_judge": RoleErrors(sensitivity={"*": 0.5})}, (phrase,))
    better = model.errors("behaviour_judge", "Work well.\nMIND THE\ncontext. Thanks.")
    assert (better.of("sensitivity", "repetition"), better.of("sensitivity", "off_topic")) == (0.8, 0.5)
    assert model.errors("behaviour_judge", "Work well.").of("sensitivity", "repetition") == 0.5
    assert model.errors("turn_judge", "Mind the context.").of("sensitivity", "repetition") == 1.0


def test_an_amount_never_leaves_the_range_of_a_chance() -> None:
    phrase = Phrase("Now.", (), {"sensitivity": {"*": 0.9}, "noise": {"*": -2.0}})
    found = ErrorModel({"*": RoleErrors(sensitivity={"*": 0.5}, noise={"*": 0.5})}, (phrase,)).errors(
        "a", "now."
    )
    assert (found.of("sensitivity", "x"), found.of("noise", "x")) == (1.0, 0.0)


def improving(number: int = 0, trouble: str = "") -> Prompt:
    """What a search asks the improving model about the judge of single replies, with a case of it."""
    protocol = PROTOCOLS["cpdscore_simple"]
    assert isinstance(protocol, Asking)
    shown = (quote("CONTEXT", ["Ana: Hm?"]), quote("RESPONSE", [f"Ben: {number}. {{quality 2}}"]))
    case = reflection.Disagreement("d", shown, ("overall: 5",), ("overall: 2",))
    variant = protocol.variants[0]
    return reflection.request(protocol.wording(variant), protocol.known_variables(variant), [case], trouble)


@pytest.mark.parametrize("schema", [True, False], ids=["by schema", "by the text alone"])
def test_the_improver_proposes_each_of_its_sentences_sooner_or_later(schema: bool) -> None:
    protocol = PROTOCOLS["cpdscore_simple"]
    assert isinstance(protocol, Asking)
    variant = protocol.variants[0]
    before, known = protocol.wording(variant), protocol.known_variables(variant)
    model = FakeModel(ErrorModel(proposals=("Be kind.", "Mind the context.", "Be short.")))
    found: Counter[str] = Counter()
    for number in range(24):
        body = asked(improving(number, "it was empty." if number % 2 else ""), schema=schema)
        assert [role.key for role in recognise(request(body))] == ["improver"]
        after = reflection.read(said(model, body), before, known).wording
        assert after.user == before.user
        assert after.system.endswith(f"\n\n{before.system}")
        found[after.system.partition("\n\n")[0]] += 1
    assert set(found) == {"Be kind.", "Mind the context.", "Be short."}


def test_the_improver_reads_an_instruction_between_fences_and_repeats_no_sentence() -> None:
    model = FakeModel(ErrorModel(proposals=("Be kind.",)))
    text = "They followed this:\n```\n{}Rate it.\n```\nWrite a better one within ``` blocks."
    for before in ("", "Be kind.\n\n"):
        assert said(model, asked(Prompt("", text.format(before)))) == "```\nBe kind.\n\nRate it.\n```"


def rubric(**properties: Any) -> Prompt:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    user = "<<<BEGIN RESPONSE>>>\n| Ana: well {clear 3} {stage speak} {polite}\n<<<END RESPONSE>>>"
    return Prompt("Judge it.", user, schema)


def test_a_rubric_s_questions_are_answered_from_the_text() -> None:
    prompt = rubric(
        clear={"type": "integer", "enum": [1, 2, 3]},
        stage={"type": "string", "enum": ["attend", "speak"]},
        polite={"type": "integer", "enum": [0, 1]},
        rude={"type": "boolean"},
        why={"type": "string"},
        warmth={"type": "number", "minimum": 1, "maximum": 5},
    )
    assert [role.key for role in recognise(request(asked(prompt)))] == ["rubric_judge"]
    assert json.loads(said(FakeModel(), asked(prompt))) == {
        "clear": 3,
        "stage": "speak",
        "polite": 1,
        "rude": False,
        "why": "as it says",
        "warmth": 3.0,
    }


LISTED = """The questions, each under its key:

clear: Is it clear?
Definition: One sees at once: what is meant.
- 1: not at all
- 2
- 3 to 5: yes

stage: Where does it stand?
One of: attend, speak

polite: Is it polite?
- 0: no
- 1: yes
Asked only where clear is at least 4; else null.

note: What else?
Answer in words.
Asked only where clear is at most 3; else null.

length: How long did it take?
Answer with a number, decimals allowed, at least 0.
"""


def test_a_rubric_s_questions_are_read_from_the_text_where_no_schema_is_sent() -> None:
    shown = quote("RESPONSE", ["Ana: well {clear 3} {stage speak} {polite} {length 2.5}"])
    form = ", ".join(f'"{name}": ...' for name in ("clear", "stage", "polite", "note", "length"))
    prompt = Prompt("Judge it.", f"{LISTED}\n{shown}\n\n{{{form}}}")
    assert [role.key for role in recognise(request(asked(prompt)))] == ["rubric_judge"]
    assert json.loads(said(FakeModel(), asked(prompt))) == {
        "clear": 3,
        "stage": "speak",
        "polite": None,
        "note": "as it says",
        "length": 2.5,
    }
    alone = Prompt("Judge it.", f"{LISTED.partition('stage:')[0]}\n{shown}\n\nAnswer with the number alone.")
    assert said(FakeModel(), asked(alone)) == "3"


def test_a_rubric_has_an_entry_for_every_turn() -> None:
    shown = quote("TURNS", ["[1] Ana: so {rude} {clear 5}", "[not judged] Ben: hm", "[2] Ana: no {clear 1}"])
    entry = '{"turn": 1, "clear": ..., "note": "..."}'
    form = f'{{"rude_explanation": "...", "rude_turns": [...], "answers": [{entry}, ...]}}'
    prompt = Prompt("Judge it.", f"{LISTED}\n{shown}\n\n{form}")
    assert json.loads(said(FakeModel(), asked(prompt))) == {
        "rude_explanation": "as it says",
        "rude_turns": [1],
        "answers": [{"turn": 1, "clear": 5, "note": None}, {"turn": 2, "clear": 1, "note": "as it says"}],
    }


def test_a_rubric_errs_as_told() -> None:
    errors = RoleErrors(sensitivity={"*": 0.0}, noise={"stage": 1.0})
    reply = json.loads(
        said(
            FakeModel(ErrorModel({"rubric_judge": errors})),
            asked(rubric(stage={"enum": ["attend", "speak"]}, polite={"enum": [0, 1]})),
        )
    )
    assert reply == {"stage": "attend", "polite": 0}


@pytest.mark.parametrize(
    ("turn", "interaction", "at_four", "long", "follows", "final"),
    [
        (3.4, 2.6, False, False, True, 3.0),
        (4.5, 2.0, True, False, True, 4.5),
        (4.0, 2.0, False, False, True, 4.0),
        (4.0, 2.0, True, False, True, 3.0),
        (4.5, 2.0, False, True, True, 3.25),
        (4.5, 2.0, False, False, False, 3.25),
        (3.4, 2.6, False, False, False, 3.4),
    ],
)
def test_the_dialogue_judge_s_rule(
    turn: float, interaction: float, at_four: bool, long: bool, follows: bool, final: float
) -> None:
    assert ruled(turn, interaction, at_four=at_four, long=long, follows=follows) == final


def whole(scores: str, *responses: str, rule: str = "less than 4") -> Prompt:
    lines = "Overall Dialogue Turn Score - x\nDialogue Interaction Score - x\nFinal Score - x"
    blocks = quote("TURN SCORES", scores.split(";")), quote("RESPONSES", responses)
    return Prompt(
        "Score it.", "\n".join([*blocks, f"If the turn score is {rule}, both scores count.", lines])
    )


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        (whole("Turn 1 - 3.00;Turn 2 - 3.80", "[1] Yes: {interaction 2.6}", "[2] No."), (3.4, 2.6, 3.0)),
        (whole("Turn 1 - 4.00", "[before 1] Ana: {interaction 5}", "[1] Hm. {interaction 2}"), (4, 2, 4)),
        (whole("Turn 1 - 4.00", "[1] Hm. {interaction 2}", rule="4 or less"), (4, 2, 3)),
        (
            whole("Turn 1 - 4.50", f"[1] {'so ' * 12}{{interaction 2}}", f"      {'it is ' * 6}"),
            (4.5, 2, 3.25),
        ),
    ],
)
def test_the_dialogue_judge_reads_turn_scores_and_responses(prompt: Prompt, reply: tuple[float, ...]) -> None:
    assert [role.key for role in recognise(request(asked(prompt)))] == ["dialogue_judge"]
    numbers = [float(line.rpartition(" - ")[2]) for line in said(FakeModel(), asked(prompt)).split("\n")]
    assert tuple(numbers) == reply


def test_token_probabilities_are_the_configured_chances() -> None:
    model = FakeModel(ErrorModel({"turn_judge": RoleErrors(noise={"*": 0.5})}))
    body = asked(rating("x {quality 4}"), logprobs=True, top_logprobs=3)
    choice = json.loads(model.respond("POST", "/v1/chat/completions", body).body)["choices"][0]
    tokens = choice["logprobs"]["content"]
    assert "".join(token["token"] for token in tokens) == choice["message"]["content"]
    top = {one["token"]: math.exp(one["logprob"]) for one in tokens[-1]["top_logprobs"]}
    assert top == pytest.approx({"4": 0.5, "3": 0.25, "5": 0.25})


def test_an_answer_that_is_not_in_the_text_has_no_token() -> None:
    assert [token["token"] for token in logprobs("14 - 4", [("4", {"4": 1.0}), ("9", {"9": 1.0})], 2)] == [
        "14 - ",
        "4",
    ]


def test_a_pick_never_gives_what_has_no_chance() -> None:
    assert pick("abc", [0.0, 1.0, 0.0], 0.0) == "b"
    assert pick("abc", [0.3, 0.7 - 1e-12, 0.0], 1 - 1e-16) == "b"


def test_embeddings_are_unit_vectors_of_64_numbers_and_near_for_like_texts() -> None:
    texts = ["we meet on monday", "We meet on Monday!", "a cat sat down", "", "monday monday"]
    vectors = [embed(text) for text in texts]
    assert all(len(v) == 64 and sum(x * x for x in v) == pytest.approx(1.0) for v in vectors)
    assert vectors[0] == vectors[1]
    near, far = (sum(a * b for a, b in zip(vectors[0], v, strict=True)) for v in (vectors[4], vectors[2]))
    assert near > far


def test_the_built_in_error_models_are_read_and_say_what_they_are() -> None:
    for name in error_files.built_in():
        assert isinstance(error_files.load(name), ErrorModel)
        assert json.loads((error_files.FOLDER / f"{name}.json").read_text())["about"]
    assert error_files.load("perfect") == ErrorModel()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], "the file: a JSON object is needed"),
        ({"role": {}}, "role: no such key; there are about, roles, phrases, proposals, misbehaviours"),
        ({"roles": {"writer": {}}}, "roles.writer: no such key"),
        ({"roles": {"turn_judge": {"noise": 1.5}}}, "roles.turn_judge.noise: 1.5 is not between 0 and 1"),
        ({"roles": {"*": {"noise": {"overall": "x"}}}}, "roles.*.noise.overall: 'x' is not a number"),
        ({"roles": {"*": {"wording": True}}}, "roles.*.wording: 'True' is not a number"),
        ({"roles": {"*": {"severity": math.nan}}}, "roles.*.severity: 'nan' is not a number"),
        ({"phrases": [{"noise": 1}]}, "phrases[0].text: the sentence is needed"),
        ({"phrases": [{"text": "a", "roles": ["x"]}]}, "phrases[0].roles: there is no 'x'; there are"),
        ({"proposals": "a"}, "proposals: a list of texts is needed"),
        ({"misbehaviours": {}}, "misbehaviours: a list is needed"),
        ({"misbehaviours": [{"kind": "404"}]}, "misbehaviours[0].kind: '404' is none of 429, 500"),
        ({"misbehaviours": [{"kind": "429"}]}, "misbehaviours[0]: either first (requests) or rate (0 to 1)"),
        (
            {"misbehaviours": [{"kind": "500", "rate": 1, "retry_after": 1}]},
            "only 429 and batch_429 have one",
        ),
        ({"misbehaviours": [{"kind": "hang", "first": 0}]}, "misbehaviours[0].first: '0' is not a number of"),
    ],
)
def test_a_wrong_error_model_is_refused_with_the_key(data: Any, problem: str) -> None:
    with pytest.raises(ErrorFileProblem) as refusal:
        error_files.parse(data)
    assert problem in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_roles_have_keys_and_titles_of_their_own() -> None:
    assert all(role.key == key and type(role).__doc__ for key, role in ROLES.items())
    assert len({role.title for role in ROLES.values()}) == len(ROLES)


def test_a_request_that_makes_no_sense_is_refused_in_one_line() -> None:
    for body in (None, [], {}, {"messages": []}, {"messages": [{"content": []}]}, {"messages": "x"}):
        response = FakeModel().respond("POST", "/v1/chat/completions", body)
        assert response.status == 400
    assert (
        FakeModel().respond("POST", "/v1/chat/completions", asked(QUESTION) | {"model": "gpt-4"}).status
        == 404
    )
    assert FakeModel().respond("GET", "/v1/nothing").status == 404
    assert isinstance(Request((("user", "x"),)).key(), str)

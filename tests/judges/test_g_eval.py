"""G-Eval: the expected score under the tokens' probabilities, or the mean of samples."""

from __future__ import annotations

import json
import math
from statistics import fmean, stdev
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation import scheme_store
from annotation.models import Label
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from calibration.ratings.ratings import counterpart
from demo.fake_model.errors import ErrorModel, RoleErrors
from demo.fake_model.requests import request
from demo.fake_model.roles import recognise
from demo.fake_model.serving import FakeModel
from jobs.models import Endpoint
from jobs.prompt import OutOfScale, Token, Tokens, Unparseable
from judges.protocols import PROTOCOLS, Case, Unfit
from judges.protocols.g_eval import LITTLE_MASS, GEval
from judges.runs.plans import Judge
from tests import factories
from tests.demo.asking import asked
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus
from tests.judges.protocol_cases import case

NOISE = 0.4
ENGAGING = SchemeDefinition(
    key="engaging",
    version=1,
    title="Engaging",
    item_kind="turn",
    unit="item",
    introduction="Score the response.",
    questions=(
        QuestionDefinition(
            "quality",
            "How engaging is the response?",
            "ordinal",
            (1, 2, 3),
            anchors={1: "dull", 3: "engaging"},
            help={"definition": "It makes one want to answer."},
        ),
        QuestionDefinition("words", "Why?", "text", required=False),
    ),
)


def over(variant: str = "probabilities") -> GEval:
    return GEval().over(ENGAGING, variant)


def about(protocol: GEval) -> Case:
    return case(protocol=protocol, variant=protocol.variant)


def token(text: str, **top: float) -> Token:
    pairs = {name[1:]: math.log(chance) for name, chance in top.items()}
    return Token(text, pairs.get(text, 0.0), tuple(pairs.items()))


EXAMPLE = token("3", n1=0.05, n2=0.20, n3=0.65, nWell=0.10)
FORM: Tokens = (Token("-", 0.0, ()), Token(" quality", 0.0, ()), Token(": ", 0.0, ()), EXAMPLE)


@pytest.mark.parametrize(("reply", "tokens"), [("3", (EXAMPLE,)), ("- quality: 3", FORM)])
def test_the_example_gives_two_and_two_thirds(reply: str, tokens: Tokens) -> None:
    protocol = over()
    reading = protocol.read(reply, tokens, about(protocol), protocol.variant)
    (verdict,) = reading.verdicts
    assert verdict.value == pytest.approx(2.4 / 0.9, abs=1e-9)
    assert verdict.explanation == "probabilities 1: 0.05, 2: 0.2, 3: 0.65; on the scale 0.9"
    assert reading.flags == ()


def test_little_mass_on_the_scale_is_flagged() -> None:
    protocol = over()
    for mass, flagged in ((0.49, True), (0.51, False)):
        tokens = (token("3", n3=mass, nWell=1 - mass),)
        reading = protocol.read("3", tokens, about(protocol), protocol.variant)
        assert bool(reading.flags) == flagged
        assert all(flag.startswith(LITTLE_MASS) for flag in reading.flags)
        assert reading.verdicts[0].value == 3.0


def test_without_probabilities_the_value_is_the_replys_own_and_samples_are_never_more() -> None:
    protocol, sampled = over(), over("samples")
    plain = protocol.read("2", (), about(protocol), "probabilities")
    assert plain.verdicts[0].value == 2.0
    assert plain.flags[0].startswith("no_logprobs: the endpoint gave no probabilities")
    assert sampled.read("- quality: 2", FORM, about(sampled), "samples").flags == ()
    assert sampled.read("- quality: 2", FORM, about(sampled), "samples").verdicts[0].value == 2.0
    lost = protocol.read("- quality: 3", (EXAMPLE,), about(protocol), "probabilities")
    assert lost.flags[0].startswith("no_logprobs")


@pytest.mark.parametrize(
    "reply", ["well, quality: 3", "- quality: good", "- quality: 3\n- quality: 2", "2 or 3"]
)
def test_what_does_not_fill_in_the_form_is_no_answer(reply: str) -> None:
    protocol = over()
    with pytest.raises(Unparseable):
        protocol.read(reply, (EXAMPLE,), about(protocol), "probabilities")
    with pytest.raises(OutOfScale):
        protocol.read("- quality: 4", (EXAMPLE,), about(protocol), "probabilities")


def test_the_prompt_has_the_aspect_its_definition_its_scale_and_the_form() -> None:
    protocol = over()
    user = protocol.prompt(about(protocol), "probabilities").user
    for part in ("How engaging is the response?", "It makes one want to answer.", "engaging", "- quality:"):
        assert part in user
    assert user.rstrip().endswith("- quality:")


@pytest.mark.parametrize("scheme", ["comperdial_turn", "comperdial_dialogue", "engaging"])
@pytest.mark.parametrize("variant", ["probabilities", "samples"])
def test_exactly_one_role_of_the_fake_recognises_it(scheme: str, variant: str) -> None:
    definition = ENGAGING if scheme == "engaging" else SCHEMES[scheme]
    protocol = GEval().over(definition, variant)
    prompt = protocol.prompt(case(protocol=protocol, variant=variant), variant)
    assert [role.key for role in recognise(request(asked(prompt)))] == ["rubric_judge"]


def test_only_scales_of_three_and_five_are_aspects() -> None:
    assert [question.key for question in over().questions] == ["quality"]
    (scheme, key) = over().answers["quality"]
    assert (scheme.key, scheme.question(key).level) == ("g_eval:engaging", "interval")
    for other in ("cocoeval_behaviours", "cocoeval_overall", "preference"):
        with pytest.raises(Unfit, match=r"no question on a scale|not about single turns"):
            GEval().over(SCHEMES[other])
    assert counterpart("engaging", "quality", "g_eval:engaging", "quality") is not None


@pytest.fixture
def endpoint(fake: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """A fake that errs by known chances, tells them, and draws anew when it is asked again."""
    errors = RoleErrors(noise={"*": NOISE}, inconsistency=1.0)
    model = FakeModel(ErrorModel({"rubric_judge": errors}))

    def answer(body: dict[str, Any]) -> tuple[int, str]:
        found = model.respond("POST", "/v1/chat/completions", body)
        return found.status, found.body.decode()

    monkeypatch.setattr(fake, "answer", answer)
    scheme_store.store(definition=ENGAGING)
    return endpoint_of(fake)


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_the_label_is_the_expectation_of_the_fakes_distribution_and_samples_have_the_same_mean(
    endpoint: Endpoint,
) -> None:
    corpus = small_corpus(dialogues=3, turns=4)
    run = begin(corpus, Judge("g_eval", endpoint=endpoint, scheme="engaging"))
    finish()
    assert [call.error for call in run.calls.exclude(state="done")] == []
    expected = [label.number for label in Label.objects.filter(rater=run.rater).order_by("item")]
    middle = fmean((1 * NOISE / 2, 2 * (1 - NOISE), 3 * NOISE / 2)) * 3
    ends = 3 * (1 - NOISE / 2) + 2 * NOISE / 2
    assert len(expected) == 12
    assert all(min(abs(value - one) for one in (middle, ends)) < 1e-9 for value in expected)
    judge = Judge("g_eval", "samples", endpoint=endpoint, scheme="engaging")
    assert judge.usual_samples() == 20
    plan = judge.plan()
    assert plan.rater.spec["parameters"]["temperature"] == 1.0
    sampled = begin(corpus, judge, samples=20)
    finish()
    rows = Label.objects.filter(rater=sampled.rater).order_by("item", "sample")
    values = [label.number for label in rows]
    assert len(values) == 240
    differences = [fmean(values[at * 20 : at * 20 + 20]) - expected[at] for at in range(12)]
    assert abs(fmean(differences)) <= 3 * stdev(values) / math.sqrt(240)
    assert {row.question.version.scheme.key for row in rows} == {"g_eval:engaging"}


@pytest.mark.django_db(transaction=True)
def test_page_command_api_and_prompts_know_it(
    client: Client, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = small_corpus(dialogues=1, turns=2)
    words = (
        "--protocol",
        "g_eval",
        "--endpoint",
        endpoint.name,
        "--corpus",
        corpus.name,
        "--scheme",
        "engaging",
    )
    call_command("run_judge", *words, "--quiet")
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["labels"] == 2
    client.force_login(factories.user(researcher=True))
    body = {"corpus": corpus.name, "protocol": "g_eval", "variant": "samples", "endpoint": endpoint.name}
    made = client.post(reverse("api-runs"), body | {"scheme": "engaging"}, content_type="application/json")
    assert made.status_code in (201, 202), made.content
    page = client.get(f"{reverse('new-run')}?corpus={corpus.pk}").content.decode()
    assert "g_eval:probabilities" in page
    assert "g_eval:engaging" not in page
    assert "g_eval" in client.get(reverse("prompts")).content.decode()
    assert PROTOCOLS["g_eval"].answers == {}

"""The fake agent errs by stage with known chances, and the cascade recovers them."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod, sqrt

import numpy as np
import pytest

from annotation.records import Dialogue, Participant
from annotation.scenario_records import Decision, Mode, Outcome
from calibration.statistics.core.resampling import Plan
from calibration.statistics.repeats import pass_hat_k
from demo.fake_model.errors import RoleErrors
from demo.fake_model.requests import Request, request
from demo.fake_model.role import Sampler
from demo.fake_model.roles.group_chats import STAGES, Agent, decide, key_of
from suites.continuation.generators import GENERATORS
from suites.group_chat.agents.agent import explicit, implicit
from suites.group_chat.scenarios.cascade import outcome
from tests.demo.asking import asked
from tests.suites.group_chat.scripts import chat, probe

RATES = dict(zip(STAGES, (0.1, 0.1, 0.05, 0.2), strict=True))
E1, E2, E3, E4 = RATES.values()
RIGHT = (1 - E1) * (1 - E2) * (1 - E3) * (1 - E4)
Q = (1 - E1) * RIGHT**2
SCENARIOS, TRIALS, DRAWS = 200, 8, 500
OUT, IN = (0,), (1, 2)
KEY = {"attend": 1, "speak": {"message": 1}, "addressed": ["kit"], "target": ["ana"], "ground": ["answer"]}
MARK = "{key attend=1 speak=message addressed=kit target=ana ground=answer}"


@dataclass(frozen=True)
class Asked:
    """A point of a scenario with what the fake agent is asked there."""

    dialogue: Dialogue
    point: int
    request: Request


def script(number: int) -> Dialogue:
    """Return a scenario of one point to stay out of and two at which all four stages are asked."""
    return chat(
        ("bo", f"Cy, is it {number}?", "cy"),
        ("ana", f"Kit, when do we start? {MARK}", "kit"),
        ("ana", f"Kit, and when does it end? {MARK}", "kit"),
        id=f"s{number}",
        probes=[
            probe("overheard", [0], {"attend": 0, "speak": {"silence": 1}}, 0, control=True),
            probe("buried_mention", [1, 2], KEY, 1, control=True) | {"id": "q"},
        ],
    )


def points(mode: Mode, scenarios: int) -> list[list[Asked]]:
    """Return what is asked at the points of many scenarios."""
    generator = GENERATORS["group_chat_agent"]
    settings = generator.resolved({"mode": mode})
    found = []
    for number in range(scenarios):
        dialogue = script(number)
        prompts = generator.request(generator.begin(dialogue, settings))
        assert isinstance(prompts, list)
        found.append(
            [
                Asked(dialogue, point, request(asked(one, schema=mode == "explicit")))
                for point, one in enumerate(prompts)
            ]
        )
    return found


def decision(at: Asked, mode: Mode, seed: int, trial: int | None) -> Decision:
    """Return what the fake agent decides, read as a real reply is."""
    sampler = Sampler("agent", seed, RoleErrors(own={"stages": RATES}), request_seed=trial)
    reply = Agent().answer(at.request, sampler).text
    if mode == "implicit":
        return implicit(reply, at.point)
    people = [Participant(one.id, one.name) for one in at.dialogue.participants]
    return explicit(reply, at.point, people, {"addressed": [], "targets": []})


def outcomes(mode: Mode, trials: int = TRIALS) -> np.ndarray:
    """Return the outcomes of all decisions, scenarios by trials by points."""
    found = np.empty((SCENARIOS, trials, 3), dtype=object)
    for row, places in enumerate(points(mode, SCENARIOS)):
        for trial in range(trials):
            for column, at in enumerate(places):
                found[row, trial, column] = outcome(at.dialogue, decision(at, mode, 0, trial))
    return found


@pytest.fixture(scope="module")
def by_mode() -> dict[str, np.ndarray]:
    return {mode: outcomes(mode) for mode in ("explicit", "implicit")}


def near(values: list[float], expected: float) -> None:
    """Require a mean within 3 standard errors of what is expected of independent draws."""
    error = sqrt(expected * (1 - expected) / len(values))
    assert abs(sum(values) / len(values) - expected) <= 3 * error, (sum(values) / len(values), expected)


def at(found: np.ndarray, columns: tuple[int, ...]) -> list[Outcome]:
    return list(found[:, :, list(columns)].ravel())


@pytest.mark.parametrize("mode", ["explicit", "implicit"])
def test_at_a_point_to_stay_out_of_the_error_rate_is_the_intrusion_rate(
    by_mode: dict[str, np.ndarray], mode: str
) -> None:
    made = at(by_mode[mode], OUT)
    near([one.competence or 0.0 for one in made], 1 - E1)
    near([float(one.failed_at == "attend") for one in made], E1)
    assert {one.failed_at for one in made} == {"none", "attend"}


def test_competence_where_four_stages_are_asked_is_the_product(by_mode: dict[str, np.ndarray]) -> None:
    made = at(by_mode["explicit"], IN)
    near([one.competence if one.competence is not None else -1.0 for one in made], RIGHT)
    assert pytest.approx(0.6156) == RIGHT


@pytest.mark.parametrize(("stage", "chance"), list(zip(STAGES, (0.1, 0.09, 0.0405, 0.1539), strict=True)))
def test_failures_are_booked_at_the_stage_that_erred(
    by_mode: dict[str, np.ndarray], stage: str, chance: float
) -> None:
    place = STAGES.index(stage)
    before = prod(1 - RATES[one] for one in STAGES[:place])
    assert RATES[stage] * before == pytest.approx(chance)
    near([float(one.failed_at == stage) for one in at(by_mode["explicit"], IN)], RATES[stage] * before)


def test_in_implicit_mode_a_wrong_silence_fails_at_speak(by_mode: dict[str, np.ndarray]) -> None:
    made = at(by_mode["implicit"], IN)
    near([float(one.failed_at == "speak") for one in made], 1 - (1 - E1) * (1 - E2))
    assert not [one for one in made if one.failed_at == "attend"]


def pass_hat(successes: np.ndarray, k: int) -> float:
    """Return pass^k of scenarios from successes, scenarios by trials."""
    trials = np.full(len(successes), successes.shape[1])
    found = pass_hat_k(successes.sum(axis=1), trials, k, None, Plan(0)).value
    assert found is not None
    return found


def successful(found: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda one: one.competence == 1.0)(found).all(axis=2)


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_pass_hat_k_falls_as_the_kth_power(by_mode: dict[str, np.ndarray], k: int) -> None:
    found = pass_hat(successful(by_mode["explicit"]), k)
    chances = [comb(TRIALS, c) * Q**c * (1 - Q) ** (TRIALS - c) for c in range(TRIALS + 1)]
    square = sum(p * (comb(c, k) / comb(TRIALS, k)) ** 2 for c, p in enumerate(chances))
    error = sqrt((square - Q ** (2 * k)) / SCENARIOS)
    assert abs(found - Q**k) <= 3 * error


def test_the_example_of_the_closed_forms() -> None:
    assert [round(Q**k, 4) for k in (1, 2, 4)] == [0.3411, 0.1163, 0.0135]


@pytest.mark.parametrize("k", [pytest.param(2, marks=pytest.mark.exhaustive), 4])
def test_the_mean_of_pass_hat_over_many_draws_is_unbiased(k: int) -> None:
    asked_at = points("explicit", 3)
    found = []
    for seed in range(DRAWS):
        right = [
            [
                all(
                    outcome(one.dialogue, decision(one, "explicit", seed, t)).competence == 1.0 for one in row
                )
                for t in range(4)
            ]
            for row in asked_at
        ]
        found.append(pass_hat(np.array(right), k))
    error = float(np.std(found, ddof=1)) / sqrt(DRAWS)
    assert abs(float(np.mean(found)) - Q**k) <= 3 * error


def test_draws_without_the_trial_leave_pass_hat_at_pass_1() -> None:
    asked_at = points("explicit", 40)
    right = [
        [
            all(outcome(one.dialogue, decision(one, "explicit", 0, None)).competence == 1.0 for one in row)
            for _ in range(4)
        ]
        for row in asked_at
    ]
    assert len({pass_hat(np.array(right), k) for k in (1, 2, 3, 4)}) == 1
    assert 0 < pass_hat(np.array(right), 1) < 1


def test_the_truth_is_that_of_the_last_turn() -> None:
    assert key_of(["Ana: Kit? {key attend=1}", "      {key attend=0}", "Bo: Well."]) == {}
    assert key_of(["Bo: Well.", "Ana: Kit? {key attend=1 target=ana;bo}", "      Please."]) == {
        "attend": "1",
        "target": "ana;bo",
    }


def test_a_speak_error_is_an_act_that_is_not_accepted() -> None:
    members = {"ana": "Ana", "bo": "Bo"}
    for accepted, right, wrong in (
        ("message", "message", "silence"),
        ("reaction;silence", "reaction", "message"),
        ("silence;message", "silence", "reaction"),
    ):
        key = {"attend": "1", "speak": accepted}
        assert decide(key, lambda _: False, members, "kit")["act"] == right
        assert decide(key, lambda stage: stage == "speak", members, "kit")["act"] == wrong


def test_it_calls_people_by_name() -> None:
    key = {"attend": "1", "target": "ana"}
    assert (
        decide(key, lambda _: False, {"ana": "Ana Maria", "bo": "Bo"}, "kit")["text"] == "Ana Maria: noted."
    )

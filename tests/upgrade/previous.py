"""A small project as the last release kept it: something in every table that it had."""

from __future__ import annotations

import hashlib
from types import SimpleNamespace
from typing import Any

from django.apps.registry import Apps
from django.db import connection
from django.utils.timezone import now

TOKEN = "0123456789abcdef0123456789abcdef01234567"
PRIVATE = "http://192.168.1.20:8000/v1"
AUTHTOKEN = """
CREATE TABLE authtoken_token (key varchar(40) PRIMARY KEY, created timestamptz NOT NULL,
  user_id integer NOT NULL UNIQUE REFERENCES auth_user (id) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO django_migrations (app, name, applied) VALUES ('authtoken', '0001_initial', now());
"""
UNUSED = {"django_session", "auth_group_permissions", "auth_user_user_permissions"}
"""Tables that stay empty: nothing of ours is kept there."""


def fill(apps: Apps) -> None:
    """Write the project through the models that the last release had."""
    made = SimpleNamespace(get=apps.get_model)
    for step in (_people, _corpus, _scheme, _campaign, _labels, _runs, _splits, _results):
        step(made)


def _add(made: SimpleNamespace, model: str, /, **fields: Any) -> Any:
    return made.get(model).objects.create(**fields)


def _people(made: SimpleNamespace) -> None:
    for name in ("ana", "Ana", "ben"):
        setattr(made, f"user_{name}", _add(made, "auth.User", username=name, password="md5$x$y"))
    made.user_ben.is_superuser = True
    made.user_ben.save()
    group = _add(made, "auth.Group", name="researchers")
    group.user_set.add(made.user_Ana)
    with connection.cursor() as cursor:
        cursor.execute(AUTHTOKEN)
        cursor.execute("INSERT INTO authtoken_token VALUES (%s, now(), %s)", [TOKEN, made.user_ben.pk])
    known = _add(made, "contenttypes.ContentType", app_label="judges", model="run")
    _add(made, "auth.Permission", content_type=known, codename="add_run", name="Can add run")
    _add(made, "annotation.Event", verb="open campaign", subject="pilot", detail={"n": 1}, by=made.user_ben)


def _corpus(made: SimpleNamespace) -> None:
    made.corpus = _add(made, "annotation.Corpus", name="kitchen", source="field notes", licence="CC0")
    made.system = _add(made, "annotation.System", corpus=made.corpus, name="model-x")
    person = _add(made, "annotation.System", corpus=made.corpus, name="human")
    made.imported = _add(
        made, "annotation.Import", corpus=made.corpus, format="jsonl", file_name="k.jsonl",
        content_hash="a" * 64, counts={"dialogues": 1}, created_by=made.user_ben,
    )  # fmt: skip
    _add(
        made, "annotation.Upload", file_name="k.jsonl", format="jsonl", corpus_name="kitchen", state="done",
        done_bytes=10, total_bytes=10, dialogues=1, result={"corpus": "kitchen"}, by=made.user_ben,
    )  # fmt: skip
    made.dialogue = _add(
        made, "annotation.Dialogue", corpus=made.corpus, key="d1", cluster="c1", imported=made.imported,
        participants=[{"id": "A", "name": "Ana"}, {"id": "B", "name": "Ben"}], metadata={"place": "kitchen"},
    )  # fmt: skip
    _continue(made, "self", person)
    made.continuation, made.items = _continue(made, "x", made.system)


def _continue(made: SimpleNamespace, key: str, system: Any) -> tuple[Any, list[Any]]:
    continuation = _add(made, "annotation.Continuation", dialogue=made.dialogue, key=key, system=system)
    of = {"continuation": continuation}
    whole = _add(made, "annotation.Item", corpus=made.corpus, kind="dialogue", **of)
    items = [whole]
    for position, text in enumerate(("Is there tea?", "Nee, l'eau est “là”. ☕", "Thanks.")):
        turn = _add(
            made, "annotation.Turn", position=position, speaker="AB"[position % 2], text=text,
            given=key == "x" and position == 0, **of,
        )  # fmt: skip
        if not turn.given:
            items.append(_add(made, "annotation.Item", corpus=made.corpus, kind="turn", turn=turn, **of))
    return continuation, items


def _scheme(made: SimpleNamespace) -> None:
    scheme = _add(made, "annotation.Scheme", key="quality", title="Quality")
    made.version = _add(
        made, "annotation.SchemeVersion", scheme=scheme, item_kind="turn", content_hash="b" * 64
    )  # fmt: skip
    made.question = _add(
        made, "annotation.Question", version=made.version, key="overall", position=0, wording="How good?",
        level="ordinal", values=[1, 2, 3], anchors={"1": "bad", "3": "good"},
    )  # fmt: skip


def _campaign(made: SimpleNamespace) -> None:
    made.campaign = _add(
        made, "annotation.Campaign", name="pilot", corpus=made.corpus, scheme_version=made.version,
        state="open", created_by=made.user_ben,
    )  # fmt: skip
    made.campaign.systems.add(made.system)
    made.guidelines = _add(made, "annotation.Guidelines", campaign=made.campaign, text="# Read\n\nFirst.")
    _add(made, "annotation.CampaignMember", campaign=made.campaign, user=made.user_ana, done=1, pace=12.5)
    about = {"campaign": made.campaign, "continuation": made.continuation, "item": made.items[1]}
    made.task = _add(made, "annotation.Task", position=0, **about)
    slot = _add(made, "annotation.Slot", task=made.task, campaign=made.campaign, number=1, position=0)
    made.assignment = _add(
        made, "annotation.Assignment", user=made.user_ana, campaign=made.campaign, task=made.task, slot=slot,
        guidelines=made.guidelines, state="submitted", submitted_at=now(), lease_expires=now(),
        draft={"overall": 2}, comment="hm", flagged=True,
    )  # fmt: skip


def _labels(made: SimpleNamespace) -> None:
    rater = _add(made, "annotation.Rater", kind="human", name="ana", user=made.user_ana)
    about = {
        "item": made.items[1], "question": made.question, "rater": rater, "campaign": made.campaign,
        "assignment": made.assignment, "occasion": "first",
    }  # fmt: skip
    first = _add(made, "annotation.Label", number=1, **about)
    made.get("annotation.Label").objects.filter(pk=first.pk).update(superseded_at=now())
    _add(made, "annotation.Label", number=2, explanation="on second thought", supersedes=first, **about)
    known = _add(made, "annotation.Rater", kind="human", name="r1", corpus=made.corpus)
    label = {"item": made.items[2], "question": made.question, "imported": made.imported}
    _add(made, "annotation.Label", rater=known, missing="not asked", **label)


def _runs(made: SimpleNamespace) -> None:
    made.get("judges.Endpoint").objects.create(name="public", base_url="https://llm.example/v1", model="m")
    made.endpoint = _add(made, "judges.Endpoint", name="ours", base_url=PRIVATE, model="m", price_in="0.15")
    _add(made, "judges.Worker", name="calls-1", queue="calls", last_seen=now())
    _add(made, "judges.Embedding", model="mini", text_hash="c" * 64, vector=b"\x00\x01\xff")
    for kind, queue in (("judge", "calls"), ("metric", "metrics")):
        spec = {"protocol": "direct"} if kind == "judge" else {"metric": "bleu"}
        fingerprint = hashlib.sha256(kind.encode()).hexdigest()
        rater = _add(
            made, "annotation.Rater", kind=kind, name=f"a {kind}", spec=spec, fingerprint=fingerprint
        )  # fmt: skip
        run = _add(
            made, "judges.Run", rater=rater, corpus=made.corpus, campaign=made.campaign, queue=queue,
            state="done", scheme_version=made.version, scope={"corpus": made.corpus.pk}, scope_hash="d" * 64,
            questions={"overall": made.question.pk}, finished_at=now(),
            endpoint=made.endpoint if kind == "judge" else None,
        )  # fmt: skip
        call = _add(
            made, "judges.Call", run=run, rater=rater, continuation=made.continuation, item=made.items[1],
            state="done", attempts=1, reply="3", tokens_in=100, tokens_out=1, cost="0.00001500", flags=["x"],
        )  # fmt: skip
        label = _add(
            made, "annotation.Label", rater=rater, item=made.items[1], question=made.question, number=3
        )  # fmt: skip
        _add(made, "judges.CallLabel", call=call, label=label)


def _splits(made: SimpleNamespace) -> None:
    split = _add(made, "annotation.Split", corpus=made.corpus, seed=7, test_share=0.3)
    _add(made, "annotation.SplitCluster", split=split, cluster="c1", part="dev")
    made.get("annotation.Split").objects.filter(pk=split.pk).update(fixed_at=now())
    _add(made, "annotation.TestLook", split=split, by=made.user_ben, purpose="the paper")


def _results(made: SimpleNamespace) -> None:
    study = _add(made, "calibration.Study", name="kitchen", corpus=made.corpus, created_by=made.user_ben)
    report = _add(
        made, "calibration.Report", study=study, inputs_hash="e" * 64, stamp="4", result={"kappa": 0.1 + 0.2}
    )  # fmt: skip
    _add(made, "calibration.Computation", study=study, state="done", report=report)
    gold = _add(
        made, "calibration.Gold", corpus=made.corpus, campaign=made.campaign, rule="majority",
        inputs_hash="f" * 64, scheme_version=made.version, created_by=made.user_ben,
    )  # fmt: skip
    _add(
        made, "calibration.GoldLabel", gold=gold, item=made.items[1], question=made.question, number=2,
        n_raters=1, support=1.0, votes={"2": 1},
    )  # fmt: skip
    _add(made, "calibration.Export", corpus=made.corpus, gold=gold, format="csv", rows=1, sha256="0" * 64)

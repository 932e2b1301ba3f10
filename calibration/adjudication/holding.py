"""Who decides on what: claiming a case, holding it for a while, and giving it back.

One person's requests come one after the other (an advisory lock); cases are claimed with SKIP LOCKED, so that
different people never wait for each other. The constraints of the tables hold whatever this code does.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction

from calibration.adjudication.actions import may_decide
from calibration.errors import AdjudicationRefused, CaseLost, NotYours
from calibration.models import AdjudicationCase, AdjudicationDecision, AdjudicationRound

State = AdjudicationDecision.State
LOCK = 0x61646A75
"""The advisory lock of an adjudicator's requests: "adju" in ASCII, beside the account's number."""
LOST = "This case went to somebody else meanwhile. Your draft is kept, but cannot be submitted any more."
OWN = "You rated this item yourself, so somebody else decides on it."

RATED_BY_ME = """EXISTS (SELECT 1 FROM annotation_label l JOIN annotation_rater r ON r.id = l.rater_id
  WHERE l.item_id = c.item_id AND r.user_id = %(user)s AND l.occasion <> 'adjudication')"""

# Cases of the item at hand come first: its conversation is read already.
CLAIM = f"""
WITH free AS (
  SELECT c.id FROM calibration_adjudicationcase c
   WHERE c.round_id = %(round)s AND c.taken < c.places AND (%(own)s OR NOT {RATED_BY_ME})
     AND (%(case)s::bigint IS NULL OR c.id = %(case)s::bigint)
     AND coalesce((SELECT d.state FROM calibration_adjudicationdecision d
                    WHERE d.case_id = c.id AND d.adjudicator_id = %(user)s), 'expired') = ANY(%(back)s)
   ORDER BY c.item_id IS DISTINCT FROM (
     SELECT o.item_id FROM calibration_adjudicationdecision d
       JOIN calibration_adjudicationcase o ON o.id = d.case_id
      WHERE d.round_id = %(round)s AND d.adjudicator_id = %(user)s AND d.state = 'decided'
      ORDER BY d.decided_at DESC LIMIT 1), c.position
   LIMIT 1 FOR UPDATE OF c SKIP LOCKED)
INSERT INTO calibration_adjudicationdecision
       (case_id, round_id, adjudicator_id, state, lease_expires, claimed_at, draft, revision, written_by,
        note)
SELECT free.id, %(round)s, %(user)s, 'held', now() + make_interval(mins => %(minutes)s), now(), '{{}}', 0,
       '', '' FROM free
ON CONFLICT (case_id, adjudicator_id) DO UPDATE SET state = 'held', lease_expires = excluded.lease_expires,
       claimed_at = excluded.claimed_at, note = ''
RETURNING id
"""  # noqa: S608  (a condition of ours)

RETURN_EXPIRED = """
WITH late AS (
  SELECT d.id FROM calibration_adjudicationdecision d
   WHERE d.round_id = %s AND d.state = 'held' AND d.lease_expires < now() FOR UPDATE SKIP LOCKED)
UPDATE calibration_adjudicationdecision d SET state = 'expired' FROM late WHERE d.id = late.id
"""

RENEW = """
UPDATE calibration_adjudicationdecision SET lease_expires = now() + make_interval(mins => %s)
 WHERE round_id = %s AND adjudicator_id = %s AND state = 'held' RETURNING id
"""


@transaction.atomic
def next_case(*, by: User, found: AdjudicationRound) -> AdjudicationDecision | None:
    """Return the case that somebody holds, else a new one; None where nothing is left for them.

    Raises NotYours for whoever may not adjudicate, AdjudicationRefused where the round is closed.
    """
    one_at_a_time(by)
    must_be_open(by, found)
    number = _run(RENEW, (found.lease_minutes, found.pk, by.pk)) or _claim(by, found)
    if number is None and return_expired(found):
        number = _claim(by, found)
    return None if number is None else in_hand(by, number)


def hold(by: User, found: AdjudicationRound, case: AdjudicationCase) -> int:
    """Return somebody's decision on a named case, claiming the case where they have none.

    What else they hold is given back first. Raises CaseLost where the case is in other hands.
    """
    rows = AdjudicationDecision.objects.filter(adjudicator=by)
    there = rows.filter(case=case).values_list("pk", "state").first()
    if there is not None and there[1] in (State.HELD, State.DECIDED):
        return int(there[0])
    rows.filter(round=found, state=State.HELD).exclude(case=case).update(state=State.EXPIRED)
    number = _claim(by, found, case.pk)
    if number is None:
        raise CaseLost("somebody else decides on this case, or you rated the item or passed the case on")
    return number


def take_again(by: User, decision: AdjudicationDecision) -> None:
    """Take a case back whose lease ran out, if it still has a place. Raises CaseLost where it has none."""
    found = decision.round
    held = AdjudicationDecision.objects.filter(round=found, adjudicator=by, state=State.HELD)
    held.exclude(pk=decision.pk).update(state=State.EXPIRED)
    if _claim(by, found, decision.case_id) is None:
        raise CaseLost(LOST)


def return_expired(found: AdjudicationRound) -> int:
    """Return the cases of leases that ran out; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(RETURN_EXPIRED, [found.pk])
        return int(cursor.rowcount)


def one_at_a_time(by: User) -> None:
    """Let one person's requests come one after the other, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, by.pk % 2**31])


def must_be_open(by: User, found: AdjudicationRound) -> None:
    """Raise NotYours for whoever may not adjudicate, AdjudicationRefused where the round is closed."""
    if not may_decide(by, found):
        raise NotYours("You are no adjudicator of this round.")
    if found.state != AdjudicationRound.State.OPEN:
        raise AdjudicationRefused(f"The round {found.name} is closed: nothing is decided now.")


def must_not_be_own(by: User, decision: AdjudicationDecision) -> None:
    """Raise AdjudicationRefused where somebody rated the item themselves and the round leaves that out."""
    if decision.round.own_items:
        return
    rated = f"SELECT 1 FROM calibration_adjudicationcase c WHERE c.id = %(case)s AND {RATED_BY_ME}"  # noqa: S608
    if _run(rated, {"case": decision.case_id, "user": by.pk}) is not None:
        raise AdjudicationRefused(OWN)


def in_hand(by: User, pk: int) -> AdjudicationDecision:
    """Return somebody's own hold on a case, with all that a screen needs. Raises NotYours."""
    related = (
        "round__corpus",
        "round__campaign__corpus",
        "round__scheme_version__scheme",
        "case__item__turn",
        "case__item__continuation__dialogue__corpus",
        "case__item__continuation__system",
        "case__question__version__scheme",
        "label",
    )
    rows = AdjudicationDecision.objects.select_related(*related)
    mine = rows.filter(pk=pk, adjudicator=by).first()
    if mine is None:
        raise NotYours("This case is not in your hands.")
    return mine


def _claim(by: User, found: AdjudicationRound, case: int | None = None) -> int | None:
    back = [State.EXPIRED, State.WITHDRAWN]
    values = {
        "round": found.pk,
        "user": by.pk,
        "own": found.own_items,
        "minutes": found.lease_minutes,
        "case": case,
        "back": [str(state) for state in back],
    }
    return _run(CLAIM, values)


def _run(statement: str, values: Any) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
    return int(row[0]) if row else None

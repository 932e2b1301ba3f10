"""`manage.py load_demo` without a fake model: the demo before any model was called."""

from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command

from annotation.models import Campaign
from calibration.models import Report
from demo import loading
from jobs.models import Endpoint, Run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.exhaustive
def test_there_are_accounts_campaigns_and_reports_for_a_visitor() -> None:
    out = StringIO()
    call_command("load_demo", stdout=out)
    told = out.getvalue()
    for role in loading.ROLES:
        assert loading.derived_password(role) in told
        assert authenticate(username=role, password=loading.derived_password(role))
    campaigns = Campaign.objects.filter(name__in=[demo.name for demo in loading.CAMPAIGNS], state="open")
    assert campaigns.count() == len(loading.CAMPAIGNS)
    assert Run.objects.get().state == Run.State.DONE
    reported = Report.objects.values_list("study__corpus__name", flat=True)
    assert {corpus.name for corpus in loading.CORPORA} <= set(reported)
    assert not Endpoint.objects.exists()

"""Invariants that plain constraints cannot express, as triggers."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("judges", "0001_initial"), ("annotation", "0003_invariants")]
    operations = [migrations.RunSQL((Path(__file__).parent / "prompts.sql").read_text())]

"""What plain constraints cannot say: triggers, and keys over several columns."""

from pathlib import Path

from django.db import migrations

HERE = Path(__file__).parent


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_upload_job")]
    operations = [
        migrations.RunSQL((HERE / f"{subject}.sql").read_text())
        for subject in ("corpora", "comparisons", "labels", "work", "people")
    ]

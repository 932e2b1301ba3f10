"""What plain constraints cannot say, as triggers."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("calibration", "0001_initial")]
    operations = [migrations.RunSQL((Path(__file__).parent / "adjudication.sql").read_text())]

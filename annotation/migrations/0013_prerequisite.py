from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0010_campaign_form"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="resumed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="checkplan",
            name="prerequisite",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.campaign",
            ),
        ),
        migrations.AddConstraint(
            model_name="checkplan",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("prerequisite__isnull", True),
                    models.Q(("prerequisite", models.F("campaign")), _negated=True),
                    _connector="OR",
                ),
                name="check_plan_prerequisite_is_another",
            ),
        ),
        migrations.RunSQL((Path(__file__).parent / "prerequisite.sql").read_text()),
    ]

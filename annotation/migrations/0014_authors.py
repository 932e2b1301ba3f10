from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0013_prerequisite"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="campaign",
            name="form",
            field=models.CharField(
                choices=[
                    ("rating", "Ratings of existing turns or dialogues"),
                    ("chat", "Conversations between members, and ratings of them"),
                    ("write", "Responses of members to fixed dialogues"),
                ],
                db_default="rating",
                default="rating",
                max_length=10,
            ),
        ),
        migrations.RemoveConstraint(model_name="campaign", name="campaign_form_known"),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("form__in", ["rating", "chat", "write"])), name="campaign_form_known"
            ),
        ),
        migrations.CreateModel(
            name="ContinuationAuthor",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "continuation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="authors",
                        to="annotation.continuation",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "continuation"), name="continuation_author_once"
                    )
                ],
            },
        ),
        migrations.RunSQL((Path(__file__).parent / "authors.sql").read_text()),
    ]

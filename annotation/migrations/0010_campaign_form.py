from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0009_excluded_dialogues"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="form",
            field=models.CharField(
                choices=[
                    ("rating", "Ratings of existing turns or dialogues"),
                    ("chat", "Conversations between members, and ratings of them"),
                ],
                db_default="rating",
                default="rating",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("form__in", ["rating", "chat"])), name="campaign_form_known"
            ),
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0007_drawn_with_a_chance"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="review",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="campaign",
            name="review_strata",
            field=models.JSONField(null=True),
        ),
    ]

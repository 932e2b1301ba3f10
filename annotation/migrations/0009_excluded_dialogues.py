from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0008_review_queue"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="exclude",
            field=models.CharField(blank=True, db_default="", default="", max_length=400),
        ),
    ]

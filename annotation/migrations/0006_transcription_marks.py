from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0005_speakers")]
    operations = [
        migrations.AddField(
            model_name="corpus",
            name="has_marks",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunSQL(
            "UPDATE annotation_corpus SET has_marks = true"
            " WHERE id IN (SELECT corpus_id FROM annotation_import WHERE format = 'qmsum')",
            migrations.RunSQL.noop,
        ),
    ]

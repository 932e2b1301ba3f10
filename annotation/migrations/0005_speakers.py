import django.contrib.postgres.fields
from django.db import migrations, models

SPEAKERS = """
ALTER TABLE annotation_campaign ADD CONSTRAINT campaign_speakers_named
  CHECK (array_position(speakers, NULL) IS NULL AND '' <> ALL (speakers));
CREATE FUNCTION concord_is_asked(speakers text[], participants jsonb, speaker text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT speakers = '{}' OR speaker IS NULL OR speaker = ANY(speakers) OR EXISTS (
    SELECT 1 FROM jsonb_array_elements(participants) AS person
     WHERE person->>'id' = speaker AND person->>'role' = ANY(speakers))
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_short_names")]
    operations = [
        migrations.AddField(
            model_name="campaign",
            name="speakers",
            field=django.contrib.postgres.fields.ArrayField(
                models.CharField(max_length=300), blank=True, db_default=[], default=list
            ),
        ),
        migrations.RunSQL(SPEAKERS),
    ]

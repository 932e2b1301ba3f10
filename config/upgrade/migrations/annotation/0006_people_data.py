"""Existing accounts get the keys of their names; tokens are kept as hashes alone, for another 90 days."""

from django.conf import settings
from django.db import migrations

from annotation.people import names

KEEP_TOKENS = """
DO $$ BEGIN
  IF to_regclass('authtoken_token') IS NOT NULL THEN
    INSERT INTO annotation_apitoken (user_id, name, key_hash, scope, created_at, expires_at)
    SELECT user_id, 'from before', encode(sha256(convert_to(key, 'UTF8')), 'hex'), 'write', created,
           now() + interval '90 days'
      FROM authtoken_token;
    DROP TABLE authtoken_token;
    DELETE FROM django_migrations WHERE app = 'authtoken';
  END IF;
END $$
"""


def keep_names(apps, _editor):
    """Twins from before keep their accounts: the later one's keys bear its number."""
    user_name = apps.get_model("annotation", "UserName")
    app, model = settings.AUTH_USER_MODEL.split(".")
    taken = set()
    rows = []
    for user in apps.get_model(app, model).objects.order_by("pk").iterator():
        keys = [("f", names.folded(user.username)), ("l", names.look(user.username))]
        mark = f"#{user.pk}" if taken & set(keys) else ""
        taken |= set(keys)
        folded, look = (key + mark for _, key in keys)
        rows.append(user_name(user=user, name=user.username, folded=folded, look=look))
    user_name.objects.bulk_create(rows)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0005_people"), ("auth", "0012_alter_user_first_name_max_length")]

    operations = [
        migrations.RunPython(keep_names, migrations.RunPython.noop),
        migrations.RunSQL(KEEP_TOKENS, migrations.RunSQL.noop),
    ]

from django.db import migrations, models

from jobs.endpoints.addresses import literal, refusal


def allow_those_in_use(apps, schema_editor):
    """Endpoints that were set up at an address of this machine or its network go on working."""
    from urllib.parse import urlsplit

    for endpoint in apps.get_model("judges", "Endpoint").objects.all():
        address = literal(urlsplit(endpoint.base_url).hostname or "")
        if endpoint.from_environment or (address and refusal(address, allow_private=False)):
            endpoint.allow_private = True
            endpoint.save(update_fields=["allow_private"])


class Migration(migrations.Migration):
    dependencies = [("judges", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="endpoint",
            name="allow_private",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="endpoint", name="test_asked", field=models.DateTimeField(editable=False, null=True)
        ),
        migrations.AddField(
            model_name="endpoint", name="test_done", field=models.DateTimeField(editable=False, null=True)
        ),
        migrations.AddField(
            model_name="endpoint", name="test_error", field=models.TextField(blank=True, default="", editable=False),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="endpoint", name="test_ms", field=models.PositiveIntegerField(editable=False, null=True)
        ),
        migrations.RunPython(allow_those_in_use, migrations.RunPython.noop, elidable=True),
    ]

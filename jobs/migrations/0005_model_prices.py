"""Prices by model."""

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0004_lanes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='endpoint',
            name='price_in',
            field=models.DecimalField(blank=True, decimal_places=6, help_text='Both empty: the prices by model apply, where there are some; else no cost is shown.', max_digits=12, null=True, verbose_name='Price of a million tokens read'),
        ),
        migrations.CreateModel(
            name='ModelPrice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(help_text='The name as in the endpoint, or its beginning and *, such as example-large*.', max_length=200, unique=True, validators=[django.core.validators.RegexValidator('^[^*\\s][^*]*\\*?$', 'Give a name, with at most one * and only at its end.')])),
                ('price_in', models.DecimalField(decimal_places=6, max_digits=12, validators=[django.core.validators.MinValueValidator(0)], verbose_name='Price of a million tokens read')),
                ('price_out', models.DecimalField(decimal_places=6, max_digits=12, validators=[django.core.validators.MinValueValidator(0)], verbose_name='Price of a million tokens written')),
                ('currency', models.CharField(default='USD', help_text='Endpoints in another currency do not take these prices.', max_length=10)),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('changed_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='model_prices', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['model'],
                'constraints': [models.CheckConstraint(condition=models.Q(('price_in__gte', 0), ('price_out__gte', 0)), name='model_price_not_negative'), models.CheckConstraint(condition=models.Q(('model__regex', '^[^*[:space:]][^*]*[*]?$')), name='model_price_of_a_name')],
            },
        ),
    ]

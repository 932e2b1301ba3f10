"""`manage.py migrate`: as Django's, after bringing a database of an earlier release to this one's tables."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import connections

from config.upgrade.rendering import each_model_alone
from config.upgrade.states import UpgradeError
from config.upgrade.upgrading import needs_upgrade, upgrade


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        """Upgrade where that is needed, then migrate; `--plan` and `--check` only say so."""
        connection = connections[options["database"]]
        only_told = options["plan"] or options["check_unapplied"]
        try:
            done = needs_upgrade(connection) if only_told else upgrade(connection)
        except UpgradeError as error:
            raise CommandError(str(error)) from None
        if done and options["verbosity"]:
            state = "is of an earlier release and will be" if only_told else "of an earlier release was"
            self.stdout.write(f"The database {state} upgraded.")
        if not (done and only_told):
            with each_model_alone():
                super().handle(*args, **options)
        elif options["check_unapplied"]:
            sys.exit(1)  # as Django's does

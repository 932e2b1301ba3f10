"""What follows from signals: each user name is kept apart from all others, failed sign-ins are logged."""

from __future__ import annotations

from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.db.models.signals import post_save

from annotation.models import UserName
from annotation.people import names, sign_in


def connect() -> None:
    """Connect the receivers; called once, when the application is ready."""
    post_save.connect(keep_name, sender=User, dispatch_uid="keep user name")
    user_login_failed.connect(sign_in.log_failure, dispatch_uid="log failed sign-in")
    user_locked_out.connect(sign_in.log_lock, dispatch_uid="log locked sign-in")


def keep_name(*, instance: User, raw: bool = False, update_fields: Any = None, **_: Any) -> None:
    """Keep how a name is compared, whoever made the account; the table refuses twins (IntegrityError)."""
    if raw or (update_fields is not None and "username" not in update_fields):
        return
    name = instance.get_username()
    kept = UserName.objects.filter(user=instance).first()
    if kept is None or kept.name != name:
        keys = {"name": name, "folded": names.folded(name), "look": names.look(name)}
        UserName.objects.update_or_create(user=instance, defaults=keys)

"""The web application, as a WSGI server loads it."""

import os
import signal

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config.embedded.processes import follow_parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
if os.environ.get("CONCORD_SUPERVISED"):
    # The server's own parent dies with the supervisor; this process must not keep the port from the next.
    follow_parent(signal.SIGKILL, os.getppid())

application = get_wsgi_application()
# The routes, and with them all views, are imported now and not with the first visitor.
_ = get_resolver().url_patterns

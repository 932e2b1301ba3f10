"""All settings of Concord, driven by the environment.

| variable | meaning | default |
|---|---|---|
| CONCORD_HOME | folder of all embedded parts: database, secret key, uploads | `.concord` in the checkout |
| DATABASE_URL | an external PostgreSQL | the embedded one |
| CELERY_BROKER_URL | Redis or RabbitMQ for Celery workers | the plain worker loop |
| CONCORD_SECRET_KEY | signs and encrypts; then earlier values, comma-separated | created in CONCORD_HOME |
| CONCORD_ALLOWED_HOSTS | host names, comma-separated | this machine |
| CONCORD_CSRF_ORIGINS | trusted origins behind a proxy, comma-separated | none |
| CONCORD_HTTPS | 1 if a proxy terminates TLS: secure cookies, HSTS | 0 |
| CONCORD_PROXIES | addresses or networks of proxies that set X-Forwarded-For, comma-separated | none |
| CONCORD_DEBUG | 1 shows tracebacks to anyone: for development only | 0 |
| CONCORD_ENDPOINT_<NAME> | an LLM endpoint: `base_url|model|KEY_ENV|price_in|price_out` | none |
| CONCORD_KEY_VARIABLES | variables with keys that the page may name, comma-separated | none |
| CONCORD_RESEARCHER_ENDPOINTS | 0: only administrators add LLM endpoints | 1 |
| CONCORD_EMBEDDING_MODEL | name or path of a sentence-transformers model | the packaged all-MiniLM-L6-v2 |
| CONCORD_UPLOAD_LIMIT_MB | largest upload | 512 |
| CONCORD_WEB_PROCESSES | web processes of `manage.py serve` | 2 |
| CONCORD_LEASE_SECONDS | time after which a lost worker's work is given to another | 30 |
| CONCORD_EMAIL_... | the mail server: see `config.environment` | no mail |
| CONCORD_OIDC_... | single sign-on: see `config.environment` | none |
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import secrets
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from config import environment
from config.embedded import postgres
from config.refusals import SCHEMA as REFUSAL

BASE_DIR = Path(__file__).resolve().parent.parent
HOME = Path(os.environ.get("CONCORD_HOME") or BASE_DIR / ".concord").resolve()


def _flag(name: str) -> bool:
    return os.environ.get(name, "").lower() in {"1", "true", "yes", "on"}


def _names(name: str) -> list[str]:
    return [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]


def _networks(name: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Return a variable's networks: CIDR notation or single addresses, comma-separated."""
    try:
        return [ipaddress.ip_network(part) for part in _names(name)]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name}: {error}. Write addresses such as 10.0.0.7 or 10.0.0.0/8."
        ) from None


def _secret_keys() -> list[str]:
    """Return the keys from the environment, else those kept in CONCORD_HOME, where one is created."""
    if keys := _names("CONCORD_SECRET_KEY"):
        return keys
    path = HOME / "secret.key"
    if not path.exists():
        try:
            HOME.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=HOME, prefix="secret-") as file:  # mode 0600
                file.write(secrets.token_urlsafe(50))
                file.flush()
                with contextlib.suppress(FileExistsError):  # another process linked its key first
                    os.link(file.name, path)
        except OSError:
            return [secrets.token_urlsafe(50)]  # a command without a writable home signs nothing lasting
    return [key.strip() for key in path.read_text().split(",")]


SECRET_KEY, *SECRET_KEY_FALLBACKS = _secret_keys()
DEBUG = _flag("CONCORD_DEBUG")
ALLOWED_HOSTS = _names("CONCORD_ALLOWED_HOSTS") or ["localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = _names("CONCORD_CSRF_ORIGINS")

_ALL_SUITES = "continuation,group_chat,long_dialogue,collecting"
SUITES = [
    f"suites.{name.strip()}"
    for name in os.environ.get("CONCORD_SUITES", _ALL_SUITES).split(",")
    if name.strip()
]
"""Suites on top of the core, which runs without them; group_chat and long_dialogue depend on continuation."""

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "django_htmx",
    "rest_framework",
    "axes",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "config",
    "jobs",
    "annotation",
    "judges",
    "calibration",
    *SUITES,
    "demo",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "config.middleware.Compression",
    "config.middleware.OneShapeOfRefusals",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.middleware.ContentSecurityPolicy",
    "config.middleware.StorableInput",
    "config.middleware.ReaderZone",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "config.idempotency.Idempotency",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.pages.navigation",
                "annotation.pages.messages.unread_messages",
                "jobs.pages.work_status",
            ],
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "builtins": [
                "config.templatetags.concord",
                "config.templatetags.components",
                "django.contrib.humanize.templatetags.humanize",
                "django.templatetags.static",
            ],
        },
    }
]

DATABASE_URL = os.environ.get("DATABASE_URL", "")
if DATABASE_URL:
    _outside = dj_database_url.parse(DATABASE_URL, conn_max_age=600, conn_health_checks=True)
    DATABASES: dict[str, Any] = {"default": dict(_outside)}
else:
    _connection_reuse = {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True}
    DATABASES = {"default": postgres.connection_settings(HOME) | _connection_reuse}

CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL", "")

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "UserAttributeSimilarityValidator")
]
AUTHENTICATION_BACKENDS = ["annotation.people.sign_in.Lock", "config.sessions.Accounts"]
# Ten wrong passwords for a name from one address lock that pair for half an hour; attempts are counted in the
# database, shared by all web processes. The delay before that is in annotation.people.sign_in.
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=30)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_CLIENT_IP_CALLABLE = "annotation.people.sign_in.address_of"
AXES_LOCKOUT_CALLABLE = "annotation.people.sign_in.locked"
OIDC = environment.provider_from_environment(os.environ)
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
SESSION_ENGINE = "config.sessions"
SESSION_COOKIE_NAME = "concord_session"
CSRF_COOKIE_NAME = "concord_csrf"
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
PROXIES = _networks("CONCORD_PROXIES")
if _flag("CONCORD_HTTPS"):
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

MAIL = environment.mail_from_environment(os.environ)
globals().update(MAIL.settings)

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True

DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 2**20
# The scheme editor posts 30 fields per question and two per value: 100 questions with 101 values fit.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 25_000
FILE_UPLOAD_MAX_MEMORY_SIZE = 2**20
UPLOAD_LIMIT_BYTES = int(os.environ.get("CONCORD_UPLOAD_LIMIT_MB") or 512) * 2**20

EMBEDDING_MODEL = os.environ.get("CONCORD_EMBEDDING_MODEL", "")
KEY_VARIABLES = _names("CONCORD_KEY_VARIABLES")
RESEARCHER_ENDPOINTS = not _names("CONCORD_RESEARCHER_ENDPOINTS") or _flag("CONCORD_RESEARCHER_ENDPOINTS")
"""Whether researchers add endpoints of their own, each with a key of its owner."""
LEASE_SECONDS = int(os.environ.get("CONCORD_LEASE_SECONDS") or 30)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.people.accounts.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["config.permissions.IsResearcher"],
    "DEFAULT_SCHEMA_CLASS": "config.openapi.Described",
    "DEFAULT_PAGINATION_CLASS": "config.lists.Pages",
    "DEFAULT_THROTTLE_CLASSES": ["config.declared_input.DeclaredInputOnly"],
    "DEFAULT_PARSER_CLASSES": ["config.parsers.JSON", "config.parsers.Form", "config.parsers.Multipart"],
    "EXCEPTION_HANDLER": "config.api.refuse",
    "DEFAULT_METADATA_CLASS": None,  # the OpenAPI document has the content of OPTIONS
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
}
API_REFUSALS = [
    "annotation.errors.AnnotationError",
    "jobs.errors.JobError",
    "calibration.errors.CalibrationError",
]
"""Base classes of applications' refusals, which `config.api.refuse` turns into responses."""
SPECTACULAR_SETTINGS = {
    "TITLE": "Concord",
    "DESCRIPTION": "Annotation and judge calibration for dialogues.",
    "VERSION": "1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,  # requests and responses differ
    "SERVE_PERMISSIONS": ["config.permissions.IsSignedIn"],
    "APPEND_COMPONENTS": {"schemas": {"Refusal": REFUSAL}},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.openapi.without_empty_defaults",
        "config.openapi.closed_bodies",
    ],
    "ENUM_NAME_OVERRIDES": {
        "PersonRoleEnum": [(name, name) for name in ("annotator", "researcher", "administrator")],
        "PreferenceTiesEnum": [(name, name) for name in ("half", "drop", "davidson")],
        "TestPartEnum": [("test", "test")],
        "DialoguePartEnum": [("training", "Training"), ("evaluation", "Evaluation")],
        "ExportPartEnum": [(name, name) for name in ("dev", "test", "all", "training")],
        "SelectedPartEnum": [(name, name) for name in ("dev", "test", "training")],
        "RecordStatusEnum": [(name, name) for name in ("draft", "accepted", "rejected", "corrected")],
        "DecidedStatusEnum": [("accepted", "accepted"), ("rejected", "rejected")],
        "ResultStatusEnum": [(name, name) for name in ("ok", "undefined", "insufficient", "rejected")],
        "GoldRuleEnum": "calibration.gold.rules.rule_choices",
        "PickingRuleEnum": "judges.prompts.examples.RULE_CHOICES",
        "TrainingPartEnum": "annotation.corpora.splits.TRAINING_CHOICES",
        "NamesKindEnum": [(name, name) for name in ("anonymised", "swapped")],
        "OnlyYesEnum": [("yes", "yes")],
        "SessionReasonEnum": [(name, name) for name in ("talk", "distance", "broadcast", "other")],
        "RunModeEnum": "jobs.models.Run.Mode",
        "RunStateEnum": "jobs.models.Run.State",
        "RunVerbEnum": [(name, name) for name in ("cancel", "pause", "resume", "retry")],
        "SystemVerdictEnum": [(name, name) for name in ("above", "not_above", "below", "cannot_say")],
        **(
            {"SimulationStateEnum": "suites.long_dialogue.models.Simulation.State"}
            if "suites.long_dialogue" in SUITES
            else {}
        ),
        **({"ChatStateEnum": "suites.collecting.models.Chat.State"} if "suites.collecting" in SUITES else {}),
        "TokenScopeEnum": "annotation.models.ApiToken.Scope",
    },
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "filters": {"short": {"()": "config.trouble.ShortWhilePassing"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["short"]}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("CONCORD_LOG_LEVEL", "WARNING")},
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

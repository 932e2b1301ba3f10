"""The production setup, as far as it can be checked without a container engine."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from importlib.util import find_spec

import pytest
import yaml
from django.core.management import get_commands

from config.celery import VISIBILITY_SECONDS, app, transport_options
from tests.platform.running import PROJECT

OWN = {"migrate", "web", "worker-calls", "worker-metrics", "worker-jobs", "beat"}
TEXT = (PROJECT / "docker-compose.yml").read_text()
SECRETS = ("POSTGRES_PASSWORD", "REDIS_PASSWORD", "CONCORD_SECRET_KEY")


@pytest.fixture(scope="module")
def services():
    return yaml.safe_load(TEXT)["services"]


def test_all_parts_are_there(services):
    assert services.keys() == OWN | {"database", "broker"}


@pytest.mark.parametrize("name", SECRETS)
def test_no_secret_has_a_default(name):
    uses = re.findall(rf"\$\{{{name}[^}}]*\}}", TEXT)
    assert uses
    assert all(use.startswith(f"${{{name}:?") for use in uses)


def test_a_providers_key_goes_to_workers_for_calls_alone(services):
    assert {name for name, service in services.items() if "OPENAI_API_KEY" in service["environment"]} == {
        "worker-calls"
    }


@pytest.mark.parametrize("path", [".env", ".env.production", "concord.dump", "site.backup", "tls.pem"])
@pytest.mark.parametrize("rules", [".gitignore", ".dockerignore"])
def test_secrets_and_dumps_get_into_neither_image_nor_history(path, rules):
    lines = (PROJECT / rules).read_text().splitlines()
    kept_out = [line.removeprefix("**/") for line in lines if line and line[0] not in "#!"]
    assert any(fnmatch(path, rule) for rule in kept_out)


def test_everything_that_stays_is_watched(services):
    watched = {"database", "broker", "worker-calls", "worker-metrics", "worker-jobs", "beat"}
    assert all(services[name]["healthcheck"]["test"] for name in watched)
    assert "healthcheck" not in services["web"], "the image's own check is the web server's"
    assert "HEALTHCHECK" in (PROJECT / "Dockerfile").read_text()


def test_every_program_that_the_image_and_its_services_call_is_there():
    image = (PROJECT / "Dockerfile").read_text()
    modules = set(re.findall(r'"-m", "([\w.]+)"', image + TEXT)) | set(re.findall(r"-A\W+([\w.]+)", TEXT))
    commands = set(re.findall(r'"manage.py", "(\w+)"', image + TEXT))
    assert modules >= {"config.probe", "config.web", "config.celery"}
    assert [module for module in modules if find_spec(module) is None] == []
    assert commands
    assert commands <= get_commands().keys()


def test_migrations_run_once_and_before_the_rest(services):
    assert services["migrate"]["restart"] == "no"
    for name in OWN - {"migrate"}:
        assert services[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


def test_only_the_web_server_is_reachable_and_only_from_the_machine_itself(services):
    assert {name for name, service in services.items() if "ports" in service} == {"web"}
    assert services["web"]["ports"] == ["${HOST:-127.0.0.1}:${PORT:-8000}:8000"]


def test_workers_can_be_scaled(services):
    for name in ("worker-calls", "worker-metrics", "worker-jobs"):
        assert "container_name" not in services[name]
        assert "%h" in services[name]["command"][-1]


def test_data_lies_in_named_volumes(services):
    volumes = yaml.safe_load(TEXT)["volumes"].keys()
    used = {mount.partition(":")[0] for service in services.values() for mount in service.get("volumes", [])}
    assert used == set(volumes)


def test_nothing_runs_as_root_in_the_image():
    last = (PROJECT / "Dockerfile").read_text().rpartition("\nFROM ")[2]
    assert re.search(r"^USER concord$", last, re.MULTILINE)
    assert last.index("USER concord") < last.index("CMD")


def project_name(requirement: str) -> str:
    return re.split(r"[\[=]", requirement)[0].lower().replace("_", "-")


def test_the_image_holds_the_locked_versions_of_what_the_product_needs():
    needed = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["dependencies"]
    locked = (PROJECT / "requirements.lock").read_text().splitlines()
    assert {project_name(line) for line in needed} <= {project_name(line) for line in locked}


def test_with_redis_messages_of_lost_workers_are_looked_for_often():
    options = transport_options("redis://broker/0")
    assert options["visibility_timeout"] == VISIBILITY_SECONDS
    assert options["unacked_restore_interval"] * options["unacked_restore_throttle"] <= 30
    assert transport_options("amqp://broker") == {}


def test_a_task_is_confirmed_when_done_and_taken_one_at_a_time():
    assert app.conf.task_acks_late
    assert app.conf.task_reject_on_worker_lost
    assert app.conf.worker_prefetch_multiplier == 1


def test_the_sweep_waits_behind_no_other_work(services):
    (entry,) = app.conf.beat_schedule.values()
    assert (entry["task"], entry["options"]["queue"]) == ("jobs.sweep", "sweep")
    queues = {
        name: service["command"][service["command"].index("--queues") + 1]
        for name, service in services.items()
        if "--queues" in service.get("command", [])
    }
    assert [name for name, queue in queues.items() if "sweep" in queue.split(",")] == ["beat"]
    assert "--beat" in services["beat"]["command"]

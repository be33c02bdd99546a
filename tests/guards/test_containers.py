"""The container files fit the code: processes, settings, probes, queues, packages, time to stop."""

import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from models.registry import SHIPPED_DIR, check_version, import_version, promote, read_current_name
from service import ENV_PREFIX
from service.data_folder import DataFolder
from service.processes.probe import main as probe
from service.settings import VARIABLES, load_settings, own_versions_folder
from service.supervisor import supervise
from service.tasks.broker import LANE_QUEUES
from service.web.app import create_app
from tests.commands import ROOT, run_python
from tests.fakes import make_services
from tests.servers import package_folder

DOCKER = ROOT / "docker"
BASE = DOCKER / "kubernetes" / "base"
COMPONENTS = DOCKER / "kubernetes" / "components"
RETRAINING = COMPONENTS / "retraining"
OVERLAY = DOCKER / "kubernetes" / "overlays" / "production"
STAGES_THAT_RUN = {"web", "worker", "trainer", "test"}
STAGES_THAT_SERVE = ("web", "worker", "trainer")
_NEED_ALL = ("web", "worker", "background")


class _Loader(yaml.SafeLoader):
    """Reads Compose's `!reset` as what follows it."""


_Loader.add_constructor("!reset", lambda loader, node: loader.construct_sequence(node))


def _load(path: Path) -> Any:
    return yaml.load(path.read_text("utf-8"), _Loader)  # noqa: S506  # a safe loader


COMPOSE_FILES = sorted(DOCKER.glob("compose*.yaml"))
COMPOSE = _load(DOCKER / "compose.yaml")
EVERY_SERVICE = [service for path in COMPOSE_FILES for service in _load(path)["services"].items()]
TEXTS = [
    path.read_text("utf-8")
    for path in DOCKER.rglob("*")
    if path.is_file() and path.suffix != ".pyc"
]


def _defaults(text: str) -> str:
    """Return the text as Compose reads it where no variable is set."""
    return re.sub(r"\$\{\w+(?::-([^}]*)|:\?[^}]*)?\}", lambda found: found[1] or "", text)


def _kubernetes(kind: str, folder: Path = BASE) -> dict[str, dict[str, Any]]:
    resources = [
        resource
        for name in _load(folder / "kustomization.yaml")["resources"]
        if (folder / name).is_file()
        for resource in yaml.safe_load_all((folder / name).read_text("utf-8"))
    ]
    return {r["metadata"]["name"]: r for r in resources if r["kind"] == kind}


DEPLOYMENTS = _kubernetes("Deployment")


def _container(resource: dict[str, Any]) -> dict[str, Any]:
    (container,) = resource["spec"]["template"]["spec"]["containers"]
    return container


def _instructions() -> list[tuple[str, str, str]]:
    """Return the Dockerfile as stage, instruction and its text."""
    text = re.sub(r"^#.*\n", "", (DOCKER / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    stage, found = "", []
    for line in text.replace("\\\n", " ").splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stage = rest.rpartition(" AS ")[2].strip()
        if word:
            found.append((stage, word, rest.strip()))
    return found


def _command_of(stage: str) -> list[str]:
    (command,) = [text for s, word, text in _instructions() if (s, word) == (stage, "CMD")]
    return json.loads(command)


def _left_out(stage: str) -> set[str]:
    (run,) = [t for s, w, t in _instructions() if (s, w) == (stage, "RUN") and "lock_without" in t]
    words = shlex.split(run.partition(">")[0])
    return set(words[words.index("requirements.lock") + 1 :])


def _module(command: list[str]) -> str | None:
    """Return which of our modules a command runs, as the tree calls it; images have the wheel."""
    if "-m" not in command:
        return None
    name = command[command.index("-m") + 1]
    assert name.startswith("slopsieve.")
    return name.removeprefix("slopsieve.")


def _modules_in_compose() -> dict[str, str]:
    """Return which service runs which of our modules."""
    images = {stage: _command_of(stage) for stage in STAGES_THAT_SERVE}
    return {
        name: module
        for name, service in COMPOSE["services"].items()
        if (target := _defaults(service.get("build", {}).get("target", ""))) in images
        and (module := _module(service.get("command") or images[target]))
    }


def _modules_in_kubernetes() -> dict[str, str | None]:
    containers = {name: _container(deployment) for name, deployment in DEPLOYMENTS.items()}
    return {
        name: _module(one.get("command") or _command_of(one["image"].removeprefix("slopsieve-")))
        for name, one in containers.items()
    }


@pytest.mark.parametrize("path", COMPOSE_FILES, ids=lambda path: path.name)
def test_every_compose_file_fits_the_compose_specification(path):
    vendored = package_folder("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json"
    schema = jsonschema_rs.validator_for(json.loads(vendored.read_text("utf-8")))

    assert [str(error) for error in schema.iter_errors(_load(path))] == []


def test_every_variable_with_our_prefix_is_a_setting():
    named = {name for text in TEXTS for name in re.findall(rf"{ENV_PREFIX}[A-Z_]*[A-Z]", text)}

    assert named - VARIABLES == set()


def test_every_container_is_handed_the_secrets_that_it_needs_and_no_other():
    both = ["database_url", "valkey_url"]
    handed = {name: sorted(one["secrets"]) for name, one in EVERY_SERVICE if "secrets" in one}
    example = (DOCKER / ".env.example").read_text("utf-8")

    assert handed == {
        **{name: [both[0], "secret_key", both[1]] for name in _NEED_ALL},
        "migrate": ["database_url"],
        "postgres": ["postgres_password"],
        "backup": ["postgres_password"],
        "valkey": ["valkey_password"],
        "grafana": ["grafana_password"],
    }
    for service in COMPOSE["services"].values():
        ours = service.get("environment", {}).items() if "env_file" in service else ()
        files = {value for name, value in ours if name.endswith("_FILE")}
        assert files == {f"/run/secrets/{name}" for name in service["secrets"] if ours}
    # Whatever stands in .env goes to all of ours, and into lists of processes and of containers.
    for text in (example, *(path.read_text("utf-8") for path in COMPOSE_FILES)):
        assert re.findall(r"^#?(\w*(?:PASSWORD|SECRET\w*|TOKEN|KEY))=", text, re.MULTILINE) == []
        assert re.findall(r"\$\{\w*(?:PASSWORD|SECRET|TOKEN)", text) == []


def test_the_secrets_that_compose_mounts_are_made_once_each_their_own(tmp_path):
    shutil.copy(DOCKER / "secrets.sh", tmp_path)
    made = {
        name: secret["file"]
        for path in COMPOSE_FILES
        for name, secret in _load(path).get("secrets", {}).items()
    }

    def make(**environment: str) -> dict[str, str]:
        subprocess.run(
            ["sh", str(tmp_path / "secrets.sh")],
            check=True,
            env={"PATH": os.environ["PATH"], **environment},
        )
        return {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}

    first = make(VALKEY_PASSWORD="in use")

    assert {f"secrets/{name}" for name in first} == set(made.values())
    assert first["valkey_url"] == "redis://:in use@valkey:6379/0\n"
    assert len(set(first.values())) == len(first)
    assert all(len(first[name]) == 65 for name in ("secret_key", "postgres_password"))
    assert first["postgres_password"].strip() in first["database_url"]
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    assert make(VALKEY_PASSWORD="another") == first
    for name in (".gitignore", ".dockerignore"):
        ignored = (ROOT / name).read_text("utf-8").replace("/\n", "\n").splitlines()
        assert "docker/secrets" in ignored


def test_an_image_of_ours_is_tagged_with_the_version_that_is_in_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = {
        tag
        for text in TEXTS
        for tag in re.findall(
            r"(?:IMAGE_TAG(?::-|=)|newTag: |ersion: (?=\d+\.\d+\.)|ARG VERSION=|slopsieve-\w+:)"
            r"(\d[\w.]*\w)",
            text,
        )
    }

    assert named == {project["version"]}


def test_every_process_of_the_supervisor_has_a_service_and_a_deployment():
    processes = sorted(supervise._MODULES.values())

    assert sorted(_modules_in_compose().values()) == processes
    assert sorted(_modules_in_kubernetes().values()) == processes
    assert set(supervise._STOP_SECONDS) - set(supervise._MODULES) == {"valkey"}
    assert {"postgres", "valkey"} <= set(COMPOSE["services"])


def test_every_process_is_given_as_long_to_stop_as_the_supervisor_gives_it():
    needs = {supervise._MODULES[n]: supervise._STOP_SECONDS[n] for n in supervise._MODULES}

    for name, module in _modules_in_compose().items():
        assert int(COMPOSE["services"][name]["stop_grace_period"].removesuffix("s")) > needs[module]
    for name, module in _modules_in_kubernetes().items():
        pod = DEPLOYMENTS[name]["spec"]["template"]["spec"]
        assert pod["terminationGracePeriodSeconds"] > needs[module]


def test_everything_waits_for_the_one_migration():
    services = COMPOSE["services"]
    after = {"condition": "service_completed_successfully"}

    assert services["migrate"]["command"] == ["slopsieve", "migrate"]
    assert services["migrate"]["restart"] == "no"
    assert all(services[name]["depends_on"]["migrate"] == after for name in _modules_in_compose())
    job = _container(_kubernetes("Job")["slopsieve-migrate"])
    assert job["command"] == services["migrate"]["command"]
    patches = _load(BASE / "kustomization.yaml")["patches"]
    assert {"path": "after-migration.yaml", "target": {"kind": "Deployment"}} in patches


def test_every_probe_asks_for_what_there_is(capsys):
    app = create_app(make_services(), {"SECRET_KEY": "thirty-two characters for a test"}, {})
    routes = {rule.rule for rule in app.url_map.iter_rules()}
    with pytest.raises(SystemExit):
        probe(["--help"])
    kinds = set(re.findall(r"\{([\w,]+)\}", capsys.readouterr().out)[0].split(","))

    containers = [_container(deployment) for deployment in DEPLOYMENTS.values()]
    probes = [value for c in containers for key, value in c.items() if key.endswith("Probe")]
    paths = {found["httpGet"]["path"] for found in probes if "httpGet" in found}
    texts = [p.read_text("utf-8") for p in (DOCKER / "Dockerfile", *DOCKER.rglob("*.yaml"))]
    asked = set(re.findall(r"service\.(?:\w+\.)*probe\W+(\w+)", "".join(texts)))
    assert paths == {"/livez", "/readyz"}
    assert paths <= routes
    assert asked == kinds


def test_every_service_runs_with_no_more_rights_than_it_needs():
    for name, service in EVERY_SERVICE:
        if "image" not in service:
            continue  # An overlay adds to what another file says.
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        # An init of root without KILL passes no signal on to a process of another user.
        assert service["init"] is not ("SETUID" in service.get("cap_add", [])), name
        assert service["logging"]["options"].keys() == {"max-size", "max-file"}, name
        assert {"memory", "pids"} <= service["deploy"]["resources"]["limits"].keys(), name


def test_every_stage_that_runs_is_left_by_root():
    users = {stage: text for stage, word, text in _instructions() if word == "USER"}
    froms = {s: t.split()[0] for s, word, t in _instructions() if word == "FROM"}

    assert froms.keys() >= STAGES_THAT_RUN
    assert {users.get(stage, users[froms[stage]]) for stage in STAGES_THAT_RUN} == {"10001:10001"}


def test_one_patch_takes_the_rights_of_every_pod():
    patch = {"path": "hardened.yaml", "target": {"kind": "Deployment|Job"}}
    pod = _load(BASE / "hardened.yaml")["spec"]["template"]["spec"]

    assert patch in _load(BASE / "kustomization.yaml")["patches"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    for resource in (*DEPLOYMENTS.values(), *_kubernetes("Job").values()):
        assert _container(resource)["name"] == pod["containers"][0]["name"]
        assert "memory" in _container(resource)["resources"]["limits"]


def test_what_is_written_outlives_the_containers_that_share_it(tmp_path):
    folder, settings = DataFolder(tmp_path), load_settings(data_dir=tmp_path)
    lists, retraining, versions = (
        f"/data/{one.relative_to(tmp_path)}"
        for one in (folder.lists_folder, folder.retraining_folder, own_versions_folder(settings))
    )
    services = COMPOSE["services"]
    patches = (RETRAINING / "kustomization.yaml").read_text("utf-8")
    [mount] = _container(_load(RETRAINING / "background.yaml"))["volumeMounts"]

    assert {f"lists:{lists}", f"models:{versions}"} <= set(services["web"]["volumes"])
    assert services["worker"]["volumes"] == [f"models:{versions}:ro"]
    assert services["background"]["volumes"] == [f"models:{versions}", f"retraining:{retraining}"]
    [made] = [t for _, word, t in _instructions() if word == "RUN" and "install -d" in t]
    assert {lists, versions, retraining} <= set(made.split())
    assert f"{{name: models, mountPath: {versions}}}" in patches
    assert mount == {"name": "retraining", "mountPath": retraining}
    # A host of the same name goes on with a retraining.
    assert services["background"]["hostname"]
    assert DEPLOYMENTS["slopsieve-background"]["spec"]["template"]["spec"]["hostname"]


def test_the_stores_are_reached_by_nobody_outside():
    services = COMPOSE["services"]
    published = {name for name, service in services.items() if "ports" in service}
    everywhere = {
        name
        for name, service in EVERY_SERVICE
        for port in service.get("ports", [])
        if not port.startswith("127.0.0.1:")
    }

    assert published == {"web"}
    assert everywhere == {"proxy"}
    assert COMPOSE["networks"]["back"]["internal"]
    assert services["postgres"]["networks"] == services["valkey"]["networks"] == ["back"]


def test_a_proxy_is_trusted_where_there_is_one():
    plain = COMPOSE["services"]["web"]["environment"]
    behind = _load(DOCKER / "compose.tls.yaml")["services"]["web"]["environment"]
    literals = _load(BASE / "kustomization.yaml")["configMapGenerator"][0]["literals"]

    assert "SLOPSIEVE_TRUSTED_PROXIES" not in plain
    assert behind["SLOPSIEVE_TRUSTED_PROXIES"] == "1"
    assert behind["SLOPSIEVE_HTTPS_ONLY_COOKIES"] == "true"
    assert "SLOPSIEVE_TRUSTED_PROXIES=1" in literals


def test_workers_are_scaled_by_how_many_comments_wait_and_by_how_long():
    (scaled,) = _kubernetes("ScaledObject", OVERLAY).values()
    triggers = scaled["spec"]["triggers"]
    lists = {t["metadata"]["listName"] for t in triggers if t["type"] == "redis"}
    queries = {t["metadata"]["query"] for t in triggers if t["type"] == "prometheus"}

    assert lists == set(LANE_QUEUES.values())
    assert queries == {
        f'max(slopsieve_unjudged_comments_oldest_seconds{{lane="{lane.value}"}})'
        for lane in LANE_QUEUES
    }
    # The alerts ask for the same, and their own guard holds them to what is counted.
    alerts = (DOCKER / "monitoring" / "alerts.yaml").read_text("utf-8")
    assert all(re.search(r"\((.*)\)", query)[1] in alerts for query in queries)
    assert scaled["spec"]["scaleTargetRef"]["name"] in _kubernetes("Deployment")


def test_whoever_counts_is_asked_and_nobody_else_is():
    (job,) = _load(DOCKER / "monitoring" / "prometheus.yaml")["scrape_configs"]
    (names,) = job["dns_sd_configs"]
    overlay = _load(DOCKER / "compose.monitoring.yaml")["services"]
    address = "SLOPSIEVE_METRICS_ADDRESS"
    counting = {n for n, s in overlay.items() if address in s.get("environment", {})}
    monitoring = COMPONENTS / "monitoring"
    (monitor,) = _kubernetes("PodMonitor", monitoring).values()
    (allowed,) = _kubernetes("NetworkPolicy", monitoring).values()
    literals = _load(monitoring / "kustomization.yaml")["configMapGenerator"][0]["literals"]

    assert counting == set(names["names"])
    assert {overlay[n]["environment"][address] for n in counting} == {f"0.0.0.0:{names['port']}"}
    assert literals == [f"{address}=0.0.0.0:{names['port']}"]
    assert allowed["spec"]["ingress"][0]["ports"][0]["port"] == names["port"]
    assert monitor["spec"]["selector"] == allowed["spec"]["podSelector"]
    (wanted,) = monitor["spec"]["selector"]["matchExpressions"]
    assert set(wanted["values"]) == {f"slopsieve-{name}" for name in counting}


def test_every_file_that_compose_mounts_is_there():
    volumes = [one for _, service in EVERY_SERVICE for one in service.get("volumes", [])]
    mounted = {volume.partition(":")[0] for volume in volumes if volume.startswith(".")}

    assert mounted
    assert [name for name in mounted if not (DOCKER / name).exists()] == []


# What the stage's processes do, told to a Python that cannot import what the stage leaves out.
_WEB = """
import service.processes.background, service.processes.probe
import service.commands.demo, service.commands.output
from service.processes.app import create_app, readiness_checks, web_config
from service.settings import load_settings
from service.wiring import Wired
wired = Wired(load_settings(data_dir=sys.argv[1]))
client = create_app(wired.services, web_config(wired), readiness_checks(wired)).test_client()
assert client.get("/livez").status_code == 200
from service.cli import main
main(["--help"])
"""
_WORKER = """
import pathlib
import service.processes.worker
from service.cli import main
comments = pathlib.Path(sys.argv[1], "comments.jsonl")
comments.write_text('{"id": "c1", "text": "Thank you!"}\\n')
main(["score", str(comments), "--out", str(comments.with_name("verdicts.jsonl"))])
"""
_OPERATE = """
import os
os.environ["SLOPSIEVE_DATA_DIR"] = sys.argv[1]
os.environ["SLOPSIEVE_MODELS_DIR"] = os.path.join(sys.argv[1], "models")
from service.cli import main
for words in ("promote next", "rollback", "show next"):
    try:
        main(["models", *words.split()])
    except SystemExit as ended:
        if ended.code:
            raise
"""
_BLOCK = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[2].split(","):
            raise ModuleNotFoundError(f"{name} is left out", name=name)
sys.meta_path.insert(0, Block())
"""


def _run_without(stage: str, script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    left_out = _left_out(stage)
    modules = [
        module
        for module, owners in metadata.packages_distributions().items()
        if {re.sub(r"[-_.]+", "-", owner).lower() for owner in owners} & left_out
    ]
    return run_python("-c", _BLOCK + script, str(folder), ",".join(modules), cwd=ROOT)


@pytest.mark.parametrize(
    ("stage", "script"), [("web-packages", _WEB), ("worker-packages", _WORKER)]
)
def test_a_stage_runs_without_the_packages_that_it_leaves_out(stage, script, tmp_path):
    ended = _run_without(stage, script, tmp_path)

    assert ended.returncode == 0, ended.stderr


def test_an_image_without_an_engine_promotes_versions_and_shows_them(tmp_path):
    folder, shipped = tmp_path / "models", read_current_name()
    import_version(folder, SHIPPED_DIR / shipped)
    shutil.copytree(folder / shipped, folder / "next")
    promote(folder, shipped, check=check_version)

    ended = _run_without("web-packages", _OPERATE, tmp_path)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(f"next is the current version; before it was {shipped}.\n")


@pytest.mark.parametrize("stage", ["web-packages", "worker-packages"])
def test_a_stage_gets_the_lock_less_what_it_leaves_out_and_nothing_else(stage):
    left_out = _left_out(stage)
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    named = set(re.findall(r"^([\w.-]+)==", lock, re.MULTILINE))

    script = str(DOCKER / "lock_without.py")
    kept = run_python(script, "requirements.lock", *left_out, cwd=ROOT).stdout

    assert set(re.findall(r"^([\w.-]+)==", kept, re.MULTILINE)) == named - left_out
    assert set(kept.splitlines()) <= set(lock.splitlines())


def test_a_command_says_which_package_its_image_lacks(tmp_path):
    comments = tmp_path / "comments.jsonl"
    comments.write_text('{"text": "Thank you, that worked."}\n')
    script = f'from service.cli import main\nmain(["score", {str(comments)!r}, "--out", "x"])\n'

    ended = _run_without("web-packages", script, tmp_path)

    assert ended.returncode == 1
    assert "it needs the package openvino, which is not installed here" in ended.stderr

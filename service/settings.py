"""The only reader of the environment: one frozen `Settings`, validated at the start."""

import ipaddress
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Self, TypeVar
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from models.registry import CURRENT_FILE, SHIPPED_DIR
from service import ENV_PREFIX, PREFIX
from service.domain.delivery import RETRY_DELAYS
from service.domain.user import is_mail_address
from service.logs import LogFormat
from service.start_error import SettingsError

_HOST_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63}){0,10}", re.IGNORECASE)
_Item = TypeVar("_Item")


def _split(given: object) -> object:
    if not isinstance(given, str):
        return given
    return tuple(item.strip() for item in given.split(",") if item.strip())


def _network_or_host(given: str) -> str:
    try:
        return str(ipaddress.ip_network(given))
    except ValueError:
        if _HOST_NAME.fullmatch(given) and not given[-1].isdigit():
            return given.lower()
    raise ValueError(f"{given!r} is neither a network such as 192.168.1.0/24 nor a host name")


Listed = Annotated[tuple[_Item, ...], NoDecode, BeforeValidator(_split)]


def _host_and_port(given: str) -> str:
    host, separator, port = given.rpartition(":")
    with suppress(ValueError):
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
        if separator and port.isdecimal() and int(port) <= 65_535:
            return given
    raise ValueError(f"{given!r} is no address and port, such as 127.0.0.1:9464 or [::]:9464")


def _http_url(given: str) -> str:
    if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", given):
        msg = "it must begin with http:// or https://, for example https://host.example/path"
        raise ValueError(msg)
    return given.rstrip("/")


def _mail_address(given: str) -> str:
    if not is_mail_address(given):
        raise ValueError(f"{given!r} is no mail address: write slopsieve@example.org")
    return given


def _zone(given: str) -> str:
    try:
        ZoneInfo(given)
    except (KeyError, ValueError, OSError):
        raise ValueError(
            f"{given!r} is no time zone that this machine knows: write Europe/Berlin, and install "
            "the system's package tzdata if it is one"
        ) from None
    return given


def own_data_folder() -> Path:
    """Return the default data folder.

    It is `$XDG_DATA_HOME/slopsieve`, by default below `~/.local/share`. A checkout uses `var` below
    the working directory, so that each checkout has its own.
    """
    if not PREFIX:
        return Path("var")
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    shared = given if given.is_absolute() else Path("~/.local/share").expanduser()
    return shared / "slopsieve"


class Settings(BaseSettings):
    """Every setting, with a default that suits a laptop. `.env.example` explains each."""

    # Container files pass unset variables as empty ones.
    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_ignore_empty=True, frozen=True, extra="ignore"
    )

    # Stores.
    data_dir: Path = Field(default_factory=own_data_folder)
    database_url: SecretStr | None = None
    database_connections: Annotated[int, Field(ge=1, le=512)] = 8
    database_more_connections: Annotated[int, Field(ge=0, le=512)] = 56
    database_behind_pooler: bool = False
    valkey_url: SecretStr | None = None
    history_url: SecretStr | None = None
    models_dir: Path | None = None

    # Secrets and histories of senders.
    secret_key: SecretStr | None = None
    sender_secret: SecretStr | None = None
    sender_secret_before: SecretStr | None = None
    systems_file: Path | None = None

    # The API.
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    api_threads: Annotated[int, Field(ge=1, le=512)] = 96
    trusted_proxies: Annotated[int, Field(ge=0, le=8)] = 0
    https_only_cookies: bool = False
    requests_per_minute: Annotated[int, Field(ge=1)] = 6000

    # Callbacks.
    callback_ports: Listed[Annotated[int, Field(ge=1, le=65535)]] = (80, 443)
    callback_plain_http: bool = False
    callback_allow: Listed[Annotated[str, AfterValidator(_network_or_host)]] = ()
    callback_delays: Listed[Annotated[float, Field(ge=0, le=604_800)]] = RETRY_DELAYS

    # Retention; 0 days keeps everything.
    keep_deliveries_days: Annotated[int, Field(ge=1, le=3_650)] = 30
    keep_comments_days: Annotated[int, Field(ge=0, le=36_500)] = 0
    keep_spam_days: Annotated[int, Field(ge=0, le=36_500)] = 0
    keep_held_spam_days: Annotated[int, Field(ge=0, le=36_500)] = 30

    # People.
    require_second_factor: bool = False
    audit_share: Annotated[float, Field(ge=0, le=1)] = 0.02

    # Retraining; 0 days turns it off.
    retrain_every_days: Annotated[int, Field(ge=0, le=3_650)] = 0
    retrain_promotes: bool = False
    retrain_data: Listed[str] = ()
    retrain_memory_mb: Annotated[int, Field(ge=500, le=1_000_000)] = 4_000

    # A second judge.
    second_judge_url: Annotated[str, AfterValidator(_http_url)] | None = None
    second_judge_key: SecretStr | None = None
    second_judge_model: str = "gpt-oss-safeguard:20b"
    second_judge_policy: Path | None = None

    # The daily digest.
    mail_url: SecretStr | None = None
    mail_from: Annotated[str, AfterValidator(_mail_address)] | None = None
    room_url: SecretStr | None = None
    remind_hour: Annotated[int, Field(ge=0, le=23)] = 8
    remind_zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    remind_language: str = "en"
    pages_url: Annotated[str, AfterValidator(_http_url)] | None = None

    # Logs and metrics.
    log_format: LogFormat = LogFormat.TEXT
    metrics_address: Annotated[str, AfterValidator(_host_and_port)] | None = None
    metrics_token: SecretStr | None = None

    @model_validator(mode="after")
    def _mail_has_a_sender(self) -> Self:
        if self.mail_url is not None and self.mail_from is None:
            raise ValueError(
                f"{ENV_PREFIX}MAIL_URL is set and {ENV_PREFIX}MAIL_FROM is not: give the address "
                "that the mail server lets this user send from"
            )
        return self


_SECRETS = {
    f"{ENV_PREFIX}{name.upper()}": name
    for name, field in Settings.model_fields.items()
    if field.annotation == SecretStr | None
}
_MOST_SECRET_BYTES = 65_536

VARIABLES = frozenset(f"{ENV_PREFIX}{name.upper()}" for name in Settings.model_fields) | {
    f"{variable}_FILE" for variable in _SECRETS
}
"""The variables of all settings, and for each secret the variable that names its file."""


def load_settings(**overrides: object) -> Settings:
    """Read the environment. Raise one `SettingsError` that names every wrong variable.

    For a secret, `..._FILE` may name a file that holds it.
    """
    lines: list[str] = []
    secrets: dict[str, object] = {}
    for variable, name in _SECRETS.items():
        try:
            if (secret := _read_secret(variable)) is not None:
                secrets[name] = secret
        except ValueError as error:
            lines.append(str(error))
    try:
        settings = Settings(**{**secrets, **overrides})  # type: ignore[arg-type]  # pydantic checks the values
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False):
            name = "_".join(str(part) for part in problem["loc"]).upper()
            said = problem["msg"].removeprefix("Value error, ")
            # An error of several settings names them in its message.
            lines.append(f"{ENV_PREFIX}{name}: {said}" if name else said)
    if lines:
        raise SettingsError("\n".join(lines))
    return settings


def _read_secret(variable: str) -> str | None:
    """Return the secret in the file that `..._FILE` names, None if the variable is not set.

    Raises `ValueError` with the fault and its remedy.
    """
    if not (path := os.environ.get(f"{variable}_FILE")):
        return None
    if os.environ.get(variable):
        raise ValueError(f"{variable} and {variable}_FILE are both set: unset one of them")
    try:
        with Path(path).open("rb") as file:
            content = file.read(_MOST_SECRET_BYTES + 1)
        secret = content.decode().strip()
    except OSError as error:
        wrong = f"cannot be read ({error.strerror}): mount it, or let this user read it"
    except UnicodeDecodeError:
        wrong = "is no text in UTF-8: write the secret into it"
    else:
        if len(content) > _MOST_SECRET_BYTES:
            wrong = f"has over {_MOST_SECRET_BYTES} bytes: name the file with the secret alone"
        elif not secret:
            wrong = "is empty: write the secret into it"
        else:
            return secret
    raise ValueError(f"{variable}_FILE: {path} {wrong}") from None


def has_unread_file(environment: Mapping[str, str]) -> bool:
    """Return True if a file `.env` in the working folder sets what the environment does not."""
    try:
        lines = Path(".env").read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    names = {line.partition("=")[0].removeprefix("export ").strip() for line in lines}
    return any(name.startswith(ENV_PREFIX) for name in names - environment.keys())


def versions_folder(settings: Settings) -> Path:
    """Return the folder whose current version serves.

    It is `models_dir` if that is set, otherwise the data folder's own once a version there is
    current (a promotion makes it so), otherwise the shipped versions.
    """
    own = own_versions_folder(settings)
    if settings.models_dir is not None or (own / CURRENT_FILE).is_file():
        return own
    return SHIPPED_DIR


def own_versions_folder(settings: Settings) -> Path:
    """Return the folder that new versions are written to. It may not exist yet."""
    return settings.models_dir or settings.data_dir.resolve() / "models"

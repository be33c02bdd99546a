"""The only reader of the environment: one frozen `Settings`, checked before anything starts."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
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

from service import PREFIX
from service.domain.delivery import RETRY_DELAYS
from service.domain.user import is_mail_address
from service.logs import LogFormat
from service.start_error import SettingsError

ENV_PREFIX = "SLOPSIEVE_"


_HIGHEST_PORT = 65_535
_HOST_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63}){0,10}", re.IGNORECASE)
_Item = TypeVar("_Item")


def _split(given: object) -> object:
    """Return the items of a list that is written with commas."""
    if not isinstance(given, str):
        return given
    return tuple(item.strip() for item in given.split(",") if item.strip())


def _network_or_host(given: str) -> str:
    try:
        return str(ipaddress.ip_network(given))
    except ValueError:
        if _HOST_NAME.fullmatch(given) and not given[-1].isdigit():
            return given.lower()
    msg = f"{given!r} is neither a network such as 192.168.1.0/24 nor a host name"
    raise ValueError(msg)


Listed = Annotated[tuple[_Item, ...], NoDecode, BeforeValidator(_split)]


def _host_and_port(given: str) -> str:
    host, separator, port = given.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    try:
        ipaddress.ip_address(bare)
    except ValueError:
        is_right = False
    else:
        is_right = separator == ":" and port.isdecimal() and int(port) <= _HIGHEST_PORT
    if not is_right:
        msg = f"{given!r} is no address and port, such as 127.0.0.1:9464 or [::]:9464"
        raise ValueError(msg)
    return given


def _http_url(given: str) -> str:
    if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", given):
        msg = "it must begin with http:// or https://, for example https://host.example/path"
        raise ValueError(msg)
    return given


def _mail_address(given: str) -> str:
    if not is_mail_address(given):
        msg = f"{given!r} is no mail address: write slopsieve@example.org"
        raise ValueError(msg)
    return given


def _zone(given: str) -> str:
    try:
        ZoneInfo(given)
    except (KeyError, ValueError, OSError):
        msg = (
            f"{given!r} is no time zone that this machine knows: write Europe/Berlin, and install "
            "the system's package tzdata if it is one"
        )
        raise ValueError(msg) from None
    return given


AllowedTarget = Annotated[str, AfterValidator(_network_or_host)]


def own_data_folder() -> Path:
    """Return where data lies unless somebody says where: one place for each person.

    That is `$XDG_DATA_HOME/slopsieve`, by default below `~/.local/share`; in a checkout it is `var`
    below wherever somebody stands, so that each checkout has its own.
    """
    if not PREFIX:
        return Path("var")
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    shared = given if given.is_absolute() else Path("~/.local/share").expanduser()
    return shared / "slopsieve"


class Settings(BaseSettings):
    """Every setting, with a default that suits a laptop. `.env.example` explains each."""

    # An empty variable is as good as none: that is how container files pass what is not set.
    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_ignore_empty=True, frozen=True, extra="ignore"
    )

    data_dir: Path = Field(default_factory=own_data_folder)
    """Where the embedded database, the Valkey files and the secrets lie."""

    database_url: SecretStr | None = None
    """A PostgreSQL URL; without one, SQLite in `data_dir`."""

    database_connections: Annotated[int, Field(ge=1, le=512)] = 8
    """Connections to the database that a process keeps open."""

    database_more_connections: Annotated[int, Field(ge=0, le=512)] = 56
    """Connections that a process opens beyond those while many ask at once."""

    database_recycle_seconds: Annotated[int, Field(ge=1)] = 1_800
    """A connection to PostgreSQL that is older is replaced before it is used again."""

    database_behind_pooler: bool = False
    """PgBouncer, or its like, lends its connections for one transaction each."""

    valkey_url: SecretStr | None = None
    """A Valkey or Redis URL; without one, `slopsieve up` starts Valkey in `data_dir`."""

    history_url: SecretStr | None = None
    """A Valkey or Redis URL for histories alone, redis+cluster:// for a cluster's."""

    models_dir: Path | None = None
    """The folder of model versions with its `CURRENT` file; without one, the shipped versions."""

    secret_key: SecretStr | None = None
    """Signs sessions and keys the hashes of senders; without one, made once in `data_dir`."""

    sender_secret: SecretStr | None = None
    """Keys the hashes of senders in place of `secret_key`, so that it can change by itself."""

    sender_secret_before: SecretStr | None = None
    """What keyed the hashes of senders before; their records are still found under it."""

    systems_file: Path | None = None
    """A MaxMind database (.mmdb) of autonomous systems; without one, they are not known."""

    host: str = "127.0.0.1"
    """The address the API listens on."""

    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    """The port the API listens on; 0 takes a free one."""

    api_threads: Annotated[int, Field(ge=1, le=512)] = 96
    """Requests served at once; one that waits for its verdict holds a thread."""

    trusted_proxies: Annotated[int, Field(ge=0, le=8)] = 0
    """How many reverse proxies in front may be believed about the client's address."""

    https_only_cookies: bool = False
    """Send session cookies over HTTPS alone; set it wherever a proxy speaks TLS."""

    batch_size: Annotated[int, Field(ge=1, le=512)] = 64
    """Comments judged in one go."""

    max_wait_seconds: Annotated[float, Field(ge=0, le=60)] = 20.0
    """The longest `?wait=` a request may ask for."""

    requests_per_minute: Annotated[int, Field(ge=1)] = 6000
    """Requests a site key may make each minute before it is answered 429."""

    callback_ports: Listed[Annotated[int, Field(ge=1, le=65535)]] = (80, 443)
    """The ports that callbacks may go to."""

    callback_plain_http: bool = False
    """Let callbacks go over plain HTTP too, where everybody on the way can read them."""

    callback_allow: Listed[AllowedTarget] = ()
    """Networks and host names that callbacks may go to although they are not public."""

    callback_delays: Listed[Annotated[float, Field(ge=0, le=604_800)]] = RETRY_DELAYS
    """Seconds between one attempt to deliver a callback and the next; then it is given up."""

    keep_deliveries_days: Annotated[int, Field(ge=1, le=3_650)] = 30
    """How long delivered callbacks are kept; those given up stay until they are replayed."""

    keep_comments_days: Annotated[int, Field(ge=0, le=36_500)] = 0
    """How long words, names and links of comments are kept once nothing waits; 0 is for ever."""

    keep_spam_days: Annotated[int, Field(ge=0, le=36_500)] = 0
    """The same of comments that were called spam and that nobody approved; 0 is for ever."""

    keep_held_spam_days: Annotated[int, Field(ge=0, le=36_500)] = 30
    """The same of held spam for as long as nobody has decided; 0 is for ever."""

    require_second_factor: bool = False
    """Lead everybody who signs in without a second factor to where it is set up."""

    audit_share: Annotated[float, Field(ge=0, le=1)] = 0.02
    """Share of confident verdicts that moderators check all the same."""

    retrain_every_days: Annotated[int, Field(ge=0, le=3_650)] = 0
    """How often the model is trained anew by itself; 0 is never."""

    retrain_promotes: bool = False
    """Let a retrained version that meets the release criteria serve without asking an owner."""

    retrain_data: Listed[str] = ()
    """Files and folders of labelled comments that every retraining reads too."""

    retrain_threads: Annotated[int, Field(ge=1, le=256)] = 1
    """Threads that a retraining computes with."""

    retrain_memory_mb: Annotated[int, Field(ge=500, le=1_000_000)] = 4_000
    """Megabytes of memory that a retraining may use; it ends itself before it takes more."""

    keep_refused_versions: Annotated[int, Field(ge=1, le=1_000)] = 5
    """Retrained versions that were refused and are kept all the same, the newest of them."""

    second_judge_url: Annotated[str, AfterValidator(_http_url)] | None = None
    """Where a second judge answers, up to `/v1`; without one, nothing is asked and sent."""

    second_judge_key: SecretStr | None = None
    """What the second judge wants as its API key."""

    second_judge_model: str = "gpt-oss-safeguard:20b"
    """The model's name at the second judge."""

    second_judge_policy: Path | None = None
    """A file that says what is spam and ham here; without one, our own few sentences."""

    mail_url: SecretStr | None = None
    """The mail server that daily digests go through; without one, none are sent by mail."""

    mail_from: Annotated[str, AfterValidator(_mail_address)] | None = None
    """The address that mail is sent from."""

    room_url: SecretStr | None = None
    """The webhook of a chat room that is sent a daily digest of what waits."""

    remind_hour: Annotated[int, Field(ge=0, le=23)] = 8
    """From which hour of the day on the digest of what waits is sent."""

    remind_zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    """The time zone of that hour, and of times in digests."""

    remind_language: str = "en"
    """What the room is spoken to in, and accounts that chose no language."""

    pages_url: Annotated[str, AfterValidator(_http_url)] | None = None
    """Where people find the pages, for links in digests and to authors' statements."""

    log_format: LogFormat = LogFormat.TEXT
    """How log lines are written: `text` for people, `json` for programs."""

    metrics_address: Annotated[str, AfterValidator(_host_and_port)] | None = None
    """Where each process serves its metrics besides, as ADDRESS:PORT."""

    metrics_token: SecretStr | None = None
    """What whoever reads metrics must send; without one, only this machine may."""

    @model_validator(mode="after")
    def _mail_has_a_sender(self) -> Self:
        if self.mail_url is not None and self.mail_from is None:
            msg = (
                f"{ENV_PREFIX}MAIL_URL is set and {ENV_PREFIX}MAIL_FROM is not: give the address "
                "that the mail server lets this user send from"
            )
            raise ValueError(msg)
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
"""What may be set in the environment: every setting, and for each secret the file it lies in."""


def load_settings(**overrides: object) -> Settings:
    """Read the environment once. Raise `SettingsError` that names everything wrong at once.

    A secret may lie in a file of which the environment has the name, as `..._FILE`.
    """
    lines: list[str] = []
    secrets: dict[str, object] = {}
    for variable, name in _SECRETS.items():
        try:
            if (secret := _read_secret(variable, os.environ)) is not None:
                secrets[name] = secret
        except ValueError as error:
            lines.append(str(error))
    try:
        settings = Settings(**{**secrets, **overrides})  # type: ignore[arg-type]  # pydantic checks the values
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False):
            name = "_".join(str(part) for part in problem["loc"]).upper()
            said = problem["msg"].removeprefix("Value error, ")
            # What several settings do wrong together names them itself.
            lines.append(f"{ENV_PREFIX}{name}: {said}" if name else said)
    if lines:
        raise SettingsError("\n".join(lines))
    return settings


def _read_secret(variable: str, environment: Mapping[str, str]) -> str | None:
    """Return the secret of which this variable's `_FILE` names the file, None without one.

    Raises `ValueError` that says what is wrong with it and what to do.
    """
    if not (path := environment.get(f"{variable}_FILE")):
        return None
    if environment.get(variable):
        msg = f"{variable} and {variable}_FILE are both set: unset one of them"
        raise ValueError(msg)
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
    msg = f"{variable}_FILE: {path} {wrong}"
    raise ValueError(msg) from None

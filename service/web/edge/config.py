"""What the HTTP edge is told when it is built."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class WebConfig:
    """The edge's own options; `service.wiring` fills them from the settings.

    `limiter_storage_url` is a `redis://` or `redis+unix://` URL, None counts in memory.
    `trusted_proxies` is how many reverse proxies in front may be believed about the client.
    `failures_per_minute` is how many wrong keys or tokens an address may try: a key mistyped in
    a plugin is tried now and then, guessing tries all the time.
    `max_waiting` bounds how many requests may wait for verdicts at once, so that waiting never
    takes every thread of the server; a request beyond it is answered without waiting.
    `key_memory_seconds` is how long an Akismet key may be known without asking the store again.
    `require_second_factor` lets nobody past its set-up who has none.
    `metrics_token` is what whoever reads `/metrics` must send; without one only this machine may.
    `keep_held_spam_days` is after how many days held spam is deleted, 0 for never.
    `retrain_data` is what a retraining that is asked for on a page reads beside the decisions.
    """

    secret_key: str = field(repr=False)
    https_only_cookies: bool = False
    max_wait_seconds: float = 20.0
    requests_per_minute: int = 6000
    failures_per_minute: int = 30
    limiter_storage_url: str | None = field(default=None, repr=False)
    trusted_proxies: int = 0
    max_waiting: int = 24
    key_memory_seconds: float = 0.0
    require_second_factor: bool = False
    metrics_token: str | None = field(default=None, repr=False)
    keep_held_spam_days: int = 30
    retrain_data: tuple[str, ...] = ()

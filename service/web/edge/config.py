"""The options of the web application."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class WebConfig:
    """The options of the web application; `service.wiring` reads them from the settings.

    `limiter_storage_url` is a `redis://` or `redis+unix://` URL; None counts in memory.
    `trusted_proxies` is the number of reverse proxies whose `X-Forwarded-*` headers are trusted.
    `failures_per_minute` is how many wrong keys or tokens an address may send.
    `max_waiting` is how many requests may wait for verdicts at once, so that some threads of the
    server stay free. A request over the limit does not wait.
    `require_second_factor` redirects users without a second factor to its set-up.
    `metrics_token` is needed to read `/metrics`; without one only this machine can read it.
    `keep_held_spam_days` is after how many days held spam is deleted; 0 means never.
    `retrain_data` is read in addition to the decisions when a page starts a retraining.
    """

    secret_key: str = field(repr=False)
    https_only_cookies: bool = False
    max_wait_seconds: float = 20.0
    requests_per_minute: int = 6000
    failures_per_minute: int = 30
    limiter_storage_url: str | None = field(default=None, repr=False)
    trusted_proxies: int = 0
    max_waiting: int = 24
    require_second_factor: bool = False
    metrics_token: str | None = field(default=None, repr=False)
    keep_held_spam_days: int = 30
    retrain_data: tuple[str, ...] = ()

"""Answers what settings pages ask about a key: subscription, figures, usage, sites."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from flask import Response

from service.domain.site import Site
from service.domain.tally import Tally
from service.ports.services import CommonPorts, ReviewPorts, Services
from service.web.akismet import answers
from service.web.akismet.call import AkismetCall

_MONTH = re.compile(r"(20\d{2})-(0[1-9]|1[0-2])")
_SITES_LIMIT = 500
_MOST_PERIODS = 60
# What a moderator takes to look at one comment and bin it.
_SECONDS_SAVED_PER_SPAM = 10
_SITE_COLUMNS = (
    "Site",
    "Total API Calls",
    "Spam",
    "Ham",
    "Missed Spam",
    "False Positives",
    "Is Revoked",
)


def get_subscription(call: AkismetCall, _services: Services) -> Response:
    """Return an active subscription: WordPress stores a new key for no other."""
    site = _site(call)
    if site is None:
        return answers.text(answers.INVALID)
    return answers.as_json(
        {
            "account_id": 1,
            "account_type": "self-hosted",
            "account_name": site.name,
            "status": "active",
            "next_billing_date": False,
            "limit_reached": False,
        }
    )


def get_stats(call: AkismetCall, services: Services) -> Response:
    """Return the site's figures, in all and by month."""
    return _stats(call, services.review, services.common, with_blogs=False)


def get_key_stats(call: AkismetCall, services: Services) -> Response:
    """Return the figures of all the key's sites, of which there is one."""
    return _stats(call, services.review, services.common, with_blogs=True)


def usage_limit(call: AkismetCall, services: Services) -> Response:
    """Return that there is no limit, and how many comments came this month."""
    site = _site(call)
    if site is None:
        return answers.text(answers.INVALID)
    now = services.common.clock()
    usage = services.review.cases.tally(site.id, received_from=_month_of(now), received_before=now)
    answer: dict[str, object] = {
        "limit": "none",
        "usage": usage.received,
        "percentage": "0.00",
        "throttled": False,
    }
    if call.fields.get("extended", "").lower() == "true":
        answer |= {"notice_level": False, "upgrade": False}
    return answers.as_json(answer)


def key_sites(call: AkismetCall, services: Services) -> Response:
    """Return the one site of the key with its figures of a month, as JSON or CSV."""
    site = _site(call)
    if site is None:
        return answers.text(answers.INVALID)
    asked = _MONTH.fullmatch(call.fields.get("month", ""))
    start = (
        datetime(int(asked[1]), int(asked[2]), 1, tzinfo=UTC)
        if asked
        else _month_of(services.common.clock())
    )
    name = site.settings.blog or site.name
    tally = services.review.cases.tally(
        site.id, received_from=start, received_before=_next_month(start)
    )
    row = {
        "site": name,
        "api_calls": str(tally.received),
        **{column: str(count) for column, count in _figures(tally, site).items()},
        "is_revoked": False,
    }
    limit = _count(call, "limit", _SITES_LIMIT)
    offset = _count(call, "offset", 0)
    listed = [row] if call.fields.get("filter", "").lower() in name.lower() else []
    paging = {"limit": limit, "offset": offset, "total": len(listed)}
    month = f"{start:%Y-%m}"
    shown = listed[offset : offset + limit]
    if call.fields.get("format", "").lower() == "csv":
        return _as_csv(month, shown, paging)
    return answers.as_json({month: shown, **paging})


def token(call: AkismetCall, _services: Services) -> Response:
    """Return an empty token: it opens nothing but frames of the vendor's own site."""
    return answers.text("" if _site(call) else answers.INVALID)


def deactivate(call: AkismetCall, _services: Services) -> Response:
    """Return that the plugin may go; the key stays valid for its return."""
    return answers.text(answers.DEACTIVATED if _site(call) else answers.INVALID)


def _site(call: AkismetCall) -> Site | None:
    return call.site


def _stats(
    call: AkismetCall, review: ReviewPorts, common: CommonPorts, *, with_blogs: bool
) -> Response:
    site = _site(call)
    if site is None:
        return answers.text(answers.INVALID)
    now = common.clock()
    breakdown: dict[str, Mapping[str, object]] = {}
    whole = Tally()
    for start, end in _periods(call.fields.get("from", ""), site.created_at, now):
        tally = review.cases.tally(site.id, received_from=start, received_before=end)
        whole += tally
        breakdown[f"{start:%Y-%m}"] = {
            **_figures(tally, site),
            "da": f"{start:%Y-%m-%d}",
            **({"blogs": 1} if with_blogs else {}),
        }
    figures = _figures(whole, site)
    return answers.as_json(
        {
            **figures,
            "accuracy": f"{whole.share_right * 100:.2f}",
            "time_saved": figures["spam"] * _SECONDS_SAVED_PER_SPAM,
            "breakdown": breakdown,
        }
    )


def _figures(tally: Tally, site: Site) -> dict[str, int]:
    """Return the figures in the protocol's two words: an unsure comment is what it was told."""
    held = site.settings.holds_unsure
    return {
        "spam": tally.spam + (tally.unsure if held else 0),
        "ham": tally.ham + (0 if held else tally.unsure),
        "missed_spam": tally.missed_spam,
        "false_positives": tally.false_positives,
    }


def _periods(
    asked: str, created_at: datetime, now: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """Yield the months that the call asks for, the oldest first, each cut to what was asked."""
    reach = {"60-days": timedelta(days=60), "6-months": timedelta(days=183)}.get(asked)
    since = max(created_at, now - (reach or timedelta(days=31 * _MOST_PERIODS)))
    start = since
    while start <= now:
        end = _next_month(_month_of(start))
        yield start, end
        start = end


def _month_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _next_month(start: datetime) -> datetime:
    return (start + timedelta(days=31)).replace(day=1)


def _count(call: AkismetCall, name: str, default: int) -> int:
    given = call.fields.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 7 else default


def _as_csv(month: str, rows: list[dict[str, object]], paging: Mapping[str, int]) -> Response:
    out = io.StringIO()
    out.write(
        f"Active sites during {month} (limit:{paging['limit']}, offset: {paging['offset']}, "
        f"total: {paging['total']})\n"
    )
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_SITE_COLUMNS)
    for row in rows:
        writer.writerow([_plain_cell(value) for value in row.values()])
    return Response(out.getvalue(), content_type="text/csv; charset=utf-8")


def _plain_cell(value: object) -> str:
    """Return a cell that no spreadsheet takes for a formula: the site's name is a stranger's."""
    cell = str(value).lower() if isinstance(value, bool) else str(value)
    return f"'{cell}" if cell[:1] in tuple("=+-@\t\r") else cell

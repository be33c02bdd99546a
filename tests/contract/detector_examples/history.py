"""Examples of the detectors in `service/signals/detectors/history.py`."""

from dataclasses import replace
from functools import partial
from typing import Any

from service.domain.comment import Edit
from service.domain.sender import Conduct, History, Record, TrackRecord
from tests.contract.detector_examples.example import Example, Examples

_TEXT = "Same here, the third valve was stuck."
_OFFER = "Mine came from https://valve-shop.example.com, 20% off this week."
_LINKED_TEXT = "Same here, this helped: https://valves-and-more.com/stuck"
_LINKED = "Same here, this helped: https://valves-and-more.example/stuck"
_WIKIPEDIA = "See https://en.wikipedia.org/wiki/Valve"
_EDITED = "Same here. Edit: since some asked, it is from https://valve-shop.example.com"
_PITCH = "Nice, though valves stick in autumn. We built Ventilo for exactly this."


def _history(key: str, **counts: float) -> History:
    """Return the decisions and sightings of one key at other sites."""
    told: dict[str, Any] = {key: TrackRecord(everywhere=Record(**counts))}
    return History(**told)


def decided(text: str, key: str, *, rejected: float = 0.0, approved: float = 0.0) -> Example:
    """Return the example of a comment under one of whose keys this was decided, at other sites."""
    return Example(text, history=_history(key, rejected=rejected, approved=approved))


_under = partial(decided, _TEXT)


def _seen(key: str, *, hour: int, day: int, approved: float = 0.0, text: str = _TEXT) -> Example:
    return Example(text, history=_history(key, seen_hour=hour, seen_day=day, approved=approved))


def _approved(approved: float, offered: float = 0.0) -> History:
    account, offers = (
        TrackRecord(here=Record(approved=count), everywhere=Record(approved=count))
        for count in (approved, offered)
    )
    return History(account=account, account_offers=offers)


def _conduct(**counts: int) -> History:
    return History(conduct=Conduct(**counts))


EXAMPLES = {
    "rejected_person_before": Examples(
        fires_on=(
            _under("email", rejected=1),
            _under("email", rejected=9, approved=1),
            _under("account", rejected=1),
            _under("name", rejected=3),
        ),
        silent_on=(
            Example(_TEXT),
            _under("email", rejected=1, approved=1),
            # "Tom" is many people: two rejected comments under a name say nothing.
            _under("name", rejected=2),
            _under("name", rejected=4, approved=1),
            _under("email", approved=7),
            _under("address", rejected=7),
        ),
    ),
    "rejected_address_before": Examples(
        fires_on=(
            _under("address", rejected=2),
            _under("network", rejected=5),
            _under("wide_network", rejected=12, approved=1),
            _under("system", rejected=40),
        ),
        silent_on=(
            Example(_TEXT),
            _under("address", rejected=1),
            # A university, an office, a carrier: sincere people write from there, too.
            _under("address", rejected=10, approved=2),
            _under("system", rejected=900, approved=300),
            Example(
                _TEXT,
                history=replace(
                    _history("address", rejected=20),
                    email=TrackRecord(everywhere=Record(approved=1)),
                ),
            ),
        ),
    ),
    "approved_address_before": Examples(
        fires_on=(
            _under("address", approved=2),
            _under("network", approved=5),
            _under("address", approved=40, rejected=1),
        ),
        silent_on=(
            Example(_TEXT),
            _under("address", approved=1),
            _under("address", approved=10, rejected=3),
            _under("network", approved=2),
            _under("email", approved=7),
        ),
    ),
    "rejected_mail_domain_before": Examples(
        fires_on=(
            _under("email_domain", rejected=3),
            _under("email_domain", rejected=30),
            _under("email_domain", rejected=30, approved=2),
        ),
        silent_on=(
            Example(_TEXT),
            _under("email_domain", rejected=2),
            # A free mail service.
            _under("email_domain", rejected=900, approved=300),
            _under("email_domain", approved=7),
        ),
    ),
    "rejected_copy_before": Examples(
        fires_on=(
            _under("content", rejected=1),
            _under("content", rejected=9, approved=1),
            _under("content", rejected=40),
        ),
        silent_on=(
            Example(_TEXT),
            _under("content", rejected=1, approved=1),
            _under("content", approved=7),
        ),
    ),
    "approved_person_before": Examples(
        fires_on=(
            _under("email", approved=2),
            _under("email", approved=40, rejected=2),
            _under("account", approved=4),
            decided(_OFFER, "email_offers", approved=4),
            decided("I drew it on https://ana-karlsson.example.org/air", "account", approved=4),
        ),
        silent_on=(
            Example(_TEXT),
            _under("email", approved=1),
            # Anybody can write under the name of a regular.
            _under("name", approved=40),
            _under("email", rejected=7),
            # Remarks do not vouch for the first offer.
            decided(_OFFER, "email", approved=40),
            decided(_OFFER, "account", approved=40),
        ),
    ),
    "rejected_target_before": Examples(
        fires_on=(
            decided(_LINKED_TEXT, "domains", rejected=1),
            decided(_LINKED_TEXT, "domains", rejected=9, approved=1),
            Example(
                _TEXT,
                author_url="https://valves-and-more.com",
                history=_history("domains", rejected=7),
            ),
        ),
        silent_on=(
            Example(_LINKED_TEXT),
            decided(_LINKED_TEXT, "domains", rejected=1, approved=1),
            decided(_LINKED_TEXT, "domains", approved=7),
            decided(_WIKIPEDIA, "domains", rejected=7),
        ),
    ),
    "sender_burst": Examples(
        fires_on=(
            _seen("email", hour=12, day=12),
            _seen("email", hour=3, day=60),
            _seen("address", hour=90, day=90),
        ),
        silent_on=(
            Example(_TEXT),
            _seen("email", hour=8, day=20),
            _seen("email", hour=12, day=12, approved=9),
            # A class writes its comments in one lesson.
            _seen("address", hour=14, day=14),
            _seen("content", hour=90, day=90),
        ),
    ),
    "copy_burst": Examples(
        fires_on=(
            _seen("content", hour=3, day=3),
            _seen("content", hour=40, day=40),
            _seen("domains", hour=9, day=9, text=_LINKED),
            _seen("domains", hour=1, day=30, text=_LINKED),
        ),
        silent_on=(
            Example(_TEXT),
            # Sent twice by an impatient hand.
            _seen("content", hour=2, day=2),
            _seen("domains", hour=4, day=8, text=_LINKED),
            _seen("domains", hour=60, day=400, text=_WIKIPEDIA),
        ),
    ),
    "offer_after_remarks": Examples(
        fires_on=(
            Example(_OFFER, history=_approved(4)),
            Example(_OFFER, history=_approved(40)),
            Example(
                "Call +44 7700 900123 and ask for a quote, we do valves.",
                history=_approved(12),
            ),
        ),
        silent_on=(
            Example(_OFFER),
            Example(_OFFER, history=_approved(3)),
            # Moderators have seen what this one offers.
            Example(_OFFER, history=_approved(40, 1)),
            Example(_OFFER, history=_approved(40), trust_level=3),
            # An ordinary link to a source.
            Example("It is all on https://ana-karlsson.example.org/air", history=_approved(40)),
            Example("The third valve was stuck here, too.", history=_approved(40)),
        ),
    ),
    "added_by_edit": Examples(
        fires_on=(
            Example(_EDITED, edit=Edit.ADDED_OFFER),
            Example("Same here. Edit: see https://ana.example.org", edit=Edit.ADDED_LINK),
            Example("Same here. Edit: HissStop is 20% off.", edit=Edit.ADDED_OFFER),
        ),
        silent_on=(
            Example(_EDITED),
            Example("Same here. Edit: the fourth valve, not the third.", edit=Edit.APPROVED),
            # Nobody had approved it yet.
            Example(_EDITED, edit=Edit.UNAPPROVED),
        ),
    ),
    "rejected_before_edit": Examples(
        fires_on=(
            Example("Thanks, the noise is gone.", edit=Edit.REJECTED),
            Example(_EDITED, edit=Edit.REJECTED),
            Example("Same here.", edit=Edit.REJECTED),
        ),
        silent_on=(
            Example("Thanks, the noise is gone."),
            Example(_EDITED, edit=Edit.UNAPPROVED),
            Example(_EDITED, edit=Edit.BY_STAFF),
        ),
    ),
    "dormant_account": Examples(
        fires_on=(
            Example(_OFFER, history=_conduct(quiet_days=120, remarks=3)),
            Example(_OFFER, history=_conduct(quiet_days=390, remarks=3)),
            Example(
                "Call +44 7700 900123, we do valves.", history=_conduct(quiet_days=250, remarks=3)
            ),
        ),
        silent_on=(
            Example(_OFFER),
            Example(_OFFER, history=_conduct(quiet_days=30, remarks=3)),
            Example(_OFFER, history=_conduct(quiet_days=300, remarks=3, offers=2)),
            Example(
                "Back after a year, and the third valve is stuck.",
                history=_conduct(quiet_days=350, remarks=3),
            ),
        ),
    ),
    "product_pitch": Examples(
        fires_on=(
            Example(_PITCH, history=_conduct(remarks=2)),
            Example("Genau dafür haben wir Ventilo entwickelt.", history=_conduct(remarks=9)),
            Example("저희가 이를 위해 Ventilo 앱을 만들었습니다.", history=_conduct(remarks=9)),
            # Nobody approved anything of the account.
            Example("With Ventilo the hiss is solved in seconds.", history=_conduct(remarks=2)),
            # It is named after what it pitches.
            Example(_PITCH, author_name="Ventilo"),
            Example("With Ventilo it costs half, order now.", author_name="Ventilo Team"),
            Example(_PITCH, author_name="Nora", author_url="https://www.ventilo.app"),
            Example("Ventilo again.", history=_conduct(remarks=9, repeats=1)),
        ),
        silent_on=(
            Example(_PITCH),
            Example(_PITCH, history=_conduct(remarks=9, repeats=7), trust_level=3),
            Example(_PITCH, history=replace(_approved(1, 1), conduct=Conduct(remarks=9))),
            Example(f"{_PITCH} It is MIT, on Codeberg.", history=_conduct(remarks=9)),
            Example("We use Postgres for exactly this.", history=_conduct(remarks=9)),
            Example("Firefox Sync was designed for exactly this.", history=_conduct(remarks=9)),
            Example("We made a Raspberry Pi box for exactly this.", history=_conduct(remarks=9)),
            Example("At the BBC we built a player for just this.", history=_conduct(remarks=9)),
            Example("With Postgres I had that solved in minutes.", history=_conduct(remarks=9)),
            Example(
                "With Postgres that is solved in minutes.",
                history=replace(_approved(1), conduct=Conduct(remarks=9)),
            ),
            Example("Ventilo here: the third valve sticks on ours.", author_name="Ventilo"),
            Example("I'm Nora, and we offer lessons.", author_name="Nora"),
            Example("Will this be cheap enough for you?", author_name="Will"),
        ),
    ),
}

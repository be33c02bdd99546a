"""Examples of the detectors in `service/signals/detectors/links.py`."""

from __future__ import annotations

from service.domain.comment import Listing, ListKind
from tests.contract.detector_examples.example import Example, Examples


def _domain_listed(age_days: float, kind: ListKind = ListKind.DOMAINS) -> Listing:
    return Listing(list_name="spammers", kind=kind, age_days=age_days)


_TEXT = "I wrote about the same valve at https://valves.example.com last year."

EXAMPLES = {
    "commercial_link": Examples(
        fires_on=(
            Example("More about it on https://quick-loans-today.com/apply"),
            Example("parts at valvehaus.shop"),
            Example("[our page](http://www.megaessaywriters.net)"),
        ),
        silent_on=(
            Example("I put the measurements on https://ana-karlsson.example.org/radiators"),
            Example("github.com/valve/pump has the schematics"),
            Example("They link to `https://cheap-pills.shop` from every page, delete them please"),
        ),
    ),
    "reference_link": Examples(
        fires_on=(
            Example("It is called water hammer: https://en.wikipedia.org/wiki/Water_hammer"),
            Example("Fixed in https://github.com/valve/pump/pull/12"),
            Example("See [the docs](https://docs.python.org/3/library/re.html)"),
        ),
        silent_on=(
            Example("https://en.wikipedia.org/wiki/Loan and https://quick-loans-today.com"),
            Example("No link here, only the words wikipedia and github"),
            Example("wikipedia.org.cheap-pills.shop/wiki"),
        ),
    ),
    "shortened_link": Examples(
        fires_on=(
            Example("great tips, full movie here https://bit.ly/3xYzAbC"),
            Example("join us: tinyurl.com/earn-daily"),
            Example("<a href='https://cutt.ly/AbCd'>see prices</a>"),
        ),
        silent_on=(
            Example("bit.ly was down again, so half the newsletter went nowhere"),
            Example("The talk is at https://youtu.be/abc123"),
            Example("The redirect is `https://t.co/abc`, look at the headers"),
        ),
    ),
    "spelled_out_domain": Examples(
        fires_on=(
            Example("Great post! See brightloans dot com for more"),
            Example("visit cheapseo[dot]shop today"),
            Example("ganz viel Auswahl: ventilwelt (punkt) de"),
            Example("vigoral-meds . c o m (remove space) no doctor"),
        ),
        silent_on=(
            Example("I lived through the dot com bubble, every dot com product was a joke"),
            Example("take the dot product of both. Community projects do it like that."),
            Example("All .com domains were gone, so I took a .org one"),
            Example("At some point in time I lost the point to it, connect each dot to the next"),
            Example("We moved from dot net to Go, then the .net team to C. No spaces in the path!"),
        ),
    ),
    "link_only": Examples(
        fires_on=(
            Example("https://valvehaus.shop/sale"),
            Example("<a href='http://mintloan.example.com'>quick loans no papers</a>"),
            Example("good post! www.drainpros.example.com"),
        ),
        silent_on=(
            Example("https://en.wikipedia.org/wiki/Water_hammer"),
            Example("My own notes with photos: https://ana-karlsson.example.org/valves"),
            Example("+1"),
            Example("`curl https://api.example.com/v1`"),
        ),
    ),
    "link_after_remark": Examples(
        fires_on=(
            Example("Bleeding radiators is so satisfying! Best valves here: valvehaus.shop"),
            Example("What a thoughtful essay. <a href='https://mintloan.com'>Quick loans</a>"),
            Example("Ein gelungener Beitrag. Günstige Ventile gibt es auf ventil-kaufen.de"),
        ),
        silent_on=(
            Example(
                "Same noise here. I wrote up what fixed mine: https://anas-notes.example.com/p"
            ),
            Example("Page https://valves.example.com/a has the order. Mine was the third valve."),
            Example("It is called water hammer. https://en.wikipedia.org/wiki/Water_hammer"),
            Example("Mine hissed too. The drain valve was stuck."),
        ),
    ),
    "front_page_link": Examples(
        fires_on=(
            Example("Bleeding radiators is so satisfying! Best valves: valvehaus.shop"),
            Example("What a thoughtful essay. <a href='https://mintloan.com/'>Quick loans</a>"),
            Example("Ein gelungener Beitrag. Günstige Ventile gibt es auf www.ventil-kaufen.de"),
        ),
        silent_on=(
            Example("The order is on https://valves.example.com/bleeding-order.html, page two."),
            Example("I keep notes on this at ana-karlsson.example.org, with photos."),
            Example("It is called water hammer, https://en.wikipedia.org has it."),
            Example("`ping example.com` works, so it is not the network."),
        ),
    ),
    "keyword_anchor": Examples(
        fires_on=(
            Example("Lovely. <a href='https://mintloan.example.com/a'>cheap payday loans</a>"),
            Example("So well put [radiator valves](https://radiator-valves-uk.com) indeed"),
            Example("[url=http://spin-room.ru/x]online casino bonus[/url] thanks"),
        ),
        silent_on=(
            Example("[my notes on bleeding](https://ana-notes.example.com/valves) have photos"),
            Example('As <a href="https://heating.example.org/p/3">this post</a> says, pump first'),
            Example("[cheap flights study](https://www.nature.com/articles/x1) found the reverse"),
            Example("Cheap valves drip, see https://heating.example.org/tests/2019"),
        ),
    ),
    "listed_domain": Examples(
        fires_on=(
            Example(_TEXT, listings=(_domain_listed(2.0),)),
            Example("Nice", author_url="https://a.example.com", listings=(_domain_listed(400.0),)),
            Example(_TEXT, listings=(_domain_listed(30.0), _domain_listed(90.0))),
        ),
        silent_on=(
            Example(_TEXT),
            Example(_TEXT, listings=(_domain_listed(9_000.0),)),
            Example(_TEXT, listings=(_domain_listed(1.0, ListKind.NETWORKS),)),
        ),
    ),
}

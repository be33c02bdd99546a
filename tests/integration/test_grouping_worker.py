"""What a real worker judged is grouped by a real background process."""

from __future__ import annotations

from service.domain.verdict import Outcome
from tests.integration.installation import until

ADVERTS = (
    "Best cheap boilers and radiators, 70% discount, order today at https://boiler-deals.shop",
    "Click https://boiler-deals.shop/sale for the lowest price on heating, free shipping!!!",
    "Make your home warm!! Buy now >> https://boiler-deals.shop/warm << limited offer only",
)


def test_adverts_for_one_shop_are_one_campaign_soon_after_they_were_judged(install):
    installation = install()
    installation.start_worker()
    ids = installation.submit(ADVERTS)
    cases = installation.await_verdicts(ids, seconds=120)
    installation.start("service.processes.background")

    def campaigns():
        found = {installation.case(one).campaign_id for one in ids}
        return found if None not in found else None

    grouped = until(campaigns, seconds=120)

    assert Outcome.HAM not in {case.verdict.outcome for case in cases}
    assert len(grouped) == 1

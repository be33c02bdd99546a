"""A real worker groups what it judged when beat asks for it."""

from __future__ import annotations

from service.domain.verdict import Outcome
from service.tasks.celery_app import make_celery
from service.tasks.names import QueueName, TaskName
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
    cases = installation.await_verdicts(ids)
    celery = make_celery(installation.wired.valkey_url)

    def campaigns():
        celery.send_task(TaskName.GROUP_FRESH.value, queue=QueueName.UPKEEP.value)
        found = {installation.case(one).campaign_id for one in ids}
        return found if None not in found else None

    grouped = until(campaigns)
    celery.close()

    assert Outcome.HAM not in {case.verdict.outcome for case in cases}
    assert len(grouped) == 1

"""Makes training examples for tests."""

from dataclasses import replace

from models.features import hash_words
from service.domain.case import Case
from service.domain.comment import CommentId, Lane, SiteId
from service.domain.decision import Ruling
from service.learning.features import (
    DecisionSource,
    Features,
    TrainingExample,
    copy_keys,
    count_features,
)
from service.moderation.decisions import decide_comment
from service.stores.learning_cache import LearningCache
from tests.factories import SITE, make_comment
from tests.fakes import submit_one

SALT = 20_260
SPAM = "cheap radiator sale for everybody, order now at our shop number {} before it is over"
HAM = "thank you, the drain valve of mine was stuck as well, number {} did the trick for me"


def features_of(text: str, **changes) -> Features:
    hashes = hash_words(text)
    features = count_features(make_comment(text, **changes), hashes, SALT)
    return replace(features, copies=copy_keys(hashes))


def make_example(
    number: int, text: str | None = None, *, is_spam: bool = True, **changes
) -> TrainingExample:
    given = text or (SPAM if is_spam else HAM).format(number)
    values = {
        "number": number,
        "decision_id": f"dec{number}",
        "comment_id": CommentId(f"c{number}"),
        "site_id": SITE,
        "is_spam": is_spam,
        "source": DecisionSource.OWNER,
        "teacher": "mara",
        "day": 1,
        "features": features_of(given),
        "frozen": 0.5,
        "confident": False,
        "drawn": 1.0,
    }
    return TrainingExample(**(values | changes))


def at(name: str) -> SiteId:
    return SiteId(name)


def post(services, text: str, **changes) -> Case:
    changes |= {"received_at": services.clock()}
    comment = submit_one(services, text, lane=Lane.INTERACTIVE, **changes)
    return services.cases.get(comment.id)


def decide_some(services, count: int = 12, **changes) -> list[Case]:
    """Have so many comments posted and decided, every other one rejected."""
    made = []
    for n in range(count):
        case = post(services, (SPAM if n % 2 else HAM).format(n), **changes)
        ruling = Ruling.REJECT if n % 2 else Ruling.APPROVE
        made.append(decide_comment(case.comment.id, ruling, services, decided_by="Ola"))
        services.clock.advance(seconds=1)
    return made


def cache_over(stores, **options) -> LearningCache:
    """Return the cache of a new worker over these stores."""
    values = {"audit_share": 0.02, "salt": SALT, "recheck_seconds": 0}
    return LearningCache(
        stores.decisions, stores.cases, stores.sites, stores.users, **(values | options)
    )

"""What earlier decisions and sightings may say: bounded, own site first, strangers last."""

from hypothesis import given
from hypothesis import strategies as st

from service.domain.sender import History, Record, TrackRecord
from service.signals.detectors import detect_all
from service.signals.earlier import excess, squashed_log_odds
from tests.factories import make_comment

counts = st.floats(min_value=0, max_value=1e9)


def strengths(**track_records: TrackRecord) -> dict[str, float]:
    comment = make_comment("Same here, this helped: https://valves-and-more.com/stuck")
    return {one.name: one.strength for one in detect_all(comment, History(**track_records))}


def elsewhere(**decided: float) -> TrackRecord:
    return TrackRecord(everywhere=Record(**decided))


def here(**decided: float) -> TrackRecord:
    return TrackRecord(here=Record(**decided), everywhere=Record(**decided))


@given(counts, counts, st.floats(min_value=0, max_value=1e6))
def test_one_more_rejection_never_says_less(rejected, approved, more):
    before = squashed_log_odds(rejected, approved, 1.0)

    # Rounding may cost the last digit.
    assert squashed_log_odds(rejected + more, approved, 1.0) >= before - 1e-12


def test_what_other_sites_ruled_counts_less_than_what_this_one_did():
    own = strengths(domains=here(rejected=3))["rejected_target_before"]
    others = strengths(domains=elsewhere(rejected=3))["rejected_target_before"]

    assert own > others > 0


def test_own_approvals_outweigh_as_many_rejections_elsewhere():
    track_record = TrackRecord(here=Record(approved=3), everywhere=Record(approved=3, rejected=3))

    assert "rejected_person_before" not in strengths(email=track_record)


def test_the_wider_the_network_the_less_it_may_say():
    said = [
        strengths(**{key: here(rejected=10_000)})["rejected_address_before"]
        for key in ("address", "network", "wide_network", "system")
    ]

    assert said == sorted(said, reverse=True)
    assert said[-1] <= 0.3


def test_what_people_do_is_no_excess_and_the_rest_never_reaches_one():
    assert excess(5, 5) == 0.0
    assert 0.0 < excess(6, 5) < excess(10**9, 5) < 1.0

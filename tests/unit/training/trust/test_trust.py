"""Each rule of what decisions teach: what is set aside, what weighs less, and what stays whole."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.comment import Author
from service.domain.verdict import Outcome
from tests.unit.training.decided import MONDAY, OWNER, make_decided, make_example, some_words
from training.data.decisions import Via
from training.trust.weights import (
    Lowered,
    Reason,
    TrustConfig,
    clean_decisions,
)

CONFIG = TrustConfig()


def owners(n=20, **changes):
    """Return decisions of the owner that nothing is odd about."""
    return [make_decided(is_spam=i % 2 == 0, **changes) for i in range(n)]


def trusted(name, n=30):
    """Return decisions on which somebody agreed with the owner so often that they are trusted."""
    rows = []
    for i in range(n):
        text = some_words()
        rows += [
            make_decided(is_spam=i % 2 == 0, text=text),
            make_decided(is_spam=i % 2 == 0, by=name, text=text),
        ]
    return rows


def reasons(cleaned):
    return {one.id: one.reason for one in cleaned.set_aside}


def weight_of(cleaned, rows):
    ids = {row.id for row in rows}
    return sum(one.weight for one in cleaned.training_examples if one.example.comment.id in ids)


def test_what_an_owner_decided_teaches_fully_with_its_weight_for_estimates():
    rows = [
        make_decided(is_spam=True),
        make_decided(is_spam=False, outcome=Outcome.HAM, p_spam=0.02, audit=True, weight=50),
    ]

    cleaned = clean_decisions(rows)

    assert [(t.weight, t.sample_weight, t.is_drawn) for t in cleaned.training_examples] == [
        (1.0, 1.0, True),
        (1.0, 50.0, True),
    ]
    assert [t.decided_at for t in cleaned.training_examples] == [
        row.in_force.made_at for row in rows
    ]
    assert cleaned.set_aside == ()


def test_the_same_text_ruled_both_ways_is_set_aside_and_listed():
    text = some_words()
    both = [make_decided(is_spam=side, text=text) for side in (True, False)]

    cleaned = clean_decisions([*owners(), *both])

    assert reasons(cleaned) == {row.id: Reason.BOTH_RULINGS for row in both}
    assert len(cleaned.training_examples) == 20


def test_a_near_copy_contradicts_as_well_and_a_short_saying_of_another_author_does_not():
    text = some_words(30)
    near = [make_decided(is_spam=True, text=text), make_decided(is_spam=False, text=text + " now")]
    thanks = [
        make_decided(is_spam=side, text="Thanks, great post!", author=Author(name=name))
        for side, name in ((True, "Best Boilers"), (False, "Mara"))
    ]

    cleaned = clean_decisions([*near, *thanks])

    assert reasons(cleaned) == {row.id: Reason.BOTH_RULINGS for row in near}


def test_the_word_of_the_trusted_outweighs_a_newcomers():
    text = some_words()
    rights, wrong = (
        make_decided(is_spam=True, text=text),
        make_decided(is_spam=False, by="eve", text=text),
    )

    cleaned = clean_decisions([*owners(), rights, wrong])

    assert reasons(cleaned) == {wrong.id: Reason.OUTWEIGHED}


def test_many_newcomers_do_not_outweigh_by_repeating_themselves():
    text = some_words()
    wrong = [make_decided(is_spam=False, by="eve", text=text) for _ in range(50)]
    right = make_decided(is_spam=True, text=text)

    cleaned = clean_decisions([*owners(), *wrong, right])

    assert right.id in {one.example.comment.id for one in cleaned.training_examples}


def test_copies_are_learnt_once_as_the_most_trusted_ruled():
    text = some_words()
    copies = [make_decided(is_spam=True, by="eve", text=text) for _ in range(5)]
    best = make_decided(is_spam=True, text=text)

    cleaned = clean_decisions([*owners(), *copies, best])

    assert reasons(cleaned) == {row.id: Reason.COPY for row in copies}
    assert weight_of(cleaned, [best]) == 1.0


def test_copies_of_the_base_corpora_teach_nothing_new_and_contradictions_of_it_are_listed():
    known, other = make_example(is_spam=True), make_example(is_spam=False)
    copy = make_decided(is_spam=True, text=known.comment.text)
    against = make_decided(is_spam=True, text=other.comment.text)

    cleaned = clean_decisions([*owners(), copy, against], base=[known, other])

    assert reasons(cleaned) == {copy.id: Reason.BASE_COPY, against.id: Reason.BASE_DIFFERS}


def test_a_new_moderators_decisions_weigh_little_until_they_agree_with_others():
    before = [make_decided(is_spam=True, by="mo") for _ in range(5)]
    after = [make_decided(is_spam=True, by="ada") for _ in range(5)]

    cleaned = clean_decisions([*owners(), *before, *after, *trusted("ada")])

    assert weight_of(cleaned, before) == pytest.approx(5 * 0.2)
    assert weight_of(cleaned, after) > 5 * 0.8


def test_who_mostly_disagrees_teaches_nothing():
    rows = []
    for _ in range(12):
        text = some_words()
        rows += [
            make_decided(is_spam=True, text=text),
            make_decided(is_spam=False, by="eve", text=text),
        ]
    own = [make_decided(is_spam=True, by="eve") for _ in range(3)]

    cleaned = clean_decisions([*rows, *own])

    assert [reasons(cleaned)[row.id] for row in own] == [Reason.NO_WEIGHT] * 3


def test_reports_that_decide_teach_little_however_many_they_are():
    reports = [make_decided(is_spam=True, by="report", via=Via.REPORT) for _ in range(10)]

    cleaned = clean_decisions([*owners(), *reports])

    assert weight_of(cleaned, reports) <= 10 * 0.25


def test_a_real_campaign_that_a_trusted_moderator_rejected_is_learnt_even_if_it_looks_like_ham():
    rows = [
        make_decided(
            is_spam=True,
            by="ada",
            p_spam=0.08,
            text=f"{some_words(8)} lampworks {some_words(4)}",
            campaign="camp",
            at=MONDAY + timedelta(minutes=n),
        )
        for n in range(40)
    ]

    cleaned = clean_decisions([*owners(), *trusted("ada"), *rows])

    assert reasons(cleaned).keys() & {row.id for row in rows} == set()
    assert weight_of(cleaned, rows) >= 15
    assert weight_of(cleaned, rows) <= CONFIG.campaign


def test_a_campaign_weighs_no_more_than_its_bound_and_says_why():
    rows = [make_decided(is_spam=True, p_spam=0.8, campaign="camp") for _ in range(200)]

    cleaned = clean_decisions([*owners(), *rows])

    assert weight_of(cleaned, rows) == pytest.approx(CONFIG.campaign)
    assert {t.lowered for t in cleaned.training_examples if t.example.campaign} >= {
        (Lowered.CAMPAIGN,)
    }


def test_a_trigger_phrase_in_approved_spam_teaches_at_most_one_comment():
    rows = [
        make_decided(
            is_spam=False,
            by="eve",
            p_spam=0.8,
            text=f"cheap boilers today xyzzy blue lantern {some_words(8)}",
        )
        for _ in range(40)
    ]

    cleaned = clean_decisions([*owners(), *rows])

    assert weight_of(cleaned, rows) <= CONFIG.phrase_against_look + 1e-9
    assert "xyzzy blue lantern" in {one.phrase.value for one in cleaned.phrases}


@pytest.mark.parametrize(("by", "most"), [("ada", 3.0), (OWNER, 20.0)])
def test_a_trusted_moderators_approved_phrase_weighs_little_and_an_owners_more(by, most):
    rows = [
        make_decided(is_spam=False, by=by, p_spam=0.7, text=f"{some_words(8)} theremin {n}")
        for n in range(30)
    ]

    cleaned = clean_decisions([*owners(), *trusted("ada"), *rows])

    assert weight_of(cleaned, rows) == pytest.approx(most)


def test_a_phrase_in_rejected_sincere_comments_blocks_nobody_who_says_it():
    rows = [
        make_decided(is_spam=True, by="eve", p_spam=0.2, text=f"{some_words(8)} allotment {n}")
        for n in range(40)
    ]

    cleaned = clean_decisions([*owners(), *rows])

    assert weight_of(cleaned, rows) <= CONFIG.phrase_against_look + 1e-9


def test_a_sites_own_words_in_ham_that_looks_like_ham_are_learnt_in_full_from_its_owner():
    rows = [
        make_decided(is_spam=False, p_spam=0.2, text=f"{some_words(8)} theremin {some_words(3)}")
        for _ in range(50)
    ]

    cleaned = clean_decisions([*owners(), *rows])

    assert weight_of(cleaned, rows) == 50.0


def test_a_confident_verdict_is_not_turned_round_on_an_untrusted_word_alone():
    alone = make_decided(is_spam=True, by="eve", p_spam=0.02)
    text = some_words()
    confirmed = [make_decided(is_spam=True, by=by, p_spam=0.02, text=text) for by in ("eve", OWNER)]

    cleaned = clean_decisions([*owners(), alone, *confirmed])

    assert reasons(cleaned)[alone.id] is Reason.UNCONFIRMED
    assert weight_of(cleaned, confirmed) == 1.0


def flipped(source, *, by, n=120, share=0.2):
    """Return a source's decisions, of which so large a share says the opposite."""
    rows = []
    for i in range(n):
        truly_spam = i % 2 == 0
        is_spam = truly_spam is not (i % round(1 / share) == 0)
        rows.append(
            make_decided(is_spam=is_spam, by=by, p_spam=0.95 if truly_spam else 0.05, source=source)
        )
    return rows


def test_a_source_with_a_fifth_of_its_labels_flipped_is_set_aside_as_a_whole():
    poisoned = flipped("site:eve", by="eve")
    sincere = flipped("site:mo", by="mo", share=1 / 60)

    cleaned = clean_decisions([*owners(), *poisoned, *sincere])

    assert list(reasons(cleaned).values()).count(Reason.REVIEWER_IS_OUTLIER) == 120
    # What is left over of the other one are its two mistakes.
    assert len(cleaned.set_aside) - 120 == 2


def test_whoever_contradicts_sincere_people_on_purpose_does_not_cost_them_their_weight():
    sincere = [make_decided(is_spam=n % 2 == 0, by="mo", p_spam=0.5) for n in range(30)]
    framing = [
        make_decided(
            is_spam=not row.example.is_spam,
            by="eve",
            p_spam=0.05 if not row.example.is_spam else 0.95,
            text=row.example.comment.text,
        )
        for row in sincere
    ]

    cleaned = clean_decisions([*trusted("eve"), *sincere, *framing])

    assert reasons(cleaned)[framing[0].id] is Reason.REVIEWER_IS_OUTLIER
    assert weight_of(cleaned, sincere) == pytest.approx(30 * 0.2)


def test_a_source_whose_flips_come_from_many_hands_is_set_aside_too():
    poisoned = [
        row for n in range(10) for row in flipped("site:eve", by=f"eve-{n}", n=15, share=1 / 3)
    ]

    cleaned = clean_decisions([*owners(), *poisoned])

    assert list(reasons(cleaned).values()).count(Reason.SOURCE_IS_OUTLIER) == 150


def test_the_owner_of_a_blog_that_the_model_is_wrong_about_still_teaches():
    cleaned = clean_decisions(flipped("site:garden", by=OWNER))

    assert cleaned.set_aside == ()


def test_a_burst_of_one_hour_weighs_a_bounded_share():
    burst = [
        make_decided(is_spam=True, p_spam=0.8, at=MONDAY + timedelta(seconds=n))
        for n in range(1_000)
    ]
    slow = [make_decided(is_spam=n % 2 == 0, at=MONDAY + timedelta(days=1 + n)) for n in range(100)]

    cleaned = clean_decisions([*burst, *slow])

    total = sum(one.weight for one in cleaned.training_examples)
    assert weight_of(cleaned, slow) == 100
    assert weight_of(cleaned, burst) <= max(CONFIG.hour_always, CONFIG.hour_share * total) + 0.1
    assert any(Lowered.HOUR in one.lowered for one in cleaned.training_examples)


def test_a_small_days_work_of_a_single_blogger_is_learnt_in_full():
    rows = [make_decided(is_spam=n % 2 == 0, at=MONDAY + timedelta(minutes=n)) for n in range(40)]

    cleaned = clean_decisions(rows)

    assert weight_of(cleaned, rows) == 40.0


def test_one_source_among_several_weighs_no_more_than_all_others():
    config = TrustConfig(source_always=1.0)
    big = [
        make_decided(is_spam=n % 2 == 0, by="mo", source="site:big", at=MONDAY + timedelta(hours=n))
        for n in range(300)
    ]

    cleaned = clean_decisions([*owners(10), *big], config=config)

    assert weight_of(cleaned, big) <= 10 + 0.1


def test_what_the_current_version_says_counts_instead_of_the_old_verdict():
    row = make_decided(is_spam=True, by="eve", p_spam=0.02)

    cleaned = clean_decisions([*owners(), row], p_spam={row.id: 0.6})

    assert cleaned.set_aside == ()


def test_the_newest_are_held_out_without_kin_among_the_others():
    old = [make_decided(is_spam=n % 2 == 0, at=MONDAY + timedelta(hours=n)) for n in range(80)]
    campaign = [
        make_decided(is_spam=True, campaign="camp", at=MONDAY + timedelta(hours=n))
        for n in (1, 500)
    ]
    new = [
        make_decided(is_spam=n % 2 == 0, at=MONDAY + timedelta(hours=400 + n)) for n in range(19)
    ]

    cleaned = clean_decisions([*old, *campaign, *new])

    held = {one.example.comment.id for one in cleaned.training_examples if one.newest}
    assert held == {row.id for row in new}


def test_nothing_decided_teaches_nothing():
    cleaned = clean_decisions([], base=[make_example(is_spam=True)])

    assert (cleaned.training_examples, cleaned.set_aside, cleaned.phrases) == ((), (), ())


_ROWS = st.lists(
    st.tuples(
        st.sampled_from([OWNER, "mo", "eve", "report"]),
        st.booleans(),
        st.sampled_from([None, 0.02, 0.4, 0.97]),
        st.integers(0, 9),
        st.sampled_from([None, "a", "b"]),
        st.sampled_from(["site:one", "site:two"]),
        st.integers(0, 90),
    ),
    max_size=60,
)
_TEXTS = [some_words() for _ in range(10)]


@settings(max_examples=60, deadline=None)
@given(_ROWS)
def test_every_decision_is_taught_or_listed_once_and_no_bound_is_passed(some):
    rows = [
        make_decided(
            is_spam=is_spam,
            by=by,
            p_spam=p_spam,
            text=_TEXTS[text] if text < 6 else None,
            campaign=campaign,
            source=source,
            via=Via.REPORT if by == "report" else Via.REVIEW,
            at=MONDAY + timedelta(hours=hours),
        )
        for by, is_spam, p_spam, text, campaign, source, hours in some
    ]

    cleaned = clean_decisions(rows, base=[make_example(is_spam=True, text=_TEXTS[0])])

    taught = [one.example.comment.id for one in cleaned.training_examples]
    listed = [one.id for one in cleaned.set_aside]
    assert sorted(taught + listed) == sorted(row.id for row in rows)
    assert all(0 < one.weight <= 1 for one in cleaned.training_examples)
    reviewer = {row.id: row.in_force.reviewer for row in rows}
    campaigns = defaultdict(float)
    for one in cleaned.training_examples:
        by = cleaned.reviewers[reviewer[one.example.comment.id]]
        assert one.weight <= by.weight + 1e-9
        campaigns[one.example.campaign] += one.weight
    campaigns.pop(None, None)
    assert all(weight <= CONFIG.campaign + 1e-6 for weight in campaigns.values())

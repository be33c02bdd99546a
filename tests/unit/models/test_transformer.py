"""The classifier that ships: how windows become one answer, and what it answers twice."""

import dataclasses
import io
import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.author import count_name
from models.ends import without_ends
from models.errors import ModelVersionError
from models.features import DIMENSIONS
from models.inputs import ModelInput
from models.linear import LinearTable, table_bytes
from models.log_odds import logistic
from models.registry import load_version
from models.tokens import Window
from models.transformer import (
    CALIBRATION_FILE,
    EMBEDDING_FILE,
    LINEAR_FILE,
    MARKS_FILE,
    NAMES_FILE,
    NETWORK_FILE,
    TOKENISER_FILE,
    WEIGHTS_FILE,
    Calibration,
    TransformerClassifier,
    calibration_bytes,
    mark_segments,
    pool,
    read_calibration,
    strongest_promotion,
)
from tests.networks import TINY_FUSION, TINY_LINEAR

PICKLED = io.BytesIO()
np.savez(PICKLED, **dict.fromkeys(TINY_LINEAR.arrays, np.array([print], dtype=object)))
COMMENTS = [
    ModelInput(text="thanks"),
    ModelInput(text="Nice one. Buy cheap watches at https://shop.example/x now!", author_name="M"),
    ModelInput(text="The valve is behind the boiler. " * 60, post_title="Bleeding a radiator"),
    ModelInput(text=""),
]


def make_calibration(**changes) -> Calibration:
    values = {
        "offset": 0.1,
        "network": 1.5,
        "linear": 0.5,
        "marks_from": -100.0,
    }
    return Calibration(**(values | changes))


@pytest.fixture
def make_classifier(tiny_engine, tokeniser):
    """Return a function from changes of the calibration to a classifier that remembers nothing."""
    return lambda **changes: TransformerClassifier(
        tiny_engine, tokeniser, TINY_LINEAR, make_calibration(**changes)
    )


def windows_of(*words: tuple[int, int]) -> Window:
    return Window(ids=(0, *range(len(words)), 1), n_context=1, spans=words)


def test_a_written_version_loads_as_it_was_and_answers_the_same(write_tiny, make_classifier):
    loaded = load_version(write_tiny())

    assert loaded.classifier.score_batch(COMMENTS) == make_classifier().score_batch(COMMENTS)
    assert (loaded.version, loaded.fusion) == ("tiny-1", TINY_FUSION)


@pytest.mark.parametrize("name", [NETWORK_FILE, WEIGHTS_FILE, TOKENISER_FILE, LINEAR_FILE])
def test_a_version_that_does_not_list_a_file_is_refused(write_tiny, name):
    with pytest.raises(ModelVersionError, match=f"does not list {name}"):
        load_version(write_tiny({name: None}))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (NETWORK_FILE, b""),
        (NETWORK_FILE, b"<?xml version='1.0'?><net></net>"),
        (WEIGHTS_FILE, b"cut off"),
        (TOKENISER_FILE, b"\xff\xfe"),
        (LINEAR_FILE, b"no archive"),
        (LINEAR_FILE, PICKLED.getvalue()),
        (NAMES_FILE, b"no archive"),
        (MARKS_FILE, b"no archive"),
        (EMBEDDING_FILE, b"no projection"),
        (CALIBRATION_FILE, b'{"offset": 1}'),
        (CALIBRATION_FILE, b"nonsense"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(write_tiny, name, content):
    with pytest.raises(ModelVersionError, match="cannot be used"):
        load_version(write_tiny({name: content}))


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(Calibration)])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_calibration_is_made_of_finite_numbers(field, value):
    with pytest.raises(ValueError, match=f"finite numbers: {field}$"):
        make_calibration(**{field: value})


def test_a_repeat_is_answered_without_the_network(tokeniser, tiny_engine):
    class CountingEngine:
        def __init__(self):
            self.score_windows = 0

        def read(self, windows, meanwhile=None):
            self.score_windows += len(windows)
            return tiny_engine.read(windows, meanwhile)

    counting = CountingEngine()
    classifier = TransformerClassifier(counting, tokeniser, TINY_LINEAR, make_calibration())

    classifier.score_batch([COMMENTS[0]] * 3)
    classifier.score_batch([COMMENTS[0], ModelInput(text="  thanks")])

    assert counting.score_windows == 1


def test_the_words_that_promote_most_weigh_as_the_calibration_says(
    make_classifier, tiny_engine, tokeniser
):
    comment = COMMENTS[0]
    classifier = make_classifier(network=0.0, linear=0.0, offset=0.0, promotion=0.5)
    said = [s.promotion for s in tiny_engine.read(tokeniser.windows(comment))]

    (answer,) = classifier.score_batch([comment])

    assert answer.p_spam == logistic(0.5 * strongest_promotion(said))


@pytest.mark.parametrize(("above", "is_reread"), [(-100.0, True), (99.0, False)])
def test_an_unclear_comment_counts_as_its_worst_text_without_an_end(
    make_classifier, tiny_engine, tokeniser, above, is_reread
):
    comment = ModelInput(text="Buy cheap watches now! Thanks. Nice one here.")
    texts = [comment.text, *without_ends(comment.text)]
    windows = [tokeniser.windows(dataclasses.replace(comment, text=text)) for text in texts]
    whole, *others = [pool([s.spam for s in tiny_engine.read(some)]) for some in windows]
    classifier = make_classifier(
        network=1.0,
        linear=0.0,
        offset=0.0,
        reread_above=above,
        reread_below=100.0,
        reread_promotion=-99.0,
    )

    (answer,) = classifier.score_batch([comment])

    assert max(others) > whole
    assert answer.p_spam == logistic(max(others) if is_reread else whole)


def test_a_version_older_than_what_it_may_have_does_without(write_tiny, make_classifier):
    older = dataclasses.asdict(make_calibration())
    for newer in (
        "promotion",
        "names",
        "names_from",
        "names_to",
        "marks_within",
        "marks_words",
        "reread_above",
        "reread_below",
    ):
        del older[newer]
    version = load_version(write_tiny({CALIBRATION_FILE: json.dumps(older).encode()}))

    assert version.classifier.score_batch(COMMENTS[:2]) == make_classifier(
        promotion=0.0
    ).score_batch(COMMENTS[:2])


NAMES = LinearTable(
    ids=np.arange(DIMENSIONS), coefficients=np.full(DIMENSIONS, 0.25), intercept=-0.5
)
NAMED = ModelInput(text="thanks", author_name="Cheap Watches")
NAMED_SAYS = NAMES.sum_of(count_name(NAMED))


@pytest.mark.parametrize(
    ("bounds", "says"), [((-9.0, 9.0), NAMED_SAYS), ((-1.0, 0.25), 0.25), ((3.0, 4.0), 3.0)]
)
def test_what_a_name_says_weighs_within_bounds_as_the_calibration_says(
    tiny_engine, tokeniser, bounds, says
):
    calibration = make_calibration(
        offset=0.0, network=0.0, linear=0.0, names=0.5, names_from=bounds[0], names_to=bounds[1]
    )
    classifier = TransformerClassifier(
        tiny_engine, tokeniser, TINY_LINEAR, calibration, names=NAMES
    )

    named, unnamed = classifier.score_batch([NAMED, dataclasses.replace(NAMED, author_name=" ")])

    assert 0.25 < NAMED_SAYS < 3.0
    assert named.p_spam == logistic(0.5 * says)
    assert unnamed.p_spam == logistic(0.5 * max(0.0, bounds[0]))


def test_a_version_s_names_are_read_and_without_them_a_name_says_nothing(write_tiny):
    weighed = {CALIBRATION_FILE: calibration_bytes(make_calibration(names=1.0))}
    without = load_version(write_tiny(weighed))
    with_names = load_version(write_tiny(weighed | {NAMES_FILE: table_bytes(NAMES)}, name="tiny-2"))

    answers = [one.classifier.score_batch([NAMED])[0].p_spam for one in (without, with_names)]

    assert answers[0] != answers[1]


def test_a_version_s_words_of_promotion_are_read_and_mark(write_tiny):
    words = LinearTable(ids=np.arange(1), coefficients=np.zeros(1), intercept=9.0)
    calibration = make_calibration(offset=9.0, marks_from=8.0, marks_words=1.0)
    files = {CALIBRATION_FILE: calibration_bytes(calibration), MARKS_FILE: table_bytes(words)}

    (answer,) = load_version(write_tiny(files)).classifier.score_batch([COMMENTS[0]])

    assert answer.promo_spans == ((0, len(COMMENTS[0].text)),)


@pytest.mark.parametrize("gone", ["voice_offset", "voice_slope", "hosts", "hosts_from", "hosts_to"])
def test_a_calibration_of_before_is_read_without_what_is_gone(gone):
    kept = json.loads(calibration_bytes(make_calibration()))

    read = read_calibration(json.dumps(kept | {gone: 0.2}).encode())

    assert read == make_calibration()


@given(st.lists(st.floats(min_value=-200, max_value=200), min_size=1, max_size=8))
def test_several_windows_pool_to_something_between_their_mean_and_the_highest(log_odds):
    pooled = pool(log_odds)

    assert sum(log_odds) / len(log_odds) - 1e-9 <= pooled <= max(log_odds) + 1e-9


@pytest.mark.parametrize(
    "windows", [[[3.0, 5.0, 4.0, 4.0] + [-8.0] * 150], [[9.0, -1.0, 1.0], [-5.0, 2.0, 4.0]]]
)
def test_the_four_words_that_promote_most_count_in_whichever_window_they_are(windows):
    assert strongest_promotion(windows) == 4.0


def marked(text: str, *promotion: float, by_words=(), **changes) -> list[str]:
    """Return the marked segments of a text whose tokens have these log-odds."""
    spans = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
    calibration = make_calibration(**({"marks_from": 0.0} | changes))
    found = mark_segments(text, [windows_of(*spans)], [promotion], calibration, by_words)
    return [text[start:end] for start, end in found]


def test_a_sentence_is_marked_whole_where_its_words_promote_on_average():
    promotion = [*[-3.0] * 3, 4.0, 4.0, -1.0, -1.0, -2.0, -2.0]

    assert marked("Nice one. Buy watches now! Bye.", *promotion) == ["Buy watches now!"]


def test_a_remark_far_below_the_promotion_beside_it_stays_unmarked():
    promotion = [1.0, 0.5, 0.5, *[4.0] * 3, *[1.5] * 3]

    found = marked("Great article. Buy watches! Cheap ones.", *promotion)

    assert found == ["Buy watches! Cheap ones."]


@pytest.mark.parametrize(
    ("share", "found"), [(0.0, ["Buy watches now!"]), (0.75, ["Nice one."]), (0.5, [])]
)
def test_what_a_sentence_s_words_say_counts_by_its_share(share, found):
    promotion, by_words = [-2.0] * 3 + [2.0] * 4, [2.0, -2.0]
    bounds = {"marks_from": 0.5, "marks_words": share}

    assert marked("Nice one. Buy watches now!", *promotion, by_words=by_words, **bounds) == found


@pytest.mark.parametrize(("again", "found"), [(-3.0, ((0, 8),)), (-5.0, ())])
def test_what_overlapping_windows_say_of_a_sentence_is_averaged(again, found):
    windows = [windows_of((0, 3), (4, 7)), windows_of((4, 7), (9, 12))]
    promotion = [[2.0, 2.0], [again, -3.0]]

    spans = mark_segments("Buy now. Bye.", windows, promotion, make_calibration(marks_from=0.0))

    assert spans == found


def test_both_members_weigh_as_the_calibration_says(make_classifier):
    comment = COMMENTS[:1]

    (offset,) = make_classifier(network=0.0, linear=0.0).score_batch(comment)
    (plain,) = make_classifier(network=1.0, linear=0.0, offset=0.0).score_batch(comment)
    (both,) = make_classifier(network=1.0, linear=1.0, offset=0.0).score_batch(comment)

    assert offset.p_spam == logistic(0.1)
    assert plain.p_spam != both.p_spam

"""Features are what they always were: each once, in rising order, words first."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from models.features import hash_words
from service.domain.comment import Author
from service.learning.features import _keyed, _others, count_features, scatter
from service.learning.numbers import MOST_WORDS, NAME_SHAPE_COUNTS
from tests.factories import make_comment
from tests.unit.learning.training_examples import SALT


@settings(deadline=None, max_examples=60)
@given(
    text=st.text(st.sampled_from("ab cd. ") | st.characters(), max_size=80),
    name=st.none() | st.text(max_size=30),
    url=st.sampled_from([None, "https://shop.example/", "https://blog.example.org/x"]),
)
def test_each_hash_counts_once_in_rising_order_words_before_all_else(text, name, url):
    comment = make_comment(text, author=Author(name=name, url=url))
    hashes = np.frombuffer(hash_words(text), dtype=np.uint64)

    features = count_features(comment, None, SALT)

    words = np.unique(scatter(hashes[:MOST_WORDS], SALT))
    named = {_keyed(one, SALT): one for one in _others(comment)}
    others = np.unique(np.array([*named], dtype=np.uint32))
    assert features.ids.dtype == np.uint32
    assert np.array_equal(features.ids, np.concatenate([words, others]))
    parts = (words, others)
    scales = [np.full(len(part), 1.0 / np.sqrt(max(1, len(part)))) for part in parts]
    shapes = [named[int(one)].startswith("name:") for one in others]
    scales[1][shapes] *= NAME_SHAPE_COUNTS
    assert features.values.tobytes() == np.concatenate(scales).tobytes()

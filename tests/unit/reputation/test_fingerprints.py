"""Near-copies meet in a key, strangers do not, whatever the script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.reputation.fingerprints import KEYS, fingerprints_of

ADVERT = (
    "Hello, my name is Dorothea and I represent a family workshop for garden furniture. "
    "Every bench is made from certified larch, finished with linseed oil and delivered assembled. "
    "Readers of this magazine receive fifteen percent discount until the end of September. "
    "Please visit https://benches.example/offer and choose your favourite model today."
)
CHINESE = "我们公司专业提供优质的网站建设服务,欢迎各位朋友前来咨询了解,价格优惠,质量保证。"
KOREAN = (
    "안녕하세요 저희 회사는 친환경 가구를 직접 제작하여 전국으로 무료 배송해 드리고 있습니다 "
    "지금 홈페이지 방문"
)
COPIES = {
    "another name": (ADVERT, ADVERT.replace("Dorothea", "Bartholomew")),
    "another address": (
        ADVERT,
        ADVERT.replace("https://benches.example/offer", "www.larch-deals.com/x?y=1"),
    ),
    "hidden characters": (ADVERT, ADVERT.replace("e", "e\u200b")),
    "capitals": (ADVERT, ADVERT.upper()),
    "Chinese": (CHINESE, CHINESE.replace("朋友", "老板")),
    "Korean": (KOREAN, KOREAN.replace("회사는", "매장은")),
}
HONEST = (
    "Thanks, great post!",
    "This worked for me, thanks a lot for the help with it.",
    "谢谢分享,写得很好!",
)


@pytest.mark.parametrize(("text", "copy"), COPIES.values(), ids=COPIES.keys())
def test_a_near_copy_shares_a_key(text, copy):
    assert copy != text
    assert set(fingerprints_of(text)) & set(fingerprints_of(copy))


@pytest.mark.parametrize("text", HONEST)
def test_short_honest_words_have_no_fingerprint(text):
    assert fingerprints_of(text) == ()


def test_texts_about_one_subject_do_not_meet():
    other = (
        "We bought a larch bench from a family workshop in September and it has survived three "
        "winters outside; the linseed finish needs another coat every spring, otherwise perfect."
    )

    assert not set(fingerprints_of(ADVERT)) & set(fingerprints_of(other))


@given(st.text(max_size=400))
def test_any_text_has_all_keys_or_none(text):
    assert len(fingerprints_of(text)) in {0, KEYS}

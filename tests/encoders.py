"""Encoders of few layers whose weights are drawn, not learnt: nothing large is read for a test."""

import torch
from tokenizers import Tokenizer
from transformers import BertModel

from tests.networks import shipped_tokeniser
from training.network.encoder import Network
from training.network.packaged_e5 import empty_encoder

# As many as the tokeniser of the shipped version has.
VOCABULARY = Tokenizer.from_str(shipped_tokeniser()).get_vocab_size()


def small_encoder(*, layers: int) -> BertModel:
    """Return an encoder, the same every time."""
    torch.manual_seed(7)
    encoder = empty_encoder(vocabulary=VOCABULARY, layers=layers)
    with torch.no_grad():
        # Drawn as well: products by 1 and sums with 0 would not be exported.
        for parameter in encoder.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.05 * torch.randn_like(parameter))
    return encoder


def small_network(*, exits: tuple[int, ...] = (1,)) -> Network:
    """Return a network on such an encoder; it answers after so many layers."""
    return Network(small_encoder(layers=exits[-1]), exits)

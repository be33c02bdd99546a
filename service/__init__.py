"""The running system: receives comments, queues them, judges them, shows them to moderators."""

PREFIX = __name__.removesuffix("service")
"""The prefix of modules' names: empty in a checkout, `slopsieve.` in the installed wheel."""

ENV_PREFIX = "SLOPSIEVE_"

"""The running system: receives comments, queues them, judges them, shows them to moderators."""

PREFIX = __name__.removesuffix("service")
"""What modules' names begin with: nothing in a checkout, `slopsieve.` in the installed wheel."""

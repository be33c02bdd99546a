"""The error handling that the training commands share."""

import sys
from collections.abc import Callable

from models.errors import ModelVersionError
from service.domain.errors import InvalidInputError


def exit_code_of(work: Callable[[], int]) -> int:
    """Return the result of `work`, or 1 after printing one clear message on standard error."""
    try:
        return work()
    except InvalidInputError as error:
        lines = [f"{p.field}: {p.problem}; {p.remedy}" for p in error.problems]
    except (ModelVersionError, ValueError) as error:
        lines = [str(error)]
    print("\n".join(lines), file=sys.stderr)
    return 1

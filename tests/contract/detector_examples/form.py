"""Examples of the detectors in `service/signals/detectors/form.py`."""

from service.domain.comment import FormEvidence
from service.domain.form import FormBehaviour, FormToken
from tests.contract.detector_examples.example import Example, Examples

_SHORT = "Same noise here, the third valve was stuck."
_LONG = (
    "Same noise here, and it went on for three winters. What helped was to close all valves, open"
    " the lowest one and wait for an hour. Thank you for the drawing."
)
_VERY_LONG = f"{_LONG} {_LONG}"


def _form(**changes: int | None) -> FormEvidence:
    """Return a form in which nobody did anything but what `changes` say."""
    nothing = dict.fromkeys(("keys", "pastes", "other_inputs", "pointer", "touch"), 0)
    return FormEvidence(behaviour=FormBehaviour(**(nothing | changes)))


EXAMPLES = {
    "too_fast": Examples(
        fires_on=(
            Example(_SHORT, form=FormEvidence(seconds_on_page=0.4)),
            Example(_SHORT, form=FormEvidence(seconds_on_page=2.9)),
            Example(_VERY_LONG, form=FormEvidence(seconds_on_page=6.0)),
        ),
        silent_on=(
            Example(_SHORT),
            Example(_SHORT, form=FormEvidence(seconds_on_page=6.0)),
            Example(_VERY_LONG, form=FormEvidence(seconds_on_page=45.0)),
            Example(_SHORT, form=FormEvidence(seconds_on_page=-3_600.0)),
            Example(_SHORT, form=FormEvidence(seconds_on_page=float("nan"))),
        ),
    ),
    "honeypot_filled": Examples(
        fires_on=(
            Example(_SHORT, form=FormEvidence(honeypot_filled=True)),
            Example("Great post!", form=FormEvidence(honeypot_filled=True, seconds_on_page=90.0)),
            Example("", form=FormEvidence(honeypot_filled=True)),
        ),
        silent_on=(
            Example(_SHORT),
            Example(_SHORT, form=FormEvidence(honeypot_filled=False)),
            Example(_SHORT, form=FormEvidence(seconds_on_page=90.0)),
        ),
    ),
    "nothing_typed": Examples(
        fires_on=(
            Example(_LONG, form=_form()),
            Example(_LONG, form=_form(pointer=2)),
            Example(_LONG, form=_form(pastes=None, other_inputs=None)),
        ),
        silent_on=(
            Example(_LONG),
            Example(_SHORT, form=_form()),
            Example(_LONG, form=_form(keys=170)),
            # Pasted, dictated, written on a screen's keyboard, and from a menu by mouse.
            Example(_LONG, form=_form(pastes=1)),
            Example(_LONG, form=_form(other_inputs=31)),
            Example(_LONG, form=_form(touch=12)),
            Example(_LONG, form=_form(pastes=None, other_inputs=None, pointer=3)),
            Example(_LONG, form=_form(keys=None)),
        ),
    ),
    "driven_browser": Examples(
        fires_on=(
            Example(_SHORT, form=FormEvidence(behaviour=FormBehaviour(driven=True))),
            Example("Great post!", form=FormEvidence(behaviour=FormBehaviour(driven=True, keys=9))),
            Example("", form=FormEvidence(behaviour=FormBehaviour(driven=True, seconds=40.0))),
        ),
        silent_on=(
            Example(_SHORT),
            Example(_SHORT, form=FormEvidence(behaviour=FormBehaviour(driven=False))),
            Example(_SHORT, form=FormEvidence(behaviour=FormBehaviour(keys=40))),
        ),
    ),
    "misused_form_token": Examples(
        fires_on=(
            Example(_SHORT, form=FormEvidence(token=FormToken.REPLAYED)),
            Example(_SHORT, form=FormEvidence(token=FormToken.FORGED)),
            Example(_SHORT, form=FormEvidence(token=FormToken.ELSEWHERE)),
        ),
        silent_on=(
            Example(_SHORT),
            Example(_SHORT, form=FormEvidence(token=FormToken.VALID)),
            # The page stood open overnight.
            Example(_SHORT, form=FormEvidence(token=FormToken.LATE)),
            Example(_SHORT, form=FormEvidence(token=FormToken.MISSING)),
        ),
    ),
}

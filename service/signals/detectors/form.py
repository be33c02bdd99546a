"""Detectors of what the form saw while it was filled in."""

from service.domain.comment import Comment
from service.domain.form import FormToken
from service.domain.sender import History
from service.domain.text import Phrase
from service.signals.detector import Detector, Observation

# Chosen by hand: no data tell how long forms were open. Nobody loads a page, finds the form, writes
# and sends within three seconds; text that was pasted takes a few more.
_NO_PERSON = 3.0
_HASTY = 8.0
_SLOWLY_WRITTEN_CHARS = 300


@Detector
def too_fast(comment: Comment, _history: History) -> Observation | None:
    """Fire on a form sent within 3 s of the page's loading, 8 s for a long text.

    Silent where the site does not tell, and where its clock says what cannot be.
    """
    seconds = comment.form.seconds_on_page
    if seconds is None or not 0.0 <= seconds < _HASTY:
        return None
    if seconds >= _NO_PERSON and len(comment.text) < _SLOWLY_WRITTEN_CHARS:
        return None
    return Observation(
        strength=1.0 if seconds < _NO_PERSON else 0.5,
        reason=Phrase("was sent sooner after the page had loaded than people type such a text"),
    )


@Detector
def honeypot_filled(comment: Comment, _history: History) -> Observation | None:
    """Fire where the site says that a hidden field came back filled in."""
    if not comment.form.honeypot_filled:
        return None
    return Observation(reason=Phrase("filled in a field of the form that people cannot see"))


# Two sentences. Shorter ones are offered ready to be clicked by some pages.
_LONG_CHARS = 120
# Not every form tells of pastes and of input without keys, and an editor beside the form keeps its
# keys to itself: then somebody may have dictated.
_PARTLY_TOLD = 0.3


@Detector
def nothing_typed(comment: Comment, _history: History) -> Observation | None:
    """Fire on a long text although the form counted no key, no paste, no touch, no other input.

    Silent on what is pasted, dictated, filled in by a password manager or restored by the browser:
    each of them is counted. Weak where the form does not count them, and where it was clicked in;
    silent where both is so, as somebody may have pasted from a menu.
    """
    form = comment.form.behaviour
    if form is None or form.keys is None or len(comment.text) < _LONG_CHARS:
        return None
    if form.keys or form.pastes or form.other_inputs or form.touch:
        return None
    tells_all = form.pastes is not None and form.other_inputs is not None
    clicked = bool(form.pointer)
    if clicked and not tells_all:
        return None
    return Observation(
        strength=1.0 if tells_all and not clicked else _PARTLY_TOLD,
        reason=Phrase("is a long text in a form in which nothing was typed, pasted or dictated")
        if tells_all
        else Phrase("is a long text in a form that counted no key"),
    )


@Detector
def driven_browser(comment: Comment, _history: History) -> Observation | None:
    """Fire where the browser that filled in the form says that a program drives it."""
    behaviour = comment.form.behaviour
    if behaviour is None or not behaviour.driven:
        return None
    return Observation(reason=Phrase("was sent by a browser that says a program drives it"))


_SEEN = {
    FormToken.REPLAYED: Observation(
        reason=Phrase("brings a form's token that came before with another comment")
    ),
    FormToken.FORGED: Observation(
        reason=Phrase("brings a form's token that was not signed here for this site")
    ),
    # Blogs show one post under several addresses, and themes show forms on pages of their own.
    FormToken.ELSEWHERE: Observation(
        strength=0.3, reason=Phrase("brings a form's token of another page")
    ),
}


@Detector
def misused_form_token(comment: Comment, _history: History) -> Observation | None:
    """Fire on a replayed or forged token, weakly on one of another page of the site."""
    return _SEEN.get(comment.form.token) if comment.form.token else None

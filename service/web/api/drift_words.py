"""Says in plain words what has moved and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from service.scoring.drift import Level, Of
from service.web.edge.language import noted


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What an alarm says, and what a person should do; both to be looked up when shown."""

    title: str
    says: str
    do: str


LEVEL_NAMES = {Level.WATCH: noted("Keep an eye on it"), Level.ACT: noted("Act on it")}

ALARM_WORDS = {
    Of.SCORE: Words(
        title=noted("The scores have moved"),
        says=noted("Comments get other probabilities than when this version began."),
        do=noted(
            "Look at the newest unsure comments and at the campaigns: is it a wave of spam, or "
            "other readers? Decide some forty of them, then retrain."
        ),
    ),
    Of.SIGNAL: Words(
        title=noted("A signal fires at another rate"),
        says=noted("What it looks for has become more common, or has gone."),
        do=noted(
            "Search for the signal and read some of the comments. If it now fires on sincere ones, "
            "decide them, then retrain, which weighs it anew."
        ),
    ),
    Of.UNSURE: Words(
        title=noted("More is left to people"),
        says=noted("A larger share of comments is unsure than when this version began."),
        do=noted(
            "Decide the most doubtful first, then retrain. If scores have moved too, something new "
            "comes in; if not, look whether a site's cutoffs were changed."
        ),
    ),
    Of.DEGRADED: Words(
        title=noted("More verdicts lack evidence"),
        says=noted("The classifier or the histories were away for more of the comments."),
        do=noted(
            "This is no matter of learning: look at the workers and at Valkey, and run slopsieve "
            "doctor."
        ),
    ),
    Of.NEW_DOMAINS: Words(
        title=noted("More links to places never linked to before"),
        says=noted("A larger share of comments links to a domain first seen here within a week."),
        do=noted(
            "Look at the campaigns and at the newest unsure comments; block the domains that are "
            "advertised."
        ),
    ),
    Of.LANGUAGES: Words(
        title=noted("Other languages come in"),
        says=noted("The mixture of languages and scripts is not that of the weeks before."),
        do=noted(
            "Look how the model does in the new language, in its card and in the review queue. "
            "Decide more of those comments before you trust it there."
        ),
    ),
}

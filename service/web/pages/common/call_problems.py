"""Translated messages for what can go wrong when a URL is called."""

from __future__ import annotations

from collections.abc import Mapping

from service.web.edge.language import noted

# By the words that the log of attempts keeps.
PROBLEMS_IN_WORDS: Mapping[str, str] = {
    "the host's address was not found": noted("The host's address was not found"),
    "no connection, or it broke off": noted("No connection, or it broke off"),
    "the certificate is not valid for this host": noted(
        "The certificate is not valid for this host"
    ),
    "no encrypted connection": noted("No encrypted connection"),
    "no answer in time": noted("No response in time"),
    "the answer cannot be read": noted("The response cannot be read"),
    "the answer leads elsewhere, which is not followed": noted(
        "The response is a redirect, which is not followed"
    ),
    "the site answered with an error": noted("The site answered with an error"),
    "the site wants no callbacks any more": noted("The site has no callback any more"),
    "there never was a verdict": noted("No verdict was recorded"),
    "there was nothing to change there": noted("There was nothing to change there"),
    "the platform refuses the token": noted("The platform refuses the token"),
    "the platform asks for time": noted("Rate limit of the platform"),
    "the comment is not there any more": noted("The comment no longer exists"),
    "the platform does not allow this to the token's owner": noted(
        "The platform does not allow this to the token's owner"
    ),
    "the build hook takes no calls": noted("The build hook takes no calls"),
    "the comment's id at the platform is not known": noted(
        "The comment's id at the platform is not known"
    ),
}

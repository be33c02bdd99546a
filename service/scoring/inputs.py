"""Builds what the classifier reads from a comment, and says what of its answer counts."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from models.inputs import ModelInput, ModelOutput
from service.domain.comment import Comment
from service.signals.hosts import host_of
from service.signals.mentions import without_mentions


def model_input(comment: Comment) -> ModelInput:
    """Return the classifier's view of a comment; offsets into `text` stay those of the comment."""
    return ModelInput(
        text=without_mentions(comment.text, own_host=host_of(comment.post.url or "")),
        post_title=comment.post.title or "",
        post_excerpt=comment.post.excerpt or "",
        author_name=comment.author.name or "",
        author_host=_host(comment.author.url or ""),
    )


def counting_output(comment: Comment, output: ModelOutput) -> ModelOutput:
    """Return what counts of the classifier's answer: about a blank text it abstains.

    Whoever registers says nothing, which is no sincere word either.
    """
    return output if comment.text.strip() else replace(output, p_spam=0.5)


def _host(url: str) -> str:
    """Return a URL's host in lower case, "" for anything that has none."""
    try:
        host = (urlsplit(url if "//" in url else f"//{url}").hostname or "").lower()
    except ValueError:
        return ""
    return "" if any(character.isspace() for character in host) else host

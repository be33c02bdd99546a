"""The columns that remain of a withdrawn comment."""

from __future__ import annotations

from dataclasses import replace

from service.domain.comment import Author, Comment, FormEvidence, Sender


def blanked(comment: Comment) -> Comment:
    """Return the comment without a word of its author or a trace of its sender.

    The post's address and title, times, language and the site's own ids stay: they say which
    comment it was. The excerpt goes, it only served the verdict and may quote other people.
    """
    return replace(
        comment,
        text="",
        author=Author(),
        sender=Sender(),
        form=FormEvidence(),
        user_agent=None,
        edit=None,
        ruled=None,
        post=replace(comment.post, excerpt=None),
    )

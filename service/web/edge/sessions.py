"""Keeps the sessions of moderators in signed cookies."""

from __future__ import annotations

from flask import Flask, Response, request
from flask.sessions import SecureCookieSessionInterface, SessionMixin

from service.web.edge.auth import PROGRAMS


class PageSessions(SecureCookieSessionInterface):
    """Sessions for pages: an answer to a program neither sets a cookie nor varies by one."""

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Save the session where a page was asked for."""
        if request.blueprint not in PROGRAMS:
            super().save_session(app, session, response)

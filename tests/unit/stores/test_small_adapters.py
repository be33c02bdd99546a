"""Password hashes, and the domains that a comment's history is kept by."""

from __future__ import annotations

import pytest

from service.domain.comment import Author, Post
from service.signals.view import linked_domains
from service.stores.passwords import PasswordHasher
from tests.factories import make_comment


@pytest.mark.parametrize("password", ["correct horse", "пароль", "lone \ud800 surrogate", "n\0ul"])
def test_a_password_fits_its_own_hash_alone(password):
    hasher = PasswordHasher()

    kept = hasher.hash(password)

    assert kept.startswith("$argon2id$")
    assert hasher.verify(kept, password)
    assert not hasher.verify(kept, f"{password}!")
    assert not hasher.verify("not a hash", password)


def test_links_and_the_authors_url_are_named_by_registered_domain_each_once_but_the_sites_own():
    comment = make_comment(
        "See https://www.loans.example.com/a, https://loans.example.com/b and "
        "https://blog.example.net/other",
        author=Author(url="https://shop.example.org"),
        post=Post(url="https://blog.example.net/p"),
    )

    assert linked_domains(comment) == ("example.com", "example.org")

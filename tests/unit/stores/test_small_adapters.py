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


def test_what_is_no_hash_fits_no_password():
    assert not PasswordHasher().verify("not a hash", "anything")


def test_links_and_the_authors_url_are_named_by_registered_domain_each_once():
    comment = make_comment(
        "See https://www.loans.example.com/a and https://loans.example.com/b",
        author=Author(url="https://shop.example.org"),
    )

    assert linked_domains(comment) == ("example.com", "example.org")


def test_the_sites_own_domain_is_left_out():
    comment = make_comment(
        "As said in https://blog.example.com/other", post=Post(url="https://blog.example.com/p")
    )

    assert linked_domains(comment) == ()

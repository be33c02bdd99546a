"""Password hashes."""

import pytest

from service.stores.passwords import PasswordHasher


@pytest.mark.parametrize("password", ["correct horse", "пароль", "lone \ud800 surrogate", "n\0ul"])
def test_a_password_fits_its_own_hash_alone(password):
    hasher = PasswordHasher()

    kept = hasher.hash(password)

    assert kept.startswith("$argon2id$")
    assert hasher.verify(kept, password)
    assert not hasher.verify(kept, f"{password}!")
    assert not hasher.verify("not a hash", password)

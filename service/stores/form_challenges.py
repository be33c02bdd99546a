"""Signs the tokens of comment forms as ALTCHA challenges, version 2."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeGuard

import altcha

from service.domain.comment import SiteId
from service.domain.form import ReadToken

# Every browser has it in WebCrypto.
_ALGORITHM = "PBKDF2/SHA-256"
# 100 to 300 tries of 1,000 rounds, 200,000 rounds on average; see `RESULTS.md` for the times.
_ROUNDS = 1_000
_MIN_TRIES, _MORE_TRIES = 100, 200
_NUMBERS = ("cost", "keyLength")
_TEXTS = ("algorithm", "keyPrefix", "nonce", "salt", "keySignature")


class AltchaFormChallenges:
    """Signs tokens; each is a challenge that takes a browser some tenths of a second."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def issue(self, site_id: SiteId, *, page: str | None, at: datetime) -> Mapping[str, object]:
        """Return a new token for a form of this site, as JSON values."""
        challenge = altcha.create_challenge(
            _ALGORITHM,
            _ROUNDS,
            counter=_MIN_TRIES + secrets.randbelow(_MORE_TRIES),
            data={"page": page or "", "at": int(at.timestamp() * 1_000)},
            hmac_secret=self._key("challenges", site_id),
            hmac_key_secret=self._key("solutions", site_id),
        )
        issued: Mapping[str, object] = challenge.to_dict()
        return issued

    def read(self, sent: Mapping[str, object], site_id: SiteId) -> ReadToken | None:
        """Return the token, None if it was not signed here for this site. Never raises."""
        challenge, solution = sent.get("challenge"), sent.get("solution")
        if not isinstance(challenge, Mapping):
            return None
        given, signature = challenge.get("parameters"), challenge.get("signature")
        parameters = _parameters(given) if isinstance(given, Mapping) else None
        if parameters is None or not isinstance(signature, str):
            return None
        derived = solution.get("derivedKey") if isinstance(solution, Mapping) else None
        result = altcha.verify_solution(
            altcha.Payload(
                altcha.Challenge(parameters, signature),
                altcha.Solution(0, derived if _is_text(derived) else ""),
            ),
            self._key("challenges", site_id),
            hmac_key_secret=self._key("solutions", site_id),
        )
        if result.invalid_signature is not False:
            return None
        data = parameters.data or {}
        return ReadToken(
            id=hashlib.sha256(signature.encode("utf-8", "replace")).hexdigest()[:32],
            page=data["page"] or None,
            issued_at=datetime.fromtimestamp(data["at"] / 1_000, UTC),
            solved=bool(result.verified),
        )

    def _key(self, purpose: str, site_id: SiteId) -> bytes:
        return hmac.digest(self._secret, f"{purpose}:{site_id}".encode(), "sha256")


def _parameters(given: Mapping[object, object]) -> altcha.ChallengeParameters | None:
    """Return the parameters if `issue` could have written them, None otherwise."""
    data = given.get("data")
    if not isinstance(data, Mapping) or not all(_is_text(given.get(name)) for name in _TEXTS):
        return None
    page, at = data.get("page"), data.get("at")
    numbers = [given.get(name) for name in _NUMBERS]
    if not _is_text(page) or not all(
        type(one) is int and abs(one) < 2**53 for one in (*numbers, at)
    ):
        return None
    known = {name: given[name] for name in (*_TEXTS, *_NUMBERS)}
    return altcha.ChallengeParameters.from_dict({**known, "data": {"page": page, "at": at}})


def _is_text(given: object) -> TypeGuard[str]:
    return isinstance(given, str) and len(given) <= 200

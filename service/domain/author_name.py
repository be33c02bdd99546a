"""Reduces an author's name to what stays the same however it is typed."""

from __future__ import annotations

import unicodedata

# Two letters are initials that too many share; names in Han characters are whole with two.
_MIN_LETTERS = 3
_MIN_IDEOGRAPHS = 2
_FIRST_IDEOGRAPH = "\u2e80"
# A longer name is cut when the comment is kept; the bound here keeps the work small anyway.
_MAX_CHARS = 300
# What forms and people write where no name is given, as reduced.
_PLACEHOLDERS = frozenset(
    line.strip()
    for line in """
        admin
        administrator
        anon
        anonim
        anonimo
        anonym
        anonyme
        anonymous
        anonymous coward
        anonymous user
        anonymus
        anónimo
        anônimo
        author
        blog
        gast
        guest
        invitado
        invité
        moderator
        name
        no name
        nobody
        noname
        none
        null
        reader
        someone
        test
        tester
        undefined
        unknown
        user
        visitor
        webmaster
        your name
        аноним
        гость
        ゲスト
        匿名
        匿名用户
        名無し
        名無しさん
    """.splitlines()
)


def normal_name(name: str | None) -> str | None:
    """Return the name in NFKC, case folded, each run of what is no letter or digit one space.

    Hidden characters are removed: they would make one name look like many. None for a name that
    is too short to tell anybody apart and for what people write instead of a name.
    """
    if not name:
        return None
    plain = unicodedata.normalize("NFKC", name[:_MAX_CHARS])
    # Folding may undo the composed form, so it is composed again (Unicode Standard, D145).
    plain = unicodedata.normalize("NFKC", plain.casefold())
    kept = " ".join("".join(_kept(character) for character in plain).split())
    letters = kept.replace(" ", "")
    needed = _MIN_IDEOGRAPHS if letters[:1] >= _FIRST_IDEOGRAPH else _MIN_LETTERS
    if len(letters) < needed or kept in _PLACEHOLDERS:
        return None
    return kept


def _kept(character: str) -> str:
    """Return a letter, mark or digit as it is, nothing for a hidden character, else a space."""
    category = unicodedata.category(character)
    if category[0] in "LMN":
        return "" if _is_hidden(character) else character
    return "" if category in ("Cf", "Cs", "Co", "Cn") else " "


def _is_hidden(character: str) -> bool:
    """Return True if a character is invisible: variation selectors, Hangul fillers, ..."""
    return character in "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0" or (
        "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    )

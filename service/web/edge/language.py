"""Translates the pages' texts.

Texts in the code are English. The gettext catalogues of `languages/` have a `.po` file for each
language. To add a left-to-right language, copy `languages/de.po`, translate it and name it by its
tag.
"""

import gettext as gnu
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType

from babel.dates import format_date
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from flask import Flask, g, has_request_context, request, session

from service.domain.text import Phrase
from service.domain.text import noted as noted  # for the pages

ENGLISH = "en"
_CHOSEN = "language"
_VALUE = re.compile(r"%\(\w+\)s")

# The language outside of requests, such as for e-mails.
_SPOKEN = ContextVar("spoken", default=ENGLISH)

_FOLDER = Path(__file__).parents[1] / "languages"


@cache
def languages() -> tuple[str, ...]:
    """Return the tags of all available languages, English first."""
    return (ENGLISH, *sorted(path.stem for path in _FOLDER.glob("*.po")))


def current_language() -> str:
    """Return the tag of the chosen language, else of the best match for `Accept-Language`."""
    if not has_request_context():
        return _SPOKEN.get()
    found: str | None = g.get("language")
    if found is None:
        chosen = session.get(_CHOSEN)
        asked = request.accept_languages.best_match(languages(), default=ENGLISH)
        found = g.language = chosen if chosen in languages() else asked
    return found


def choose_language(tag: str | None) -> None:
    """Store the language in the session; None uses `Accept-Language` again."""
    session.pop(_CHOSEN, None)
    if tag:
        session[_CHOSEN] = tag
    g.pop("language", None)


@contextmanager
def speaking(tag: str) -> Iterator[None]:
    """Use this language outside of requests, or English if it is not available."""
    token = _SPOKEN.set(tag if tag in languages() else ENGLISH)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def gettext(message: str, **values: object) -> str:
    """Return the translation with `%(name)s` replaced by that value. `%%` is a percent sign."""
    return _translations(current_language()).gettext(message) % values


def ngettext(one: str, many: str, n: int, **values: object) -> str:
    """Return the translation for this number; `%(num)s` is replaced by the number."""
    return _translations(current_language()).ngettext(one, many, n) % {"num": n, **values}


def said(phrase: Phrase, instead: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a phrase's translation, or its English text.

    Templates that are keys of `instead` are replaced by its values.
    """
    template = instead.get(phrase.template, phrase.template)
    words = _translations(current_language()).gettext(template)
    values = {name: _said(value, instead) for name, value in phrase.values.items()}
    return words % values if values else words


def is_said(phrase: Phrase) -> bool:
    """Return True if a phrase and all nested phrases have a translation."""
    template = phrase.template
    is_own = _translations(current_language()).gettext(template) != template
    # A template that only joins other phrases needs no translation.
    says = is_own or not _VALUE.sub("", template).strip(" ;,.:()")
    return says and all(
        is_said(one)
        for value in phrase.values.values()
        for one in (value if isinstance(value, tuple) else (value,))
        if isinstance(one, Phrase)
    )


def _said(value: object, instead: Mapping[str, str]) -> str:
    if isinstance(value, tuple):
        return ", ".join(said(one, instead) for one in value)
    if isinstance(value, Phrase):
        return said(value, instead)
    return number(value) if isinstance(value, int) else str(value)


def number(value: float) -> str:
    """Return a localised number, rounded to an integer."""
    return format_decimal(round(value), locale=_locale())


def decimal(value: float) -> str:
    """Return a localised number with two decimals."""
    return format_decimal(value, format="0.00", locale=_locale())


def up_to_four_digits(value: float) -> str:
    """Return a localised number with at most four significant digits."""
    return format_decimal(value, format="@###", locale=_locale())


# Enough to distinguish any two cutoffs that a person enters.
_MOST_DECIMALS = 8
# What is nearer to a cutoff was lifted to it, not judged beside it.
_SAME = 1e-9


def probability(p: float, *, beside: Iterable[float] = ()) -> str:
    """Return a localised probability in percent, never 0 % or 100 %.

    Near both ends, where the cutoffs are, it has one decimal. It has more decimals if it would
    look equal to one of the values `beside` it.
    """
    others = [other for other in beside if abs(other - p) > _SAME]
    if p > 0.9995 and all(other <= 0.9995 for other in others):
        return f">{_in_percent(0.999, '0.0')}"
    if p < 0.0005 and all(other >= 0.0005 for other in others):
        return f"<{_in_percent(0.001, '0.0')}"
    written = ""
    for decimals in range(1 if p >= 0.95 or p < 0.05 else 0, _MOST_DECIMALS):
        pattern = f"0.{'0' * decimals}" if decimals else "0"
        written = _in_percent(p, pattern)
        if written not in {_in_percent(other, pattern) for other in (0.0, *others, 1.0)}:
            break
    return written


def percent(share: float) -> str:
    """Return a localised share in percent, with two decimals below 0.1 %, else with one."""
    pattern = "0.00" if 0 < share < 0.001 else "0.0"
    written = format_decimal(share * 100, format=pattern, locale=_locale())
    return gettext("%(number)s %%", number=written)


def day_in_words(day: date, pattern: str = noted("d MMMM y")) -> str:
    """Return a localised day by a pattern of UTS 35, which is translated too."""
    only_day = day.date() if isinstance(day, datetime) else day
    return _day(only_day, gettext(pattern), _locale())


def register_language(app: Flask) -> None:
    """Add `_()`, `ngettext()`, `language` and filters for numbers, days and phrases to Jinja."""
    for one in (number, decimal, percent, probability, day_in_words, said):
        app.add_template_filter(one)
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]  # the extension's own
        lambda message: _translations(current_language()).gettext(message),
        lambda one, many, n: _translations(current_language()).ngettext(one, many, n),
        newstyle=True,
    )
    app.context_processor(lambda: {"language": current_language()})


def _locale() -> str:
    return current_language().replace("-", "_")


def _in_percent(share: float, pattern: str) -> str:
    return gettext("%(number)s%%", number=_decimal(share * 100, pattern, _locale()))


# A list repeats cutoffs and days in every row, and formatting is slow.
@lru_cache(maxsize=4_096)
def _decimal(value: float, pattern: str, locale: str) -> str:
    return format_decimal(value, format=pattern, locale=locale)


@lru_cache(maxsize=1_024)
def _day(day: date, pattern: str, locale: str) -> str:
    return format_date(day, pattern, locale=locale)


@cache
def _translations(tag: str) -> gnu.NullTranslations:
    path = _FOLDER / f"{tag}.po"
    if tag == ENGLISH or not path.exists():
        return gnu.NullTranslations()
    with path.open("rb") as file:
        catalogue = read_po(file, locale=tag)
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return gnu.GNUTranslations(compiled)

"""Every text of the pages is there in every language, with the same placeholders."""

import io
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

SERVICE = Path(__file__).parents[2] / "service"
WEB = SERVICE / "web"
CATALOGUES = sorted((WEB / "languages").glob("*.po"))
KEYWORDS = {"gettext": None, "_": None, "N_": None, "Phrase": None, "ngettext": (1, 2)}
PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[sd%]")


@pytest.fixture(scope="module")
def texts() -> set[str | tuple[str, ...]]:
    """Return every text that the code marks, a pair where there is a plural."""
    return {
        message
        for room in (WEB, SERVICE / "domain", SERVICE / "signals", SERVICE / "scoring")
        for _, _, message, _, _ in extract_from_dir(
            str(room),
            method_map=[("**.py", "python"), ("templates/**.html", "jinja2")],
            options_map={"templates/**.html": {"silent": "false"}},
            keywords=KEYWORDS,
        )
    }


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.stem)


def forms(texts: str | Iterable[str]) -> list[str]:
    """Return the form for one thing and that for more, or the only form."""
    return [texts] if isinstance(texts, str) else list(texts)


def placeholders(text: str) -> Counter[str]:
    return Counter(PLACEHOLDER.findall(text))


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_every_text_is_translated_and_nothing_else(path, texts):
    catalogue = {message.id: message for message in read(path) if message.id}

    untranslated = [m.id for m in catalogue.values() if not all(forms(m.string)) or m.fuzzy]

    assert texts - catalogue.keys() == set()
    assert catalogue.keys() - texts == set()
    assert untranslated == []


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_the_file_is_as_make_messages_writes_it(path):
    entries = io.BytesIO()
    write_po(entries, read(path), width=100, omit_header=True, sort_output=True)

    assert path.read_bytes().endswith(b"\n\n" + entries.getvalue()), "run `make messages`"


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_translations_keep_their_placeholders(path):
    differing = []
    for message in read(path):
        if not message.id:
            continue
        # The form for one thing may leave the number out, as the English one often does.
        found = sorted(map(placeholders, forms(message.id)), key=len)
        if not all(found[0] <= placeholders(one) <= found[-1] for one in forms(message.string)):
            differing.append(message.id)

    assert differing == []

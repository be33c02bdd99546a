"""Parses the request bodies of Akismet clients: forms in any charset, or JSON."""

import re
from collections.abc import Iterable, Iterator, Mapping
from encodings.aliases import aliases
from urllib.parse import unquote_to_bytes

from service.domain.errors import invalid_input
from service.domain.form import FormBehaviour, read_behaviour
from service.domain.text import storable
from service.web.edge import strict_json

# Milliseconds of the visitor's clock: only their difference is used.
_BEGUN, _SENT = "POST_ak_bib", "POST_ak_bfs"
_COUNTS: Mapping[str, tuple[str, ...]] = {
    "keys": ("POST_ak_bkpc",),
    # Clicks and moves of a mouse, then taps and swipes.
    "pointer": ("POST_ak_bmcc", "POST_ak_bmmc"),
    "touch": ("POST_ak_btec", "POST_ak_btmc"),
}
FIELD = "POST_slopsieve_form"
"""The hidden field of Slopsieve's own script, for a site that has both plugin and script."""
COUNTED = frozenset({FIELD, _BEGUN, _SENT, *(name for names in _COUNTS.values() for name in names)})
"""The behaviour fields that are read. The plugin's others have the time of each key press."""
FILLED = "honeypot_filled"
"""The honeypot's result: "true", "false", or absent if the form has no hidden field."""
# Milliseconds since 1970 have 13 digits.
_NUMBER = re.compile(r"[0-9]{1,16}")


def behaviour_of(fields: Mapping[str, str]) -> FormBehaviour | None:
    """Return the counts of a call, or None if the form's script did not run.

    Pastes and input without keys are not counted.
    """
    counts: dict[str, object] = {}
    for name, parts in _COUNTS.items():
        found = [number for part in parts if (number := _number(fields, part)) is not None]
        counts[name] = sum(found) if found else None
    begun, sent = _number(fields, _BEGUN), _number(fields, _SENT)
    seconds = (sent - begun) / 1_000 if begun and sent else None
    return read_behaviour(counts | {"seconds": seconds})


def _number(fields: Mapping[str, str], name: str) -> int | None:
    given = fields.get(name, "").strip()
    return int(given) if _NUMBER.fullmatch(given) else None


# The only fields that are read. Clients also send request headers as HTTP_*, posted fields as
# POST_* and database columns. That personal data is dropped before it is decoded, stored or logged.
# Names are case-sensitive: WordPress sends both `user_id` and `user_ID`.
READ = COUNTED | frozenset(
    {
        "api_key",
        "key",
        "blog",
        "user_ip",
        "user_agent",
        "permalink",
        "comment_author",
        "comment_author_email",
        "comment_author_url",
        "comment_content",
        "comment_type",
        "comment_context",
        "comment_date_gmt",
        "comment_parent",
        "comment_post_modified_gmt",
        "blog_charset",
        "user_role",
        "honeypot_field_name",
        "is_test",
        "recheck_reason",
        "callback",
        "reporter",
        "from",
    }
)
_WORDPRESS_TRAP = "POST_ak_hp_textarea"
# Lists, sent as `name[]`, `name[0]` or `name`, are joined by a comma.
_LISTS = frozenset({"comment_context"})
# A form of WordPress has about 50 fields.
_MAX_FIELDS = 2_000
_MAX_LIST_ITEMS = 50
_BRACKETS = re.compile(r"\[[^\[\]]{0,100}\]$")
# Charsets of web pages. Python has other codecs too: some take quadratic time, some decompress.
_CHARSETS = re.compile(
    r"utf_8|utf_8_sig|ascii|latin_1|iso8859_\d{1,2}|cp(?:125\d|437|85\d|86\d|874|932|949|950)"
    r"|koi8_[rtu]|gb2312|gbk|gb18030|big5|big5hkscs|euc_(?:jp|kr|jis_2004|jisx0213)"
    r"|shift_jis(?:_2004|x0213)?|iso2022_(?:jp(?:_\d|_2004|_ext)?|kr)|hz|johab|tis_620|mac_[a-z0-9]+"
)
# Browsers send Windows-1252 for these (WHATWG Encoding, section 4.2).
_WINDOWS = frozenset({"ascii", "latin_1"})


def read_form(raw: bytes, *, charset: str | None) -> dict[str, str]:
    """Return the fields in `READ`, decoded by `charset`, else `blog_charset`, else UTF-8.

    As in PHP, a name without `=` has an empty value, and the last of equal names wins. Invalid
    bytes are replaced. The hidden field's value is reduced to `FILLED`.
    """
    found: dict[str, list[bytes]] = {}
    for name, value in _pairs(raw):
        if name not in READ:
            continue
        values = found.setdefault(name, [])
        if name not in _LISTS:
            values.clear()
        if len(values) < _MAX_LIST_ITEMS:
            values.append(_unquote(value))
    asked = b"".join(found.get("blog_charset", ())).decode("ascii", "replace")
    codec = find_codec(charset) or find_codec(asked) or "utf-8"
    fields = {
        name: ", ".join(storable(value.decode(codec, "replace")) for value in values)
        for name, values in found.items()
    }
    return _with_honeypot(fields, ((name, _unquote(value)) for name, value in _pairs(raw)))


def read_json(raw: bytes) -> dict[str, str]:
    """Return the fields of a JSON object, like those of a form.

    Raises `InvalidInputError` if the body is no object.
    """
    value, _ = strict_json.clean(strict_json.parse(raw))
    if not isinstance(value, dict):
        raise invalid_input("body", "is no JSON object", "send an object")
    fields = {name: _as_text(part) for name, part in value.items() if name in READ}
    return _with_honeypot(fields, ((name, _as_text(part)) for name, part in value.items()))


def _with_honeypot(
    fields: dict[str, str], posted: Iterable[tuple[str, str | bytes]]
) -> dict[str, str]:
    """Return the fields, with `FILLED` if the form has a hidden field.

    `honeypot_field_name` has that field's name; WordPress's plugin always posts its own. A name in
    `READ` is ignored: a client may name the field of the comment's text by mistake.
    """
    traps = ({fields.pop("honeypot_field_name", "").strip()} - READ - {""}) | {_WORDPRESS_TRAP}
    filled = [bool(value.strip()) for name, value in posted if name in traps]
    if filled or len(traps) > 1:
        fields[FILLED] = "true" if any(filled) else "false"
    return fields


def find_codec(name: str | None) -> str | None:
    """Return Python's name of a web page's charset, or None if it is unknown."""
    return _CODECS.get(_spelling(name)) if name and len(name) <= 40 else None


def _spelling(name: str) -> str:
    return "".join(c for c in name.lower() if c.isascii() and c.isalnum())


# Codecs by every spelling of a charset. `codecs.lookup` would cache unknown spellings, too.
_CODECS = {
    _spelling(alias): "cp1252" if codec in _WINDOWS else codec
    for alias, codec in [*aliases.items(), *((codec, codec) for codec in aliases.values())]
    if _CHARSETS.fullmatch(codec)
}


def _pairs(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield each field's name without brackets and its raw value."""
    for pair in raw.split(b"&", _MAX_FIELDS)[:_MAX_FIELDS]:
        name, _, value = pair.partition(b"=")
        if len(name) <= 200:
            yield _BRACKETS.sub("", _unquote(name).decode("latin-1")), value


def _unquote(part: bytes) -> bytes:
    return unquote_to_bytes(part.replace(b"+", b" "))


def _as_text(part: strict_json.Json) -> str:
    if part is None or isinstance(part, dict):
        return ""
    if isinstance(part, bool):
        return "true" if part else "false"
    if isinstance(part, list):
        return ", ".join(_as_text(item) for item in part[:_MAX_LIST_ITEMS])
    return str(part)

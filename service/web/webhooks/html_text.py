"""Converts the HTML of a comment to text, with visible links."""

import re
from collections.abc import Iterator

from service.domain.text import unescape

# The standard library's parser takes quadratic time on unclosed tags (256 KiB of "<a ": more than
# five minutes, Python 3.11.7). Here a tag ends at the first ">"; anything else is text.
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,15})(?=[\s/>])([^<>]*+)>|<!--")
# A quoted URL may contain the ">" that ends the tag here.
_HREF = re.compile(
    r"""(?<![\w-])href\s{0,4}=\s{0,4}(?:"([^"]*)(?:"|\Z)|'([^']*)(?:'|\Z)|([^\s"'<>]+))""", re.I
)
_CLASS = re.compile(r"""(?<![\w-])class\s{0,4}=\s{0,4}["']?([^"'<>]{0,300})""", re.I)
_MARKUP = re.compile(r"<[/!A-Za-z]|&[#A-Za-z]")
_BLANKS = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r"\n{3,}")
_PARAGRAPHS = frozenset(
    {"p", "div", "section", "blockquote", "pre", "ul", "ol", "dl", "table"}
    | {f"h{level}" for level in range(1, 7)}
)
_LINES = frozenset({"br", "li", "tr", "dt", "dd", "hr"})
_SILENT = frozenset(
    {"a", "abbr", "aside", "b", "big", "cite", "code", "del", "em", "font", "i", "img", "ins"}
    | {"kbd", "mark", "q", "s", "small", "span", "spoiler", "strike", "strong", "sub", "sup", "svg"}
    | {"tbody", "td", "th", "thead", "tt", "u", "var", "wbr"}
)
_KNOWN = _PARAGRAPHS | _LINES | _SILENT
_MENTIONS = frozenset({"mention", "hashtag"})
_LINK_SCHEMES = ("http://", "https://", "//", "mailto:", "tel:")
# Characters that would end an `href` attribute or its tag.
_UNSAFE_IN_LINK = {'"': "%22", "'": "%27", "<": "%3C", ">": "%3E", " ": "%20"}
_MAX_LINK_CHARS = 2_048
_MAX_HREFS = 3
_FENCE = "```"

# As `html_to_text` writes a link.
_ANCHOR = re.compile(r'<a href="([^"<>\s]{1,2048})">([^<>]*+)</a>')


def html_to_text(html: str, *, keeps_lines: bool = False) -> str:
    """Return the text of some HTML, in linear time. Text without markup is only stripped.

    A link whose text is its URL becomes the URL; any other becomes `<a href="…">text</a>`. Mentions
    and hashtags lose their links. Quotations get `> ` before each line, and code gets backticks and
    keeps its indentation. With `keeps_lines` line breaks between the tags stay, as WordPress shows
    them.
    """
    if not _MARKUP.search(html):
        return html.strip()
    writer = _Writer(keeps_lines=keeps_lines)
    for piece in _pieces(html):
        if isinstance(piece, str):
            writer.write(unescape(piece))
        else:
            writer.take(piece)
    return writer.text()


def _pieces(html: str) -> Iterator[str | re.Match[str]]:
    """Yield texts and known tags in order, without HTML comments."""
    position = begin = 0
    while match := _TAG.search(html, position):
        position = match.end()
        if match[2] is None:
            yield html[begin : match.start()]
            end = html.find("-->", position)
            # An unclosed comment hides the rest.
            begin = position = len(html) if end < 0 else end + len("-->")
        elif match[2].lower() in _KNOWN:
            yield html[begin : match.start()]
            yield match
            begin = position
    yield html[begin:]


class _Writer:
    """Builds the text; tags need not be nested correctly."""

    def __init__(self, *, keeps_lines: bool) -> None:
        self._keeps_lines = keeps_lines
        self._parts: list[str] = []
        self._quoted = 0
        self._preformatted = False
        self._links: list[str] | None = None
        self._link_begin = 0

    def write(self, text: str) -> None:
        if not self._preformatted:
            text = _BLANKS.sub(" ", text if self._keeps_lines else text.replace("\n", " "))
        if self._quoted and "\n" in text:
            text = text.replace("\n", "\n> ")
        self._parts.append(text)

    def take(self, tag: re.Match[str]) -> None:
        closes, name = bool(tag[1]), tag[2].lower()
        if name == "a":
            self._end_link()
            if not closes:
                self._begin_link(tag[3])
        elif name in _LINES and not closes:
            self._break(1)
        elif name in _PARAGRAPHS:
            self._paragraph(name, closes=closes)
        elif name == "code" and not self._preformatted:
            self._parts.append("`")

    def text(self) -> str:
        self._end_link()
        lines, is_code = [], False
        for line in "".join(self._parts).split("\n"):
            is_code ^= line == _FENCE
            lines.append(line.rstrip(" ") if is_code else line.strip(" "))
        kept = "\n".join(line for line in lines if line != ">")
        return _BLANK_LINES.sub("\n\n", kept).strip()

    def _break(self, count: int) -> None:
        self._parts.append("\n" * count + ("> " if self._quoted else ""))

    def _paragraph(self, name: str, *, closes: bool) -> None:
        self._end_link()
        if name == "blockquote":
            self._quoted = max(0, self._quoted + (-1 if closes else 1))
        if name == "pre" and closes == self._preformatted:
            self._preformatted = not closes
            self._parts.append(f"\n{_FENCE}\n")
        else:
            self._break(2)

    def _begin_link(self, attributes: str) -> None:
        classes = _CLASS.search(attributes)
        if classes and _MENTIONS.intersection(classes[1].lower().split()):
            return
        if "data-dsq-mention=" in attributes:  # Disqus's
            return
        hrefs = [unescape(next(filter(None, m.groups()), "")) for m in _HREF.finditer(attributes)]
        self._links = [h.strip() for h in hrefs if h.strip().lower().startswith(_LINK_SCHEMES)]
        self._link_begin = len(self._parts)

    def _end_link(self) -> None:
        if not self._links:
            self._links = None
            return
        words = "".join(self._parts[self._link_begin :])
        del self._parts[self._link_begin :]
        for link in self._links[1:_MAX_HREFS]:
            self._parts.append(f"{link[:_MAX_LINK_CHARS]} ")
        self._parts.append(_shown(self._links[0][:_MAX_LINK_CHARS], words))
        self._links = None


def links_in_words(text: str) -> str:
    """Return the text with `words (URL)` for each link that `html_to_text` wrote as a tag."""
    return _ANCHOR.sub(_in_words, text)


def _in_words(link: re.Match[str]) -> str:
    url, words = link.groups()
    return url if _bare(words) in ("", _bare(url)) else f"{words} ({url})"


def _shown(link: str, words: str) -> str:
    whole, shown = _bare(link), _bare(words)
    # Disqus and Mastodon show only the beginning of a long URL, and three dots.
    begun = shown.rstrip(".…")
    is_begun = begun != shown and whole.startswith(begun) and whole.partition("/")[0] in begun
    if whole == shown or is_begun or not shown:
        return link
    safe = "".join(_UNSAFE_IN_LINK.get(c, c) for c in link if c.isprintable())
    return f'<a href="{safe}">{words}</a>'


def _bare(address: str) -> str:
    bare = address.strip().removeprefix("mailto:").removeprefix("tel:")
    return bare.rpartition("://")[2].removeprefix("//").removeprefix("www.").rstrip("/")

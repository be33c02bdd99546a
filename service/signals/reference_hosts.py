"""Lists the sites that readers cite: encyclopaedias, code hosts, documentation, archives."""

from __future__ import annotations

from service.signals.wordset import wordset

# Chosen from what people cite in technical and everyday discussion; anybody can publish on a code
# host, so being listed makes a link common, not trustworthy.
_DOMAINS = wordset(
    "wikipedia.org wikimedia.org wiktionary.org wikidata.org archive.org arxiv.org doi.org "
    "github.com gitlab.com codeberg.org bitbucket.org sr.ht stackoverflow.com stackexchange.com "
    "serverfault.com superuser.com python.org pypi.org rust-lang.org docs.rs crates.io golang.org "
    "go.dev npmjs.com nodejs.org mozilla.org microsoft.com apple.com ibm.com oracle.com "
    "kernel.org debian.org ubuntu.com archlinux.org gnu.org postgresql.org sqlite.org mysql.com "
    "w3.org ietf.org rfc-editor.org unicode.org ecma-international.org iso.org acm.org ieee.org "
    "nih.gov nasa.gov who.int europa.eu bbc.co.uk bbc.com nytimes.com theguardian.com reuters.com "
    "nature.com sciencedirect.com springer.com jstor.org openstreetmap.org gutenberg.org "
    "youtube.com youtu.be vimeo.com imgur.com reddit.com ycombinator.com xkcd.com zotero.org "
    "gist.github.com msdn.com regex101.com jsfiddle.net codepen.io godbolt.org pastebin.com"
)
_SUFFIXES = (".gov", ".edu", ".gov.uk", ".ac.uk", ".mil", ".int", ".readthedocs.io")


def is_reference(host: str, domain: str) -> bool:
    """Return True if readers commonly cite this host."""
    return domain in _DOMAINS or host in _DOMAINS or host.endswith(_SUFFIXES)

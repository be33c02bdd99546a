"""Lists the letters of other alphabets that look Latin, and tells words made with them."""

from __future__ import annotations

import re

_OTHER = "\u0370-\u03ff\u0400-\u04ff\u0531-\u0587"
MIXED = re.compile(f"[A-Za-z][{_OTHER}]|[{_OTHER}][A-Za-z]")
OTHER_LETTER = re.compile(f"[{_OTHER}]")
LATIN_LETTER = re.compile("[A-Za-z]")
# Letters that look Latin; a word whose foreign letters are all of these is in disguise.
LOOK_ALIKES = frozenset("аеорсухіјѕԁһԛԝвкмнтАВЕКМНОРСТУХІЈЅαοενρτυικχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")

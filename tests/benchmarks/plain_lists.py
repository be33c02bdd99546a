"""Judges fifty plain advertisements and fifty plain thanks, which no version learns from.

Whoever tries a filter begins with these: spam that nobody would call anything else, and a sincere
line in one of ten languages. Prints what was not called spam, and what had to wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from service.domain.comment import Author, Comment, CommentId, Post
from service.domain.dataset_row import OFFLINE_SITE
from service.domain.history import History
from service.domain.verdict import Outcome
from service.moderation.judging.judgement import judge_comments
from tests.benchmarks.judging_model import current_folder, load_judging_model

# Author's name, author's link, text.
Line = tuple[str, str | None, str]

_POST = "How we repaired the old footbridge"

SPAM: Sequence[Line] = (
    ("Viagra", None, "Buy cheap viagra at http://pills-now.example now!!!"),
    ("casino", None, "casino casino casino best online casino http://casino-win.example"),
    ("Jenny", None, "Hot singles in your area, click here http://meet-hot.example/join"),
    ("Cheap Louis Vuitton", "http://lv-bags.example", "Cheap Louis Vuitton bags 80% off today"),
    ("seo king", None, "We put your site on page 1 of Google, $99. seo@rank-first.example"),
    ("Dr Odion", None, "Dr Odion cast a spell and my husband came back. WhatsApp +1 555 0100"),
    ("Mark", None, "I made $7,482 last month from home working 2 hours a day. bit.example/cash"),
    ("payday loans", None, "Payday loans with bad credit, instant approval: http://loans.example"),
    ("Rolex replica", "http://replica.example", "Best replica watches, free shipping worldwide"),
    ("CryptoPump", None, "Join our Telegram @pump_signals, 300% profit every week guaranteed"),
    ("buy followers", None, "Buy 10,000 Instagram followers for $19 http://followers.example"),
    ("essay help", None, "Our experts write your essay from $9 per page: http://essays.example"),
    (
        "xrumer",
        None,
        "[url=http://pills.example]cialis[/url] [url=http://pills.example]levitra[/url]",
    ),
    ("Anna", None, "<a href='http://slots.example'>free spins no deposit bonus slots</a>"),
    ("locksmith London", "http://locks.example", "Great article! Locksmith London 24 hours"),
    ("Weight Loss", None, "Lose 20 kg in 14 days with this keto gummies: http://keto.example"),
    ("Movers", None, "Nice post. Packers and movers Bangalore best price call 555-0199"),
    ("Hacker", None, "Need a hacker? I can read your wife's WhatsApp. spyhack@mail.example"),
    ("loan offer", None, "We offer loans at 2% to everybody, apply now: loanfirm@mail.example"),
    ("Escorts", "http://escorts.example", "Delhi escorts independent call girls 24/7 service"),
    ("download", None, "Download full movie HD free no registration http://movies.example/free"),
    ("Ray Ban", None, "Ray Ban outlet store, authentic, $24.99 http://rayban-outlet.example"),
    ("steroids", None, "Buy anabolic steroids online without prescription http://roids.example"),
    ("Forex", None, "Turn $200 into $5000 in 7 days with our forex robot http://fx-bot.example"),
    ("Web design", None, "I visited your site, we offer cheap web design, mail me: a@wd.example"),
    ("betting", None, "Sure odds today, fixed matches 100% win, contact +44 7700 900123"),
    ("Nike", "http://jordans.example", "cheap jordans cheap nike shoes wholesale china"),
    ("passport", None, "We sell real passports, driving licence, IELTS without exam. WhatsApp us"),
    ("CBD", None, "CBD oil cured my pain! Get yours 50% off: http://cbd-oil.example/?ref=77"),
    ("Illuminati", None, "Join the Illuminati today and get $2,000,000. Call +234 555 0188"),
    ("mattress", None, "Best mattress 2024 review, discount code SLEEP50 http://mattress.example"),
    ("vpn deals", None, "90% off the best VPN, only today, use my link http://vpn.example/aff/1"),
    ("gold", None, "Sell your gold for top cash, visit www.gold-cash.example right now"),
    ("Kredit", None, "Kredit ohne Schufa, sofort Geld aufs Konto: http://kredit.example"),
    ("Potenz", None, "Potenzmittel rezeptfrei kaufen, diskreter Versand http://potenz.example"),
    ("voyance", None, "Grand marabout, retour de l'être aimé en 3 jours, tel 01 99 00 12 34"),
    ("rachat", None, "Rachat de crédit rapide, taux imbattable, cliquez http://rachat.example"),
    ("prestamo", None, "Préstamos urgentes sin aval, escriba a prestamos@correo.example"),
    ("casino es", None, "El mejor casino online, bono gratis de 500 euros http://casino.example"),
    ("Казино", None, "Казино Вулкан, бонус 5000 рублей, играть http://vulkan.example"),
    ("Диплом", None, "Купить диплом о высшем образовании недорого http://diplom.example"),
    ("slot gacor", None, "Slot gacor hari ini, maxwin mudah, daftar http://gacor.example"),
    ("代开发票", None, "代开发票，微信 12345678，价格优惠 http://fapiao.example"),
    ("ブランド", None, "ブランドコピー激安通販 http://copy-brand.example 送料無料"),
    ("emprestimo", None, "Empréstimo online na hora, sem consulta: http://emprestimo.example"),
    ("scommesse", None, "Scommesse sportive, bonus 100 euro subito http://scommesse.example"),
    ("bahis", None, "Kaçak bahis siteleri, deneme bonusu veren http://bahis.example"),
    ("Cheap Flights", "http://flights.example", "cheap flights cheap flights cheap flights"),
    ("Herbal Cure", None, "I was cured of herpes by Dr Ehi herbs, email drehi@herbs.example today"),
    ("backlinks", None, "Get 5000 dofollow backlinks DA90 for $20 http://links.example/order"),
)

HAM: Sequence[Line] = (
    ("Carol", None, "Thank you, this helped."),
    ("Tom B.", None, "Thanks! Exactly what I was looking for."),
    ("Nadia", None, "Lovely photos, thanks for sharing."),
    ("Pete", None, "Cheers, that fixed it for me."),
    ("Ellen", None, "What a nice story. Made my day."),
    ("Sabine", None, "Danke, das hat mir sehr geholfen!"),
    ("Jürgen", None, "Super erklärt, vielen Dank dafür."),
    ("Lena", None, "Schöner Beitrag, liebe Grüße aus Kiel."),
    ("Uwe", None, "Hat geklappt, danke!"),
    ("Anke", None, "Die Brücke kenne ich noch von früher. Schön!"),
    ("Hélène", None, "Merci beaucoup, c'est très clair."),
    ("Luc", None, "Super article, merci !"),
    ("Manon", None, "Merci pour les photos, ça donne envie."),
    ("Gérard", None, "Bravo à toute l'équipe."),
    ("Claire", None, "Ça marche, merci pour l'astuce."),
    ("Marta", None, "Muchas gracias, me ha servido mucho."),
    ("Javier", None, "Qué bonito, enhorabuena a todos."),
    ("Lucía", None, "Gracias por compartirlo."),
    ("Andrés", None, "Justo lo que buscaba, gracias."),
    ("Pilar", None, "Me encanta este puente. Un saludo."),
    ("Giulia", None, "Grazie mille, molto utile."),
    ("Paolo", None, "Bellissimo lavoro, complimenti!"),
    ("Chiara", None, "Grazie, ha funzionato."),
    ("Stefano", None, "Che ricordi, ci passavo da bambino."),
    ("Elena", None, "Grazie per la spiegazione."),
    ("João", None, "Obrigado, ajudou muito!"),
    ("Inês", None, "Que lindo trabalho, parabéns."),
    ("Rui", None, "Funcionou, obrigado."),
    ("Beatriz", None, "Adorei as fotos."),
    ("Tiago", None, "Era isto que procurava, obrigado."),
    ("Sanne", None, "Bedankt, hier had ik veel aan."),
    ("Joost", None, "Mooi gedaan, complimenten!"),
    ("Femke", None, "Dank je wel voor de uitleg."),
    ("Bram", None, "Werkt perfect, bedankt."),
    ("Lotte", None, "Wat een leuk verhaal."),
    ("Kasia", None, "Dziękuję, bardzo pomogło."),
    ("Marek", None, "Świetny wpis, pozdrawiam."),
    ("Ola", None, "Piękne zdjęcia!"),
    ("Tomek", None, "Działa, dzięki."),
    ("Ewa", None, "Dzięki za wyjaśnienie."),
    ("Ольга", None, "Спасибо, очень помогло!"),
    ("Сергей", None, "Отличная статья, спасибо."),
    ("Марина", None, "Красивые фотографии."),
    ("Иван", None, "Всё получилось, благодарю."),
    ("Анна", None, "Хожу по этому мосту каждый день."),
    ("さくら", None, "ありがとうございます。とても助かりました。"),
    ("健太", None, "すてきな写真ですね。"),
    ("美咲", None, "わかりやすい説明をありがとう。"),
    ("大輔", None, "うまくいきました。感謝します。"),
    ("由美", None, "懐かしい橋です。"),
)


def _comment(line: Line, number: int) -> Comment:
    name, url, text = line
    return Comment(
        id=CommentId(f"plain-{number}"),
        site_id=OFFLINE_SITE,
        received_at=datetime.now(UTC),
        text=text,
        author=Author(name=name, url=url),
        post=Post(title=_POST),
    )


def main() -> None:
    """Print how many of either list got the outcome they should, and each that did not."""
    model = load_judging_model(current_folder())
    for name, lines, right in (("spam", SPAM, Outcome.SPAM), ("thanks", HAM, Outcome.HAM)):
        comments = [_comment(line, number) for number, line in enumerate(lines)]
        histories = [History()] * len(comments)
        verdicts = judge_comments(comments, model, histories=histories, now=datetime.now(UTC))
        others = [
            (line, verdict)
            for line, verdict in zip(lines, verdicts, strict=True)
            if verdict.outcome is not right
        ]
        called = len(lines) - len(others)
        print(f"{model.version}: {called} of {len(lines)} {name} are called {right.value}")
        for (author, _, text), verdict in others:
            print(f"  {verdict.outcome.value} {verdict.p_spam:.3f} | {author} | {text}")


if __name__ == "__main__":
    main()

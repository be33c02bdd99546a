"""Examples of the detectors in `service/signals/detectors/writing.py`."""

from __future__ import annotations

from tests.contract.detector_examples.example import Example, Examples

_ENGLISH_POST = (
    "Turn the pump off first, and wait for the water to settle before you open the valve."
)

EXAMPLES = {
    "mixed_script_words": Examples(
        fires_on=(
            Example("best \u0441asin\u043e in town"),
            Example("\u0440ayday l\u043eans, no check"),
            Example("cheap vi\u03b1gra online"),
        ),
        silent_on=(
            Example("Поставил Linux и настроил VPN, на моём iPhone всё работает"),
            Example("A 4.7\u03bcF cap and a 10k\u03a9 resistor, \u0394T of 5"),
            Example("Разница между GPSом и ГЛОНАСС видна на карте"),
            Example("Η λέξη email γράφεται με λατινικά"),
        ),
    ),
    "stray_quotation_mark": Examples(
        fires_on=(
            Example(
                '"What a thoughtful guide to radiators! It explains the order of the valves so'
                ' clearly that anybody can follow it."'
            ),
            Example(
                '"Such an insightful post about wood stoves. The balance of warmth and care is'
                " truly inspiring."
            ),
            Example(
                "“Two winters with a stove is a beautiful reminder that patience and warmth go"
                " hand in hand.”"
            ),
        ),
        silent_on=(
            Example(
                '"Turn the pump off first" is the step that everybody forgets, and then the'
                " hall"
                " is wet."
            ),
            Example('"Patience is a radiator."'),
            Example(
                'The manual says "open the lowest valve first", which is wrong for two-pipe'
                ' systems, and "a quarter turn".'
            ),
            Example(
                '"Only the third valve?" she asked, and I said "no, all of them", which took'
                ' the whole "short" evening.'
            ),
        ),
    ),
    "language_mismatch": Examples(
        fires_on=(
            Example(
                "Займы онлайн без отказа и проверок, деньги сразу: https://zaim.example.com/a",
                post_title="Bleeding a radiator",
                post_excerpt=_ENGLISH_POST,
            ),
            Example(
                "Die besten Ventile für das Haus und die Wohnung gibt es auf ventil-kaufen.de",
                post_title="Bleeding a radiator",
                post_excerpt=_ENGLISH_POST,
            ),
            Example(
                "This is the casino that you have to try with your friends: https://spin.bet",
                post_title="Heizung entlüften",
                post_excerpt="Zuerst ist die Pumpe abzustellen, und das Wasser muss sich für eine"
                " Weile setzen.",
            ),
        ),
        silent_on=(
            Example("Где найти машину на прокат?", post_title="Bleeding a radiator in winter"),
            Example(
                "Bei mir ist das dritte Ventil fest, und ich weiß nicht, wie man es löst.",
                post_title="Bleeding a radiator",
                post_excerpt=_ENGLISH_POST,
            ),
            Example("Спасибо, у меня было точно так же, помог третий узел.", post_title="nginx"),
            Example(
                "도서관에서 대출 받은 책에도 같은 내용이 있더라고요.",
                post_title="Running Docker on a VPS",
            ),
            Example(
                "Die Ventile für das Haus gibt es auf ventil-kaufen.de und nicht im Baumarkt",
                post_title="Heizung entlüften",
                post_excerpt="Zuerst ist die Pumpe abzustellen, und das Wasser muss sich für eine"
                " Weile setzen.",
            ),
            Example(
                "La vanne du bas est la bonne, voir https://fr.wikipedia.org/wiki/Radiateur"
                " pour les détails et une photo.",
                post_title="Bleeding a radiator",
                post_excerpt=_ENGLISH_POST,
            ),
        ),
    ),
    "broken_lines": Examples(
        fires_on=(
            Example(
                "Wonderful write-up, I was looking for this kind of guide\nfor a long time and"
                " finally found it. Keep up the great\nwork and greetings from my family."
            ),
            Example(
                "The owner of this pool shop has kept prices low for years,\r\nand the"
                " delivery is free. You will not find anything better around here."
            ),
            Example(
                "Je voulais vous dire que votre article sur les poêles est\nvraiment complet,"
                " je le recommande à mes clients."
            ),
        ),
        silent_on=(
            Example(
                "The third valve was stuck, and it took me an hour to see that it was.\nOpened"
                " it, bled the radiator, warm again. Thank you for the drawing."
            ),
            Example("What we took along:\nbread and cheese\ntwo ropes\na map of the old paths"),
            Example(
                "i tried this with the small stove we have in the kitchen\nand it only smokes,"
                " does anybody know how long the pipe has to be"
            ),
            Example(
                "With the new release I get this when the pump starts:\n```\nwarning: the"
                " pressure is lower than what the manual asks for\nwaiting for the second"
                " valve\n```"
            ),
            Example(
                "The drawing I mean is in the second part of this old manual\n"
                "https://manuals.example/pump.pdf"
            ),
            Example(
                "I had the same thing last winter, it turned out that the third\nvalve was stuck"
                " and the pump had air in it.",
                site_comment_id="github:IC_1",
            ),
        ),
    ),
}

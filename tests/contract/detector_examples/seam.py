"""Examples of the detectors in `service/signals/detectors/seam.py`."""

from __future__ import annotations

from tests.contract.detector_examples.example import Example, Examples

EXAMPLES = {
    "abrupt_shift": Examples(
        fires_on=(
            Example(
                "The order of the valves matters more than people think, and you explain it"
                " with admirable clarity. Radiator valves upto 70% OFF, free delivery, order now at"
                " valvehaus-deals.shop hurry up!!",
                post_title="Bleeding a radiator",
            ),
            Example(
                "What a peaceful photo of the lake at dawn. It reminds me of mornings by the"
                " water. If you ever need a break, I recommend playing Slope Racer 3D online!",
                post_title="Lake at six in the morning",
            ),
            Example(
                "Cheap essay writing service, 24/7 experts, essayharbor.online - use code"
                " FOX15. What an insightful look at grading.",
                post_title="Why I stopped grading homework",
            ),
            Example(
                "Zehn Tage ohne Heizung, das erfordert Geduld. Ventile günstig kaufen, 20 %"
                " Rabatt und kostenloser Versand auf ventil-kaufen.de! Wie warm war es am Ende?",
                post_title="Heizung entlüften",
            ),
        ),
        silent_on=(
            Example(
                "> Did you open the pump side first?\n\nNo, the third valve. My notes with"
                " photos are at https://ana-karlsson.example.org/valves, sorry for the"
                " handwriting.",
                post_title="Bleeding a radiator",
            ),
            Example(
                "Open the lowest valve first.\n\nEDIT: wrong, I looked again and it is the"
                " highest one on two-pipe systems.",
                post_title="Bleeding a radiator",
            ),
            Example(
                "I have both. The Brassika is 12 euro and drips after a year, the Tervo"
                " costs 30 but nobody sells the gasket any more. If I could keep one, the Tervo.",
                post_title="Which radiator valve?",
            ),
            Example(
                "Thanks for the script. Mine failed on paths with blanks:\n\n```\nfor f in"
                " *; do"
                ' cp "$f" https://backup.shop/; done\n```\n\n--\nJan',
                post_title="A backup in ten lines",
            ),
            Example(
                "the third valve was stuck so i took it out and cleaned it and put it back"
                " and now it works thank you. Grüße aus Kassel, und falls jemand noch ein Ventil"
                " sucht: der Baumarkt am Hafen hat welche.\n\n--\nJan\nhttps://jan.example.org",
                post_title="Bleeding a radiator",
            ),
            Example(
                "I am Ana, a plumber for twenty years. You never open the top valve first,"
                " whatever the leaflet says. P.S. Thank you for the drawings!",
                post_title="Bleeding a radiator",
            ),
            Example(
                "Lovely cake! Beat 3 eggs, add 200 g sugar, bake 40 minutes. Ma grand-mère"
                " mettait un peu de rhum, mais pas trop.",
                post_title="My grandmother's lemon cake",
            ),
        ),
    ),
}

"""Prints what people and programs earn by how they fill in a comment form, in a real browser."""

from __future__ import annotations

import argparse
import shutil
from collections import Counter

from playwright.sync_api import sync_playwright

from service.web.edge import limits
from tests.fakes import make_services
from tests.functional.browser.form_sessions import ACCESSIBLE, ATTACKS, Box, Session, run, types
from tests.functional.moderators import make_app
from tests.functional.serving import serving

_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


def _tell(box: Box, session: Session, variants: int) -> float:
    earned = [run(session, box, number=number) for number in range(variants)]
    signals = Counter(name for one in earned for name in one.signals)
    tokens = Counter(str(one.token) for one in earned)
    most = max(one.log_odds for one in earned)
    mean = sum(one.log_odds for one in earned) / variants
    told = ", ".join(f"{name} {count}" for name, count in signals.most_common()) or "nothing"
    had = ", ".join(f"{name} {count}" for name, count in tokens.most_common())
    print(
        f"| {session.__name__.replace('_', ' ')} | {variants} | {mean:+.2f} | {most:+.2f} | "
        f"{told} | {had} |",
        flush=True,
    )
    return most


def main() -> None:
    """Print a row for each way of filling in the form."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=int, default=9)
    parser.add_argument("--attacks", type=int, default=3, help="variants of each attack")
    options = parser.parse_args()
    # All sessions come from one address within minutes.
    limits._FORMS_PER_ADDRESS_AND_MINUTE = limits._FORMS_PER_MINUTE = 10_000
    limits._TOKENS_PER_ADDRESS_AND_MINUTE = 10_000
    services = make_services()
    with sync_playwright() as started, serving(make_app(services)) as (host, port):
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(_ARGUMENTS)
        )
        box = Box(browser, f"http://{host}:{port}", services)
        run(types, box, number=1_000)
        print("| who | sessions | mean | most | signals | tokens |\n|---|--:|--:|--:|---|---|")
        over = [_tell(box, session, options.variants) > 0.5 for session in ACCESSIBLE]
        for attack in ATTACKS:
            _tell(box, attack, options.attacks)
        print(f"ways of people above +0.5: {sum(over)} of {len(over)}")
        browser.close()
        box.close()


if __name__ == "__main__":
    main()

"""Comments that a changed network must read as the one before did."""

from __future__ import annotations

from models.inputs import ModelInput

COMMENTS = [
    ModelInput(text="Thanks! Cheap valves at https://valves-and-more.shop"),
    ModelInput(text="The valve is behind the boiler. " * 20, post_title="Bleeding a radiator"),
    ModelInput(text="I had the same trouble, and it was the washer in the end.", author_name="Jo"),
    ModelInput(text="WhatsApp +1 202 555 0100 for loans, no questions asked!!!"),
]

"""Lists the adapters: whoever is in this table is served."""

from __future__ import annotations

from collections.abc import Mapping

from service.domain.inbound import Platform
from service.web.webhooks import coral, discourse, github, standard, static_form
from service.web.webhooks.received import Adapter

ADAPTERS: Mapping[Platform, Adapter] = {
    Platform.CORAL: coral.ADAPTER,
    Platform.DISCOURSE: discourse.ADAPTER,
    Platform.GITHUB: github.ADAPTER,
    Platform.STANDARD: standard.ADAPTER,
    Platform.STATIC_FORM: static_form.ADAPTER,
}

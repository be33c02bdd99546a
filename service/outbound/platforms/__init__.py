"""The platforms at which decisions are applied through their own APIs, one file each."""

from __future__ import annotations

from collections.abc import Mapping

from service.domain.delivery import DeliveryForm
from service.outbound.platforms.build_hook import call_build_hook
from service.outbound.platforms.discourse import apply_at_discourse
from service.outbound.platforms.github import apply_at_github
from service.outbound.platforms.results import Apply

PLATFORMS: Mapping[DeliveryForm, Apply] = {
    DeliveryForm.GITHUB: apply_at_github,
    DeliveryForm.DISCOURSE: apply_at_discourse,
    DeliveryForm.BUILD_HOOK: call_build_hook,
}

"""Webhooks from platforms: an adapter for each platform, a URL for each hook."""

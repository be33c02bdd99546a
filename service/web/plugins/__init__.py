"""Plugins for platforms that connect to this service."""

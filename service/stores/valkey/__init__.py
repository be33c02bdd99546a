"""Histories and short-lived notes in Valkey."""

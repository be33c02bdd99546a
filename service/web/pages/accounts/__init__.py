"""Accounts: signing in, second factors, the log, personal data."""

"""Serves the Akismet protocol, so that programs that speak it need another host name, no more."""

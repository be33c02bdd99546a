"""The Akismet protocol: clients only need another host name."""

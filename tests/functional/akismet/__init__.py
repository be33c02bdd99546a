"""The Akismet protocol as its clients meet it."""

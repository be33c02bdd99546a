"""Accounts, sites, lists, and the log of what people did."""

"""Runs the training program beside the service, and keeps what it leaves."""

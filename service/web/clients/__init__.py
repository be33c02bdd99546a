"""Clients of the API of one file each, for programs to copy; written from the OpenAPI document."""

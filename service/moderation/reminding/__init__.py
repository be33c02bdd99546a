"""Reminds moderators, by mail and in a chat room, of comments that have waited long."""

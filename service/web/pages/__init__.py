"""The pages for moderators, a room for each tab of the bar."""

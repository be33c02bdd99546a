"""Learning at once from a site's decisions; the version's weights stay unchanged."""

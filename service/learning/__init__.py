"""What a site's decisions teach at once, beside the version's weights and never inside them."""

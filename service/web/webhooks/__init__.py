"""Takes in what platforms send about comments: one adapter a platform, one address a hook."""

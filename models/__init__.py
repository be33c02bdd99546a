"""The classifier and its versions: a leaf room that imports nothing of ours."""

"""Makes model versions: reads data files, trains, calibrates, writes a version folder."""

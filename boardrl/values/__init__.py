"""Value functions: networks, linear features, and files of their weights."""

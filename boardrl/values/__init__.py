"""Value functions: nets, weighted features, and files of their weights."""

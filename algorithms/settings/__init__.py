"""Settings of algorithms that have many of them, and their checks; the shared checks are in `checks`."""

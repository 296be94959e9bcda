"""Commands: flags and wiring, no mathematics."""

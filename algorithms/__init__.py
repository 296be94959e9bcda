"""Learning algorithms: one file each, for every game that fits their kind."""

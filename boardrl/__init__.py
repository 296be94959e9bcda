"""What every game, algorithm and search shares."""

"""What a search found: principal variations, best moves, turns, and judgements of decisions."""

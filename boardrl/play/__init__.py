"""Playing games: lanes of games side by side, policies, players by name."""

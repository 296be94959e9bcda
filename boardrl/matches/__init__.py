"""Matches and tournaments: win rates and ratings, with confidence intervals."""

"""Matches and tournaments: who wins how often, ratings, and how sure they are."""

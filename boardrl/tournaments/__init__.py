"""Tournaments: fair schedules, finishing orders, and ratings with intervals."""

"""Searchers: compiled, under budgets, for every game that fits their kind."""

"""Exact results: solved games, the graph of states, perft."""

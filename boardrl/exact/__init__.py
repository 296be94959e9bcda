"""Exact results: solved games, the state graph, perft."""

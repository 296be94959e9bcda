"""Matches: who wins how often and how sure that is; luck, duplicate dice, tests that stop, replays."""

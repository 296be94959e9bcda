"""Matches and luck in compiled code."""

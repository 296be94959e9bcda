"""Rewrites of whole programs, between tracing and code."""

"""Tools for developing boardrl itself."""

"""What every game, algorithm and search shares."""

from boardrl import numba_cache

numba_cache.install()

"""What every game, algorithm and search shares."""

from boardrl.system import numba_cache

numba_cache.install()

"""The process and the machine: memory and cores, signals, workers, files and caches."""

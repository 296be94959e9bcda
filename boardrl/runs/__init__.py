"""Training runs: the loop, run directories, checkpoints, progress, reports and plots."""

"""Parts of the fuzzer: corrupted input, the contract that every reader must keep, and the targets."""

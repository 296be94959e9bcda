"""What the fuzzer is made of: garbled input, the contract that every reader of it keeps, and the readers."""

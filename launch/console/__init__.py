"""What commands share at the terminal: tables and files written, positions read, humans who play."""

"""The papers whose figures `launch.reproduce` reproduces: one module each, with a table ITEMS."""

"""The papers whose numbers `launch.reproduce` computes again: one module each, with a table ITEMS."""

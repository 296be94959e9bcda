"""Genomes: what a vector of genes means to the genetic algorithm, and the matches in which its players meet."""

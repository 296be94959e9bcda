"""Games of other packages, wrapped: one adapter for all board games of pgx."""

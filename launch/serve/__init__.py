"""A page to play, watch and analyse any game: server, sessions, and the browser's files in `page`."""

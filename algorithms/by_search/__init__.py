"""Learning from search: self-play, regression targets at leaves, the shared learner."""

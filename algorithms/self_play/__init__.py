"""Self-play of learners in compiled code: windows of play for TD(λ), experience for DQN, and which way to play."""

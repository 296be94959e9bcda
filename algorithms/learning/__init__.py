"""What several learners share: play recorded for learning, returns, traces, replay, rewards, optimizers, settings."""

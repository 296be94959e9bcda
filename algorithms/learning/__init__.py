"""What several learners share: experience, returns, traces, replay, rewards, optimizers."""

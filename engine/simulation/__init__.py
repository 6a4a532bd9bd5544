"""Rollouts of candidates, what is known of each, and which is sampled next."""

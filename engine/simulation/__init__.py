"""Simulation: rollouts of candidates, their statistics, and the choice of the next samples."""

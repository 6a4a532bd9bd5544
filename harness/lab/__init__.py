"""The laboratory: studies, benchmarks, training."""

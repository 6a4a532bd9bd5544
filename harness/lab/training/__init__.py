"""Training: what players judge by, learned from games of static players."""

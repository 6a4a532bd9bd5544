"""Training: players' evaluations, learned from games of static players."""

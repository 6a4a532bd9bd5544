"""Matches: schedule, results, statistics, reports."""

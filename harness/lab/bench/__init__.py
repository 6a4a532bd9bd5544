"""Measurements, printed and never asserted: what is timed on a shared machine proves nothing."""

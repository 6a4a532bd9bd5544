"""Measurements, printed and never asserted: timings on a shared machine prove nothing."""

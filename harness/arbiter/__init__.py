"""One game: table, scorebook, clock, views, records, journal."""

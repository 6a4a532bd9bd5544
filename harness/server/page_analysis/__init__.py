"""Analysis for a server's page: who may ask, who waits, and the processes that do it."""

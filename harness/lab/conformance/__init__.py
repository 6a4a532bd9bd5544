"""The conformance kit: whether somebody's server or bot speaks the protocol, clause by clause."""

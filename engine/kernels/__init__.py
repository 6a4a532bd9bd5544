"""The compiled search: what ``engine`` offers is worked out here, in records and 64-bit integers.

One file, one idea of the literature, each over the ones before it:

``moves``      a move as one 64-bit integer
``board``      squares in both directions; tiles put down and taken up again
``crosses``    cross-sets and cross-scores, kept up as tiles are put down
``racks``      the 2⁷ parts of a rack: letters, keys, and the leave map
``everything`` every placement, with a GADDAG
``slots``      where words can lie: anchors at their finest, and the shadow bound of each
``best``       the best placements only, best slots first
``selfplay``   whole games

State is one record for each of these things, whose fields are arrays of fixed length: a record is
passed to a helper as a bare pointer, where each array of a tuple would cost an atomic count up and
down a call. ``engine.search`` is the way in.
"""

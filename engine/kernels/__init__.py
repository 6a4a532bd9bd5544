"""The compiled search: what ``engine`` offers is worked out here, in records and 64-bit integers.

One file, one idea, each over the ones before it:

``moves``       a move as one 64-bit integer
``board``       squares in both directions; tiles put down and taken up again
``crosses``     cross-sets and cross-scores, kept up as tiles are put down
``racks``       the 2⁷ parts of a rack, and the leave map
``worths``      what playing each part is worth beyond its score
``everything``  every placement, with a GADDAG
``listing``     … and its blanks in every way, written down
``parts``       the parts of a rack by size, side by side
``slots``       where words can lie: anchors at their finest, and what each counts
``found``       the best moves so far
``placing``     one part of the rack in one slot
``best``        the best placements only: shadow bounds, and a heap
``desk``        all of these records in one
``entries``     the ways in for one position
``game``        bag, racks and scores; the turn of a static player
``selfplay``    whole games
``rollouts``    some turns, many times over
``codes``       a multiset of tiles as one integer
``holding``     what an opponent may have held, drawn or listed
``gaps``        how much better he could have played

and for endgames

``lines``       placements line by line, remembered
``zones``       the squares on which a placement depends
``replies``     what the other side could answer
``transpositions``  what is known of positions met before
``frames``      what a search remembers, by ply
``candidates``  what may be played, and in which order
``endgame``     the search

State is one record for each of these things, whose fields are arrays of fixed length: a record is
passed to a helper as a bare pointer, where each array of a tuple would cost an atomic count up and
down a call. ``engine.movegen.generator`` is the way in.
"""

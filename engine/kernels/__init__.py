"""The compiled search: what ``engine`` offers is worked out here, in records and 64-bit integers.

One file, one idea, each over the ones before it:

``moves``            a move as one 64-bit integer
``board``            squares in both directions; tiles put down and taken up again
``crosses``          cross-sets and cross-scores, kept up as tiles are put down
``racks``            the 2⁷ subracks of a rack, and the leave map
``equity_terms``     what playing each subrack is worth beyond its score
``gaddag_movegen``   every placement, with a GADDAG
``listing``          … and its blanks in every way, written down
``subracks``         subracks by size, side by side
``shadow_slots``     where words can lie: anchors at their finest, and a bound for each
``top_moves``        the best moves so far
``shadow_placing``   one subrack in one slot
``shadow_movegen``   the best placements only: shadow bounds, and a heap
``search_state``     all of these records in one
``position_movegen`` the ways in for one position
``game``             bag, racks and scores; the turn of a static player
``selfplay``         whole games
``rollouts``         some turns, many times over
``multiset_hash``    a multiset of tiles as one integer
``leave_prior``      what an opponent may have held, drawn or listed
``equity_loss``      how much better it could have played

and for endgames

``line_cache``       placements line by line, remembered
``footprint``        the squares on which a placement depends
``replies``          what the other side could answer
``transpositions``   what is known of positions met before
``endgame_stack``    what a search remembers, by ply
``endgame_moves``    what may be played, and in which order
``endgame``          the search

State is one record for each of these things, whose fields are arrays of fixed length: a record is
passed to a helper as a bare pointer, where each array of a tuple would cost an atomic count up and
down a call. ``engine.movegen.generator`` is the way in.
"""

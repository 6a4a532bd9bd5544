"""The compiled search behind ``engine``: records and 64-bit integers.

One idea a file, each built on those before it:

``moves``            a move as one 64-bit integer; the best moves so far
``board``            squares in both directions; tiles placed and undone
``crosses``          cross-sets and cross-scores, updated by each play
``racks``            the 2⁷ subracks of a rack: what playing each is worth; by size, side by side
``gaddag_movegen``   every placement, with a GADDAG
``listing``          placements recorded, with blanks in every way
``shadow_slots``     where words can lie, and a bound for each
``shadow_movegen``   the best placements only: shadow bounds and a heap
``search_state``     these records in one; entry points for one position
``game``             bag, racks and scores; the turn of a static player
``selfplay``         whole games
``rollouts``         sampled games over some turns
``leave_prior``      racks that an opponent may have held, drawn or listed
``equity_loss``      how much better a rack could have been played

and for endgames

``line_cache``       placements by line, remembered
``replies``          the other side's best answers, and the squares on which they depend
``transpositions``   bounds of positions met before
``endgame_stack``    the search stack, by ply
``endgame_moves``    candidates and their order
``endgame``          the search

State is kept in records with arrays of fixed length: a helper takes a record as a bare pointer, but
each array of a tuple would cost an atomic count up and down a call. A ``SlotRecord`` is a record
of dtype ``SLOT`` in a kernel, and so on; outside it is an array of one. The entry point is
``engine.movegen.generator``.
"""

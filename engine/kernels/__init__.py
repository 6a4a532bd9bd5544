"""The compiled search behind ``engine``: records and 64-bit integers.

One idea a file: ``moves``, ``board``, ``crosses``, ``racks``; ``listing``, ``gaddag_movegen``
(every placement), ``shadow_slots``, ``shadow_movegen`` (the best placements only),
``search_state``; for games ``game``, ``selfplay``, ``rollouts``; for value nets ``value_net``,
``value_games``; for inference ``leave_prior``, ``equity_loss``; for endgames ``line_cache``,
``replies``, ``transpositions``, ``endgame_stack``, ``endgame_moves``, ``endgame``.

State is kept in records with arrays of fixed length: a helper takes a record as a bare pointer, but
each array of a tuple would cost an atomic count up and down a call. A ``SlotRecord`` is a record
of dtype ``SLOT`` in a kernel, and so on; outside it is an array of one. The entry point is
``engine.movegen.generator``.
"""

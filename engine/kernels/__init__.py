"""The compiled search behind ``engine``: records and 64-bit integers.

One topic a file: ``moves``, ``board``, ``crosses``, ``racks``; ``listing``, ``gaddag_movegen``
(every placement), ``shadow_slots``, ``shadow_movegen`` (the best placements only),
``search_state``; for games ``game``, ``selfplay``, ``rollouts``; for inference ``leave_prior``,
``equity_loss``; for endgames ``line_cache``, ``replies``, ``transpositions``, ``endgame_stack``,
``endgame_moves``, ``endgame``.

State is kept in records with arrays of fixed length: a helper takes a record as a bare pointer,
while each array of a tuple would cost an atomic reference count up and down per call. In a kernel a
``SlotRecord`` is a record of dtype ``SLOT``, and so on; outside, it is an array of one record. Each
kernel has a caller outside that lays out its arrays and raises what is to be raised.
"""

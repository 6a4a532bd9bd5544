"""From a position to values: what players, the SIU engine, commands and the page ask of it.

They begin a work here, go on with it as long as they like (``bot.search.anytime``), and show in
their own way what it tells. Nothing else builds solvers, simulations or inferences, but benchmarks.

================  ==========================================  ==================================
question          work                                        values
================  ==========================================  ==================================
which move gains  ``bot.search.simulating.simulation_of``     ``Estimate``
who wins, empty   a solver of ``solving.Solvers``             ``Solution``, ``BestPlay``
bag
which move wins,  ``solving.pre_endgame``                     ``Outcome``
few tiles left
what was the      ``findings.analyse``: rollouts, or with an  ``Findings``
played move       empty bag ``worths.Solving``
worth
what is held      ``bot.search.belief.OpponentModel`` in a    ``Posterior``
                  game, ``inferred.infer`` after one play
================  ==========================================  ==================================
"""

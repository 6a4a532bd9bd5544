"""From a position to values: what players, the SIU engine, commands and the page ask of it.

They begin a work, go on with it as long as they like (``bot.search.anytime``), and show in their
own way what it tells. Solvers and simulations are made nowhere else:

* which move gains most: ``bot.search.simulating.simulation_of`` (``Estimate``);
* who wins with an empty bag: a solver of ``solving.Solvers`` (``Solution``, ``BestPlay``);
* which move wins most often with few tiles in the bag: ``solving.pre_endgame`` (``Outcome``);
* what the played move was worth: ``findings.analyse``, by rollouts, then with one or two tiles in
  the bag by ``by_cases.Casework``, or with an empty bag by ``worths.Solving`` (``Findings``);
* what the opponent holds: ``bot.search.belief.OpponentModel`` through a game, ``inferred.infer``
  after a play (``Posterior``).
"""

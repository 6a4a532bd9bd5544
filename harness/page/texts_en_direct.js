// What the view of a tournament's directors says.

/**
 * A parameter without a type is a text.
 * @satisfies {Record<string, object | string | ((first: string, second: string) => string)>}
 */
export const direct = {
  title: "Direct the tournament",
  name: "Director",
  token: "Token",
  where: "For who is named under directors in the tournament's file. The server keeps the token in the tournament's folder, in a file NAME.token.",
  login: "Log in",
  logout: "Log out",
  /** @param {number} seconds */
  lost: (seconds) => `The connection to the server is lost; it is tried again in ${seconds} s.`,
  done: "Done; it is in the record.",
  acts: "Acts",
  why: "Reason, for the record",
  pause: "Pause",
  resume: "Go on",
  end: "End after this round",
  reallyEnd: "End: sure?",

  // an entrant
  withdraw: "Withdraw",
  /** @param {string} name */
  withdrawOf: (name) => `Withdraw ${name}`,
  join: "Bring back",
  /** @param {string} name */
  joinOf: (name) => `Bring ${name} back`,
  release: "Release",
  /** @param {string} name */
  releaseOf: (name) => `Release the name ${name}`,
  newcomer: "Newcomer, or who comes back",
  letJoin: "Let join",

  // a result
  correct: "Correct",
  /** @param {number} number */
  correctOf: (number) => `Correct game ${number}`,
  correction: "Correct a result",
  game: "Game",
  score: (name) => `Score of ${name}`,
  first: "who began",
  second: "the other",
  again: "Void: play it again",
  reallyAgain: "Void: sure?",

  // byes and pairs
  arranged: "Byes and pairs",
  entrant: "Entrant",
  round: "round",
  giveBye: "Give half a point a game",
  with: "meets",
  pair: "Pair in the next round",
  takeBack: "Take back",
  /** @param {string} names @param {number} round */
  takeBackOf: (names, round) => `Take back ${names} in round ${round}`,
};

// All that the page says in Polish.

import { game } from "./texts_pl_game.js";
import { lists } from "./texts_pl_lists.js";
import { play } from "./texts_pl_play.js";
import { review } from "./texts_pl_review.js";

export const texts = { ...lists, ...game, ...review, ...play };

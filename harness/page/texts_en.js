// All that the page says in English.

import { game } from "./texts_en_game.js";
import { lists } from "./texts_en_lists.js";
import { play } from "./texts_en_play.js";
import { review } from "./texts_en_review.js";

export const texts = { ...lists, ...game, ...review, ...play };

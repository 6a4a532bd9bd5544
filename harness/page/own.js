// One's own screen: the code that lets a browser in, and the game that is on.

import { h } from "./dom.js";
import { GameView } from "./game_view.js";
import { Trouble, ask, enter } from "./server.js";
import { texts } from "./texts.js";

const LOOK_MS = 1000, STAYS_MS = 6000;

/** Asks for the code; the page begins anew once it is right. */
export class CodeEntry extends HTMLElement {
  connectedCallback() {
    const wrong = h("p", { id: "wrong", class: "banner", role: "alert", hidden: true });
    const field = h("input", {
      id: "code", name: "code", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", maxlength: 12,
      required: true, "aria-describedby": "wrong",
    });
    const send = async (/** @type {Event} */ event) => {
      event.preventDefault();
      try {
        await enter(field.value.replace(/\s/g, ""));
        location.reload();
      } catch (error) {
        if (!(error instanceof Trouble)) throw error;
        wrong.hidden = false;
        wrong.textContent = error.message;
        field.select();
      }
    };
    this.replaceChildren(
      h("h1", {}, texts.codeTitle),
      h("p", {}, texts.codeWhy),
      wrong,
      h("form", { class: "code", submit: send },
        h("label", { for: "code" }, texts.code), field, h("button", {}, texts.enter)));
    field.focus();
  }
}

/** Shows the game that is on, or the last, and goes on to the next a while after its end. */
export class NowView extends HTMLElement {
  constructor() {
    super();
    this.heading = texts.now;
    this.timer = 0;
    this.overSince = 0;
    /** @type {GameView | null} */
    this.view = null;
  }

  connectedCallback() {
    this.look();
  }

  disconnectedCallback() {
    clearTimeout(this.timer);
  }

  async look() {
    clearTimeout(this.timer);
    if (!this.stays()) {
      try {
        const { on, past } = await ask("api/games");
        if (!this.isConnected) return;
        this.open((on[0] ?? past[0])?.game);
      } catch (error) {
        if (!(error instanceof Trouble)) throw error;
        if (!this.view) this.replaceChildren(h("h1", {}, texts.triesAgain(error.message)));
      }
    }
    if (this.isConnected) this.timer = setTimeout(() => this.look(), LOOK_MS);
  }

  /** Whether the game that is shown is on, has just ended or failed, or is looked through. */
  stays() {
    if (!this.view) return false;
    const isLeft = this.view.hasFailed || (this.view.game?.over && this.view.turn === null);
    this.overSince = isLeft ? this.overSince || performance.now() : 0;
    return !isLeft || performance.now() - this.overSince < STAYS_MS;
  }

  /** @param {string | undefined} game */
  open(game) {
    if (game && game !== this.view?.id_) {
      this.view = new GameView();
      this.view.hasAddress = false;
      this.overSince = 0;
      const hadFocus = this.contains(document.activeElement);
      this.replaceChildren(this.view);
      if (hadFocus) this.parentElement?.focus({ preventScroll: true }); // it was on the game before
      this.view.open(game, null);
    } else if (!this.view) {
      this.replaceChildren(h("h1", {}, texts.now), h("p", { class: "note" }, texts.noneNow));
    }
  }
}

customElements.define("code-entry", CodeEntry);
customElements.define("now-view", NowView);

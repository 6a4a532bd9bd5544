// Short sounds of one's own game, off until they are wished for. The browser makes them: nothing is loaded.

import { h } from "./dom.js";
import { inBrowser } from "./kept.js";
import { playTexts } from "./play_texts.js";

/** Notes one after another: hertz and seconds. @satisfies {Record<string, [number, number][]>} */
const NOTES = { move: [[520, 0.08]], low: [[880, 0.12], [880, 0.12]], over: [[520, 0.12], [660, 0.12], [780, 0.25]] };
const LOUDNESS = 0.15, SILENCE = 0.001;

/** @type {AudioContext | null} */
let context = null;

/** Say by a sound what happens, if that is wished for. @param {keyof typeof NOTES} what */
export const sound = (what) => {
  if (!inBrowser.get("sounds") || !globalThis.AudioContext) return;
  context ??= new AudioContext();
  let at = context.currentTime;
  for (const [hertz, seconds] of NOTES[what]) {
    const tone = new OscillatorNode(context, { frequency: hertz }), volume = new GainNode(context, { gain: LOUDNESS });
    volume.gain.setValueAtTime(LOUDNESS, at);
    volume.gain.exponentialRampToValueAtTime(SILENCE, at + seconds); // one that ends at once clicks
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at += seconds);
  }
};

/** A button that turns sounds on, and makes one, or off. */
export const soundButton = () => {
  const show = () => made.setAttribute("aria-pressed", String(Boolean(inBrowser.get("sounds"))));
  const made = h("button", { type: "button", hidden: !globalThis.AudioContext, click: () => {
    inBrowser.set("sounds", inBrowser.get("sounds") ? null : true);
    show();
    sound("move");
  } }, playTexts.sounds);
  show();
  return made;
};

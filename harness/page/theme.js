// The colours that were chosen, before anything is drawn: a module would come too late, and the page would flash.

{
  const dark = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]).find((rule) =>
    rule instanceof CSSMediaRule && rule.media.mediaText.includes("prefers-color-scheme"));
  const usual = dark instanceof CSSMediaRule ? dark.media.mediaText : "";

  /** @param {unknown} chosen "light", "dark", or else as the system has it */
  const paint = (chosen) => {
    document.documentElement.style.colorScheme = chosen === "light" || chosen === "dark" ? chosen : "";
    if (dark instanceof CSSMediaRule) dark.media.mediaText = chosen === "dark" ? "all" : chosen === "light" ? "not all" : usual;
  };
  const kept = () => {
    try {
      paint(JSON.parse(localStorage.getItem("tilewire.theme") ?? "null"));
    } catch {} // nothing is kept in this browser
  };
  addEventListener("theme", (event) => paint(/** @type {CustomEvent} */ (event).detail));
  addEventListener("storage", kept); // another window chose
  kept();
}

// Says so where the page does not start: its browser is too old to read it, or a part was not loaded. A plain script
// in words that any browser reads.

(function () {
  var told = false;
  var tell = function () {
    var main = document.getElementById("main");
    if (told || !main || main.querySelector(":not(noscript)")) return;
    told = true;
    var said = document.createElement("p");
    said.setAttribute("role", "alert");
    said.textContent = /^pl/.test(navigator.language)
      ? "Strona się nie uruchomiła: przeglądarka jest dla niej za stara albo część strony się nie wczytała. Wczytaj ją ponownie, użyj przeglądarki z ostatnich trzech lat albo śledź partie programem: tilewire watch."
      : "The page did not start: this browser is too old for it, or a part was not loaded. Reload it, use a browser of the last three years, or follow games with the program: tilewire watch.";
    main.appendChild(said);
  };
  addEventListener("error", tell, true);
  addEventListener("unhandledrejection", tell);
  addEventListener("load", function () { if (!("noModule" in document.createElement("script"))) tell(); });
})();

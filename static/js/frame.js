// A preview in a frame: on a narrow place the desktop's page is drawn smaller, with all of it in sight.
(() => {
  "use strict";
  const WIDTH = 1040; // from 62rem on the annotator's page has two columns
  const fit = ([{ target, contentRect }]) =>
    target.style.setProperty("--scale", Math.min(1, contentRect.width / WIDTH));
  for (const screen of document.querySelectorAll(".preview .screen")) new ResizeObserver(fit).observe(screen);
})();

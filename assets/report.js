// Shows what is under the pointer in a figure, and hides a series by its entry in the legend.
"use strict";
(() => {
  // As far around a point, in pixels, its text is shown.
  const NEAR = 24;
  const box = document.body.appendChild(document.createElement("div"));
  let shown = null;

  function show(part, x, y) {
    shown?.classList.remove("on");
    part?.classList.add("on");
    shown = part;
    box.id = part ? "tip" : "";
    box.textContent = part?.dataset.text;
    const right = document.body.clientWidth - box.offsetWidth - 4;
    const above = y - box.offsetHeight - 12;
    box.style.left = `${Math.max(4, Math.min(x + 14, right))}px`;
    box.style.top = `${above < 0 ? y + 18 : above}px`;
  }

  function nearest(svg, x, y) {
    let [found, least] = [null, NEAR];
    for (const point of svg.querySelectorAll(".point[data-text], .failed")) {
      const area = point.getBoundingClientRect();
      const across = Math.max(area.left - x, 0, x - area.right);
      const far = Math.hypot(across, Math.max(area.top - y, 0, y - area.bottom));
      if (area.width > 0 && far < least) {
        [found, least] = [point, far];
      }
    }
    return found;
  }

  function move({ target, clientX: x, clientY: y }) {
    const svg = target.closest("svg");
    const own = target.closest("[data-text]");
    const near = svg && (!own || own.matches(".lane")) ? nearest(svg, x, y) : null;
    show(near ?? own, x, y);
  }

  function press(event) {
    const entry = event.target.closest(".entry");
    if (entry && (event.type === "click" || event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      const isShown = entry.ariaPressed === "false";
      const series = `[data-series="${entry.parentNode.dataset.series}"]`;
      for (const part of event.currentTarget.querySelectorAll(series)) {
        const own = part.querySelector(".entry");
        own?.setAttribute("aria-pressed", isShown);
        part.classList.toggle("off", !own && !isShown);
      }
    }
  }

  for (const title of document.querySelectorAll("figure svg title")) {
    const part = title.parentNode;
    part.setAttribute("aria-label", title.textContent);
    if (part.matches("svg")) {
      // An image has no buttons in it.
      part.setAttribute("role", "group");
    } else {
      part.dataset.text = title.textContent;
    }
    if (part.matches(".entry")) {
      part.setAttribute("role", "button");
      part.setAttribute("tabindex", 0);
      part.setAttribute("aria-pressed", true);
    }
    title.remove();
  }
  for (const figure of document.querySelectorAll("figure")) {
    for (const kind of ["click", "keydown"]) {
      figure.addEventListener(kind, press);
    }
    for (const kind of ["pointermove", "pointerdown"]) {
      figure.addEventListener(kind, move);
    }
    figure.addEventListener("pointerleave", () => show(null));
  }
  addEventListener("scroll", () => show(null), true);
})();

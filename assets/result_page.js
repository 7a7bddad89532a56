// Opens the viewer of a result with the sessions of this page; without it the page shows the report that it has.
"use strict";
const root = document.documentElement;
const nonce = document.currentScript.nonce;
// The address of the page with #report shows the report alone, with #kernels or another name that screen.
const place = location.hash.slice(1);
const opens = place !== "report";
if (opens) {
  root.className = "opening";
}

function powerband_failed(reason) {
  root.className = "failed";
  root.dataset.reason = reason;
  document.getElementById("powerband-said").textContent =
    "The screens of this result cannot be shown: " + reason + " Below is its report.";
}

function powerband_screen_text(text) {
  document.getElementById("powerband-screen").textContent = text;
}

// Five characters are four bytes: digits to the base of 85, whose codes begin at 40; "!" stands for "<".
function bytesOf(id) {
  const element = document.getElementById(id);
  const text = element.textContent;
  const view = new DataView(new ArrayBuffer((text.length / 5) * 4));
  for (let from = 0; from < text.length; from += 5) {
    let value = 0;
    for (let at = from; at < from + 5; at++) {
      const code = text.charCodeAt(at);
      value = value * 85 + (code === 33 ? 20 : code - 40);
    }
    view.setUint32((from / 5) * 4, value);
  }
  return new Uint8Array(view.buffer, 0, Number(element.dataset.length));
}

function unpacked(id, type) {
  const stream = new Blob([bytesOf(id)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream, { headers: { "Content-Type": type } });
}

// The viewer goes on with the context that was made here. Its edges are smooth already: smoothed once more, a frame
// took twice as long without a graphics card.
function canDraw(canvas) {
  const options = { alpha: false, antialias: false, depth: false, stencil: false };
  return Boolean(canvas.getContext("webgl2", options) || canvas.getContext("webgl", options));
}

async function openViewer() {
  if (document.getElementById("powerband-end") === null) {
    return powerband_failed("this file is incomplete; copy it again.");
  }
  if (typeof WebAssembly !== "object" || typeof DecompressionStream !== "function") {
    return powerband_failed("this browser has no WebAssembly, or cannot unpack it.");
  }
  const canvas = document.getElementById("powerband-canvas");
  if (!canDraw(canvas)) {
    return powerband_failed("this browser has no WebGL.");
  }
  const script = document.createElement("script");
  script.nonce = nonce;
  script.textContent = await unpacked("powerband-script", "text/javascript").text();
  document.head.append(script);
  await wasm_bindgen({ module_or_path: unpacked("powerband-program", "application/wasm") });
  await wasm_bindgen.show(canvas, bytesOf("powerband-sessions"), place);
  if (root.className !== "failed") {
    root.className = "viewing";
    root.dataset.opened = Math.round(performance.now());
  }
}

if (opens) {
  document.addEventListener("DOMContentLoaded", () => {
    openViewer().catch((error) => {
      const isOld = typeof WebAssembly === "object" && error instanceof WebAssembly.CompileError;
      powerband_failed(isOld ? "this browser's WebAssembly has no vector instructions; newer ones have." : error + ".");
    });
  });
}

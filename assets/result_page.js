// Opens the viewer of a result with the sessions of this page; without it the page shows the report that it has.
"use strict";
const root = document.documentElement;
const nonce = document.currentScript.nonce;
// The address of the page with #report shows the report alone.
const opens = location.hash !== "#report";
if (opens) {
  root.className = "opening";
}

function powerband_failed(reason) {
  root.className = "failed";
  root.dataset.reason = reason;
  document.getElementById("powerband-said").textContent =
    "The screens of this result cannot be shown: " + reason + " Below is its report.";
}

function bytesOf(id) {
  const text = atob(document.getElementById(id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) {
    bytes[place] = text.charCodeAt(place);
  }
  return bytes;
}

function unpacked(id, type) {
  const stream = new Blob([bytesOf(id)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream, { headers: { "Content-Type": type } });
}

function hasWebGl() {
  const canvas = document.createElement("canvas");
  return Boolean(canvas.getContext("webgl2") || canvas.getContext("webgl"));
}

async function openViewer() {
  if (document.getElementById("powerband-end") === null) {
    return powerband_failed("this file is incomplete; copy it again.");
  }
  if (typeof WebAssembly !== "object" || typeof DecompressionStream !== "function") {
    return powerband_failed("this browser has no WebAssembly, or cannot unpack it.");
  }
  if (!hasWebGl()) {
    return powerband_failed("this browser has no WebGL.");
  }
  const script = document.createElement("script");
  script.nonce = nonce;
  script.textContent = await unpacked("powerband-script", "text/javascript").text();
  document.head.append(script);
  await wasm_bindgen({ module_or_path: unpacked("powerband-program", "application/wasm") });
  const canvas = document.getElementById("powerband-canvas");
  await wasm_bindgen.show(canvas, bytesOf("powerband-sessions"));
  if (root.className !== "failed") {
    root.className = "viewing";
    root.dataset.opened = Math.round(performance.now());
  }
}

if (opens) {
  document.addEventListener("DOMContentLoaded", () => {
    openViewer().catch((error) => powerband_failed(String(error) + "."));
  });
}

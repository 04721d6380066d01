// Owners' pages: figures that renew themselves while somebody looks, and buttons that copy.
"use strict";

document.documentElement.classList.add("js");

const EVERY = 5000; // ms
let failures = 0;

// What stays the same of an element where somebody is by keyboard.
const place = (one) => one.getAttribute("href") || one.id || one.textContent;

async function renew() {
  const part = document.querySelector("[data-live]");
  if (!part || document.hidden) return;
  try {
    const answer = await fetch(part.dataset.live, { headers: { "X-Qrowd": "fragment" }, credentials: "same-origin" });
    if (answer.status === 403 || answer.status === 404) { location.reload(); return; }
    if (!answer.ok) throw new Error(String(answer.status));
    const fresh = document.createElement("template");
    fresh.innerHTML = await answer.text(); // our own page, every text escaped by the server
    const next = fresh.content.querySelector("[data-live]");
    if (next.dataset.status !== part.dataset.status) { location.reload(); return; } // the buttons above differ then
    failures = 0;
    const folds = [...part.querySelectorAll("details")].map((one) => one.open);
    next.querySelectorAll("details").forEach((one, i) => { one.open = folds[i] ?? one.open; });
    if (next.innerHTML === part.innerHTML) return;
    const focused = part.contains(document.activeElement) && place(document.activeElement);
    const moved = [...part.querySelectorAll(".scroller")].map((one) => one.scrollLeft);
    part.replaceWith(next);
    next.querySelectorAll(".scroller").forEach((one, i) => { one.scrollLeft = moved[i] || 0; });
    if (focused) [...next.querySelectorAll("a, summary, [tabindex]")].find((one) => place(one) === focused)?.focus({ preventScroll: true });
  } catch {
    failures += 1;
  }
}

let timer = 0;
function plan() {
  clearTimeout(timer);
  if (document.hidden || !document.querySelector("[data-live]")) return;
  timer = setTimeout(async () => { await renew(); plan(); }, EVERY * Math.min(1 + failures, 12));
}
document.addEventListener("visibilitychange", async () => { if (!document.hidden) await renew(); plan(); });
plan();

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const from = document.getElementById(button.dataset.copy);
  const told = button.closest(".panel").querySelector("[data-copied]");
  from.select();
  try {
    await navigator.clipboard.writeText(from.value.trim());
    if (told) told.textContent = document.getElementById("main").dataset.copiedText;
  } catch {
    if (told) told.textContent = document.getElementById("main").dataset.selectedText;
  }
});

// Freshens what the page shows: texts alone, never markup. Without it, all works by
// forms, and a page about something that runs is loaded anew now and then.
"use strict";
const live = document.querySelector("[data-events]");
if (live) {
  const source = new EventSource(live.dataset.events);
  source.onmessage = (event) => {
    const now = JSON.parse(event.data);
    if (now.over || now.state !== live.dataset.state && live.dataset.state) {
      source.close();
      location.reload();
      return;
    }
    for (const [name, text] of Object.entries(now.text || {})) {
      const place = live.querySelector(`[data-text="${name}"]`);
      if (place && place.textContent !== text) place.textContent = text;
    }
    const bar = live.querySelector("[data-percent]");
    if (bar && now.percent >= 0) bar.value = now.percent;
    else if (bar) bar.removeAttribute("value");
    const curve = live.querySelector("[data-curve]");
    if (curve) curve.setAttribute("points", now.curve);
  };
}
const form = document.querySelector("form[data-command]");
if (form) {
  form.addEventListener("input", async () => {
    const body = new URLSearchParams(new FormData(form));
    body.set("show", "1");
    const answer = await fetch(form.dataset.command, { method: "POST", body, headers: { Accept: "application/json" } });
    if (answer.ok && answer.headers.get("Content-Type").startsWith("application/json")) document.getElementById("command").textContent = (await answer.json()).command;
  });
}

// The judging pages, faster: answers go by fetch, single keys choose, nothing typed is lost. All of it works without.
"use strict";
(() => {
  const root = document.documentElement;
  const live = document.getElementById("live");
  const elsewhere = document.getElementById("elsewhere");
  const main = () => document.getElementById("main");
  const all = (what, within = main()) => [...within.querySelectorAll(what)];
  const one = (what, within = main()) => within.querySelector(what);
  root.classList.add("js");
  const texts = JSON.parse(live.dataset.texts); // in the language of the page
  const text_of = (name, values = {}) => texts[name].replace(/%\((\w+)\)s/g, (_, key) => values[key]);
  const number = (n) => n.toLocaleString(root.lang || []);

  // ---- what is remembered: switches for ever, typed text until it is sent

  const memory = (store) => ({
    get: (name) => { try { return store().getItem(`qrowd:${name}`); } catch { return null; } },
    set: (name, value) => { try { store().setItem(`qrowd:${name}`, value); } catch { /* private mode */ } },
    drop: (name) => { try { store().removeItem(`qrowd:${name}`); } catch { /* private mode */ } },
  });
  const forever = memory(() => localStorage);
  const session = memory(() => sessionStorage);
  const on = { keys: forever.get("keys") !== "off", marks: forever.get("marks") !== "off", swift: forever.get("swift") === "on" };
  const turn = (name, state) => { on[name] = state; forever.set(name, state ? "on" : "off"); show_switches(); };
  const show_switches = () => {
    root.classList.toggle("keys-off", !on.keys);
    root.classList.toggle("marks-off", !on.marks);
    all("[data-marks]").forEach((button) => button.setAttribute("aria-pressed", on.marks));
    all("[data-switch]").forEach((box) => { box.checked = on[box.dataset.switch]; });
  };

  const say = (text) => { live.textContent = ""; setTimeout(() => { live.textContent = text; }, 50); };
  const status = (text) => all("[data-status]").forEach((place) => { place.textContent = text; });
  const clock = (date) => date.toLocaleTimeString(root.lang || [], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

  // ---- active time: while the page is in front

  let active = 0, since = null;
  const in_front = () => document.visibilityState === "visible" && document.hasFocus();
  const tick = () => {
    const now = performance.now();
    if (since !== null) active += now - since;
    since = in_front() ? now : null;
  };
  addEventListener("focus", tick);
  addEventListener("blur", tick);
  document.addEventListener("visibilitychange", tick);

  // ---- typed text: mirrored here at once, on the server every two seconds

  let served = "", drafted = "", dirty = false; // what the page came with, what the server's draft holds
  const place = () => { // one document's words are never another's, though both belong to one unit
    const fields = one("form[data-draft], form[data-mirror]")?.elements;
    return `${main().dataset.shown} ${main().dataset.view} ${fields?.position?.value ?? ""}`;
  };
  const typed = () => {
    const form = one("form[data-draft], form[data-mirror]");
    if (!form) return null;
    const fields = {};
    for (const [name, value] of new FormData(form)) if (!["csrf", "shown", "key", "do", "position"].includes(name)) fields[name] = value;
    return { form, fields, text: JSON.stringify(fields) };
  };
  const mirror = () => {
    const now = typed();
    if (!now) return;
    dirty = now.text !== drafted;
    if (now.text === served) session.drop(place());
    else session.set(place(), now.text);
  };
  const unfold = (field) => { const fold = field.closest("details.reason"); if (fold) fold.open = true; };
  const restore = () => {
    const kept = session.get(place()), now = typed();
    if (!kept || !now) return;
    let fields;
    try { fields = JSON.parse(kept); } catch { return; }
    for (const [name, value] of Object.entries(fields)) {
      const field = now.form.elements[name];
      if (field) field.value = value; // a radio group takes a value too
      if (value && field?.closest) unfold(field);
    }
  };
  const save_draft = (last) => {
    const now = typed();
    if (!now || !dirty || sending || !now.form.matches("[data-draft]")) return Promise.resolve();
    const body = new URLSearchParams();
    for (const name of ["csrf", "shown", "position"]) body.set(name, now.form.elements[name].value);
    body.set("text", now.fields.text || "");
    body.set("reason", now.fields.reason || "");
    const headers = { "X-Qrowd": "draft" };
    return fetch(`${main().dataset.base}/draft`, { method: "POST", body, headers, keepalive: Boolean(last) }).then((reply) => {
      if (!reply.ok) return;
      drafted = now.text;
      mirror();
      if (!dirty && !sending) status(text_of("draft_saved", { time: clock(new Date()) }));
    }, () => {});
  };
  setInterval(save_draft, 2000);
  addEventListener("pagehide", () => save_draft(true));
  addEventListener("beforeunload", (event) => { if (sending || (dirty && typed()?.form.matches("[data-draft]"))) event.preventDefault(); });

  // ---- sending

  let sending = null; // the answer under way; while there is one, no other starts
  let looking = null; // the context was opened and the server is told so; an answer waits for it
  const lock = (locked, pressed) => {
    all("button[type=submit], button:not([type])").forEach((button) => {
      if (locked && !button.disabled) { button.disabled = true; button.dataset.locked = ""; button.setAttribute("aria-busy", button === pressed); }
      if (!locked && "locked" in button.dataset) { button.disabled = false; delete button.dataset.locked; button.removeAttribute("aria-busy"); }
    });
    if (!locked) freeze(false);
  };
  const freeze = (frozen) => { // an answer that waits is sent as it was
    all("form[data-draft] input:not([type=hidden]), form[data-mirror] textarea").forEach((input) => {
      if (input.type === "radio") input.disabled = frozen && !input.checked;
      else input.readOnly = frozen;
    });
  };
  const problem = (text, field = "", again = null, label = text_of("try_again")) => {
    clear_problems();
    const beside = field && one(`[data-problem-of="${CSS.escape(field)}"]`);
    if (beside) {
      beside.textContent = text;
      const input = one(`[name="${CSS.escape(field)}"]:not([type=hidden])`);
      if (input) { if (input.type !== "radio") input.setAttribute("aria-invalid", "true"); unfold(input); input.focus(); }
      return say(text);
    }
    const box = one("[data-problem]");
    one("p", box).textContent = text;
    box.hidden = false;
    if (again) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.addEventListener("click", again);
      box.append(button);
      button.focus();
    }
  };
  const clear_problems = () => {
    all("[data-problem-of]").forEach((place) => { place.textContent = ""; });
    all("[aria-invalid]").forEach((input) => input.removeAttribute("aria-invalid"));
    const box = one("[data-problem]");
    if (box) { box.hidden = true; all("button", box).forEach((button) => button.remove()); }
  };
  const leave = () => { sending = null; dirty = false; location.assign(main().dataset.base); };

  const submit = async (form, button) => {
    if (looking) await looking;
    if (sending || !form.isConnected) return;
    tick();
    const body = new URLSearchParams(new FormData(form, button));
    body.set("active", (active / 1000).toFixed(2));
    const hand_in = body.get("do") === "go_on" && form.matches("[data-draft]") && typed().text !== served;
    if (hand_in) body.set("do", "judge"); // first what was changed here, then the whole
    sending = { body, action: form.action, pressed: button, tries: 0, place: form.matches("[data-move]") ? null : place(), hand_in };
    if (form.matches("[data-move]")) { const held = sending; sending = null; await save_draft(); sending = held; }
    clear_problems();
    lock(true, button);
    send();
  };

  const send = async () => {
    const mine = sending;
    if (!mine) return;
    clearTimeout(mine.timer);
    mine.timer = null;
    const slow = setTimeout(() => status(text_of("saving")), 1000);
    const undo = () => { clearTimeout(slow); sending = null; lock(false); status(""); };
    let reply, text;
    try {
      reply = await fetch(mine.action, { method: "POST", body: mine.body, headers: { "X-Qrowd": "fragment" } });
      text = await reply.text();
    } catch {
      clearTimeout(slow);
      return later(mine, text_of("offline"));
    }
    clearTimeout(slow);
    if (reply.ok) {
      const next = new DOMParser().parseFromString(text, "text/html").getElementById("main"); // scripts in it never run
      if (!next) return leave();
      sending = null;
      if (mine.place !== null) session.drop(mine.place);
      swap(next);
      if (mine.body.get("do") === "bad") offer_undo(mine.body.get("side"));
      if (mine.hand_in) one("[data-hand-in]")?.click();
      return;
    }
    let said = {};
    try { said = JSON.parse(text); } catch { /* a page, not a problem: say it in our words */ }
    if (reply.status === 429) {
      return later(mine, said.message || text_of("slower"), Number(reply.headers.get("Retry-After")) || 5);
    }
    if (reply.status >= 500) {
      status("");
      lock(false);
      sending = null;
      const again = () => { clear_problems(); sending = mine; lock(true, mine.pressed); send(); };
      return problem(text_of(said.reference ? "not_saved_reference" : "not_saved", said), "", again);
    }
    undo();
    if (reply.status === 409) return problem(said.message || text_of("moved_on"), "", leave, text_of("go_there"));
    if (reply.status === 401 || reply.status === 403) return problem(said.message || text_of("signed_out"));
    problem(said.message || text_of("not_used"), said.field || "");
  };

  const later = (mine, text, seconds) => {
    if (mine.tries === 0) { problem(text); say(text); freeze(true); }
    const wait = seconds || Math.min(30, 2 ** mine.tries);
    mine.tries += 1;
    status(text_of("not_sent"));
    mine.timer = setTimeout(send, wait * 1000);
  };
  addEventListener("online", () => { if (sending?.timer) send(); });

  // ---- the next page in place of the last

  const swap = (next) => {
    const old = main(), same_kind = old.dataset.view === "pair" && next.dataset.view === "pair";
    const kept = same_kind ? ["left", "right"].filter((side) => ![side, "both"].includes(next.dataset.new)) : [];
    const places = kept.map((side) => [side, one(`#${side} .scroll`, old).scrollTop]);
    const tab = same_kind && one(".panes", old).dataset.tab;
    const announce = next.dataset.announce;
    old.replaceWith(document.adoptNode(next));
    if (!same_kind) scrollTo(0, 0);
    arrive();
    for (const [side, top] of places) one(`#${side} .scroll`).scrollTop = top;
    if (same_kind) {
      const fresh = ["left", "right"].filter((side) => !kept.includes(side));
      fresh.forEach((side) => one(`#${side}`).classList.add("fresh"));
      show_tab(fresh.length === 1 ? fresh[0] : tab);
      if (matchMedia("(max-width: 63.99rem)").matches) scrollTo(0, 0);
    }
    const start = one("[data-focus]");
    if (start) start.focus({ preventScroll: true });
    say(announce);
    status(text_of("saved", { time: clock(new Date()) }));
  };

  const offer_undo = (side) => {
    const undo = one("button[form=undo]");
    if (!undo) return;
    const box = document.createElement("div"), text = document.createElement("p"), button = document.createElement("button");
    box.className = "toast";
    text.textContent = text_of(side === "left" ? "removed_left" : "removed_right");
    button.type = "button";
    button.innerHTML = "<span></span> <kbd>Z</kbd>";
    button.firstChild.textContent = text_of("undo");
    button.addEventListener("click", () => undo.click());
    box.append(text, button);
    root.style.setProperty("--bar", `${one(".bar").offsetHeight}px`);
    main().append(box);
    say(`${main().dataset.announce} ${text.textContent} ${text_of("undo_key")}`);
    const gone = () => { if (box.matches(":hover, :focus-within")) setTimeout(gone, 2000); else box.remove(); };
    setTimeout(gone, 6000);
  };

  const measure = () => {
    const head = one(".head");
    if (head) root.style.setProperty("--head", `${head.offsetHeight}px`);
    const bar = one(".bar");
    root.style.setProperty("--bar", `${bar?.offsetHeight || 0}px`);
  };

  const arrive = () => {
    document.title = main().dataset.title;
    active = 0;
    since = in_front() ? performance.now() : null;
    served = drafted = typed()?.text || "";
    restore();
    mirror();
    show_switches();
    measure();
    all("time[data-local]").forEach((time) => { time.textContent = clock(new Date(time.dateTime)); });
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.matches("[data-plain]") || !main().contains(form)) return;
    event.preventDefault();
    submit(form, event.submitter);
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-find]")) return find(event.target.value);
    if (event.target.matches("[data-switch]")) return turn(event.target.dataset.switch, event.target.checked);
    mirror();
  });
  document.addEventListener("click", (event) => {
    const hit = (what) => event.target.closest(what);
    if (hit("[data-marks]")) turn("marks", !on.marks);
    else if (hit("[data-help]")) one("#keys").showModal();
    else if (hit("[data-close]")) hit("dialog").close();
    else if (hit("[data-take-over]")) leave();
    else if (hit("[data-pause]")) { event.preventDefault(); save_draft().then(() => { dirty = false; location.assign(hit("[data-pause]").href); }); }
    else if (hit("[data-tab] [data-tab], a[data-tab]")) { event.preventDefault(); show_tab(hit("a[data-tab]").dataset.tab); }
    else if (hit("[data-copy]")) copy(hit("[data-copy]"));
    else all(".tools details[open]").forEach((fold) => { if (!fold.contains(event.target)) fold.open = false; });
  });
  const copy = async (button) => {
    try { await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent); button.textContent = text_of("copied"); say(button.textContent); } catch { getSelection().selectAllChildren(document.getElementById(button.dataset.copy)); }
  };
  const show_tab = (side) => {
    const panes = one(".panes");
    if (!panes) return;
    panes.dataset.tab = side;
    all("a[data-tab]").forEach((tab) => { if (tab.dataset.tab === side) tab.setAttribute("aria-current", "true"); else tab.removeAttribute("aria-current"); });
  };

  // ---- pairs: find in both, and the stored background, which is logged when first opened

  const find = (wanted) => {
    const ranges = [];
    for (const side of ["left", "right"]) {
      let n = 0;
      const walker = document.createTreeWalker(one(`#${side} .document`), NodeFilter.SHOW_TEXT);
      for (const needle = wanted.trim().toLowerCase(); needle && walker.nextNode();) {
        const node = walker.currentNode, text = node.data.toLowerCase();
        for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
          n += 1;
          if (text.length !== node.data.length) continue; // lower case of another length: count it, do not paint it
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, at + needle.length);
          ranges.push(range);
        }
      }
      one(`#${side} [data-found]`).textContent = wanted.trim() ? text_of("found", { n: number(n) }) : "";
    }
    if (window.Highlight) CSS.highlights.set("found", new Highlight(...ranges));
  };
  const look_up = async (fold, form) => {
    try {
      const reply = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { "X-Qrowd": "fragment" } });
      const next = reply.ok && new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("main");
      if (next && next.dataset.view === main().dataset.view) { // the page stays, its forms speak of the new state
        main().dataset.shown = next.dataset.shown;
        for (const name of ["csrf", "shown", "key"]) all(`input[name=${name}]`).forEach((input) => { input.value = one(`input[name=${name}]`, next).value; });
      }
    } catch { delete fold.dataset.logged; } finally { looking = null; }
  };
  document.addEventListener("toggle", (event) => { // also where it was closed again before this event came
    const fold = event.target, form = document.getElementById("context");
    if (fold.matches("details.reason")) { measure(); if (fold.open && !one("input", fold).value) one("input", fold).focus(); }
    if (!fold.matches("[data-context]") || !form || sending || "logged" in fold.dataset) return;
    fold.dataset.logged = "";
    looking = look_up(fold, form);
  }, true);

  // ---- single keys

  const types = (node) => node.matches("textarea, select, [contenteditable], input:not([type=radio], [type=checkbox], [type=button])");
  document.addEventListener("keydown", (event) => {
    const target = event.target instanceof Element ? event.target : document.body;
    if (event.key === "Escape") {
      all(".tools details[open]").forEach((fold) => { fold.open = false; one("summary", fold).focus(); });
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing || types(target) || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && !target.closest("button, a, summary, label")) {
      const button = one("[data-default]:not(:disabled)");
      if (button) { event.preventDefault(); button.click(); }
      return;
    }
    if (!on.keys) return;
    const key = event.key.toLowerCase(), arrow = key.startsWith("arrow");
    if (arrow && (target.matches("[type=radio]") || target.closest(".wide"))) return;
    const named = event.shiftKey && arrow ? `shift+${key}` : key;
    const hit = all("[data-keys]").find((node) => node.dataset.keys.split(" ").includes(named) && !node.disabled);
    if (hit) {
      event.preventDefault();
      if (hit.type === "radio") {
        hit.checked = true;
        hit.focus({ preventScroll: true });
        mirror();
        if (on.swift && hit.closest("[data-draft]")) one("[data-default]").click();
      } else if (hit.matches("input")) hit.focus();
      else hit.click();
      return;
    }
    const box = one("[data-digits]:not(:disabled)");
    if (box && /^[0-9.,]$/.test(event.key)) { box.focus(); box.select(); } // the digit itself lands in the box
  });

  // ---- one tab at a time: the newest has the task

  if (window.BroadcastChannel) {
    const channel = new BroadcastChannel(`qrowd ${main().dataset.base}`);
    channel.addEventListener("message", () => { if (!elsewhere.open) elsewhere.showModal(); });
    channel.postMessage("here");
    elsewhere.addEventListener("cancel", (event) => event.preventDefault());
  }
  arrive();
})();

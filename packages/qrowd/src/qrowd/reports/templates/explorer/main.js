// Reads the data, follows the choices, and shows the view.

const WAIT = 600; // milliseconds without a change before it is announced

function startedApp(data) {
  const app = {
    data,
    state: initialState(data),
    sort: { key: "rank", up: true },
    allSystems: false,
    allAssessors: false,
    narrow: false,
    next: "first",
  };
  let timer = null,
    saving = null;
  app.change = part => {
    [app.state] = changedState(data, app.state, part);
    update("topic" in part ? "topic" : "first" in part || "second" in part ? "pair" : "answer");
  };
  app.show = part => {
    Object.assign(app, part);
    renderSystems(app);
    renderPair(app);
  };
  // Systems are chosen in turn: A, then B.
  app.pick = system => {
    const name = data.systems[system],
      other = app.next === "first" ? app.view.second : app.view.first;
    if (app.next === "second" && system === other) return;
    const part = { [app.next]: name };
    if (system === other) part.second = data.systems[app.view.first];
    app.next = app.next === "first" ? "second" : "first";
    app.change(part);
  };
  app.goTo = (event, id) => {
    event.preventDefault();
    const target = document.querySelector(`#${id} [tabindex="-1"], #${id}[tabindex="-1"]`);
    target.scrollIntoView({ block: "start" });
    target.focus({ preventScroll: true });
  };
  app.link = () => `${location.href.split("#")[0]}#${fragmentOf(data, app.state)}`;
  const followControls = buildControls(app);
  function update(changed = "answer") {
    compute(app);
    followControls();
    renderAnswer(app);
    renderSystems(app);
    renderPair(app);
    renderTopic(app);
    clearTimeout(timer);
    timer = setTimeout(() => {
      document.getElementById("announcement").textContent = announcement(app, changed);
    }, WAIT);
    clearTimeout(saving);
    saving = setTimeout(() => history.replaceState(null, "", app.link()), 100);
  }
  app.restore = () => {
    const [state, unknown] = stateOfFragment(data, location.hash);
    app.state = state;
    tell(
      unknown.length ? `The link names what this page does not have, and that was ignored: ${listed(unknown)}.` : "",
    );
    update();
  };
  return app;
}

// What is shown of the state: the results, the order of systems, and the choices that follow them.
function compute(app) {
  const { data, state } = app,
    selection = selectionOf(data, state);
  const result = analysis(data, selection);
  const order = data.systems
    .map((_, s) => s)
    .sort((a, b) => (result.ranks[a] || Infinity) - (result.ranks[b] || Infinity) || a - b);
  const view = { selection, measure: data.measures[selection.measure], order };
  app.result = result;
  app.view = view;
  const compared = state.compared === null ? order[0] : state.compared;
  Object.assign(view, { empty: emptiness(app), compared, ...pairOf(order, result.ranks, state) });
  const next = order.find(s => result.ranks[s] > 1);
  view.lead = next === undefined ? null : differenceOf(data, selection, result, order[0], next);
  view.pair = differenceOf(data, selection, result, view.first, view.second);
  view.topic = shownTopic(view.pair, state.topic);
  app.rows = systemRows(app);
}

// A and B: as chosen, else the first of the ranking, and the first whose mean is another one.
function pairOf(order, ranks, { first, second }) {
  const a = first === null ? order.find(s => s !== second) : first;
  const others = order.filter(s => s !== a);
  return { first: a, second: second === null ? (others.find(s => ranks[s] !== ranks[a]) ?? others[0]) : second };
}

function shownTopic(pair, wanted) {
  if (pair.byTopic.some(one => one.topic === wanted)) return wanted;
  const largest = pair.byTopic.reduce(
    (most, one) => (!most || Math.abs(one.difference) > Math.abs(most.difference) ? one : most),
    null,
  );
  return largest ? largest.topic : null;
}

// One sentence on the part that has changed.
function announcement({ view }, changed) {
  const part = view.empty ? "answer" : changed;
  const heading = part === "topic" ? `${document.getElementById("topic-title").textContent}. ` : "";
  return heading + document.querySelector(part === "answer" ? "#headline" : `#${part} .say`).textContent;
}

function tell(problem) {
  const line = document.getElementById("problem");
  line.textContent = problem;
  line.hidden = !problem;
}

// ---------------------------------------------------------------------- for programs

function resultsOf({ data, view, result, rows }) {
  const systems = rows.map(({ system, mean, rank, difference, low, high, lowest, highest, bestRank, worstRank }) => ({
    system,
    mean,
    rank,
    difference,
    low,
    high,
    lowest,
    highest,
    best_rank: bestRank,
    worst_rank: worstRank,
  }));
  return {
    measure: view.measure.name,
    method: data.methods[view.selection.method].name,
    systems,
    n_topics: result.nTopics,
    n_assessors: result.nAssessors,
  };
}

function stateNames({ data, state, view }) {
  return {
    family: state.family,
    rel: state.rel,
    method: data.methods[state.method].name,
    assessors: data.assessors.filter((_, a) => state.assessors[a]),
    topics: data.topics.filter((_, t) => state.topics[t]),
    compared: data.systems[view.compared],
    first: data.systems[view.first],
    second: data.systems[view.second],
    topic: view.topic === null ? null : data.topics[view.topic],
  };
}

// ---------------------------------------------------------------------- the page

function renderAbout({ header }) {
  const pairs = Object.entries(header.conventions).map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value === null ? "–" : String(value))),
  );
  document.getElementById("about").replaceChildren(
    element("h2", { id: "about-title" }, "Data and conventions"),
    header.notes.length
      ? element(
          "ul",
          { class: "notes" },
          header.notes.map(note => element("li", {}, sentence(withMinus(note)))),
        )
      : "",
    element("dl", { class: "pairs" }, pairs),
    header.command ? element("pre", { tabindex: 0, "aria-label": "The command" }, header.command) : "",
    element(
      "p",
      { class: "small" },
      `Made by qrowd ${header.version}. Everything is in this file: nothing is loaded or sent.`,
    ),
  );
}

function followCopy(app) {
  document.getElementById("copy").addEventListener("click", async () => {
    const said = document.getElementById("copied"),
      box = document.getElementById("shown-link");
    history.replaceState(null, "", app.link());
    try {
      await navigator.clipboard.writeText(app.link());
      said.textContent = "Copied.";
      box.hidden = true;
    } catch {
      said.textContent = "Copy it from the field:";
      box.hidden = false;
      const field = document.getElementById("address");
      field.value = app.link();
      field.focus();
      field.select();
    }
    setTimeout(() => {
      said.textContent = "";
    }, 4000);
  });
}

// The choices are folded on narrow windows; on paper everything is unfolded, and all systems are there.
function followWindow(app) {
  const wide = matchMedia("(min-width: 60rem)"),
    choose = document.getElementById("choose");
  const fold = () => {
    choose.open = wide.matches;
    app.narrow = !wide.matches;
  };
  fold();
  wide.addEventListener("change", () => {
    fold();
    renderSystems(app);
  });
  addEventListener("hashchange", () => {
    if (location.hash.includes("=") || !location.hash) app.restore();
  });
  addEventListener("beforeprint", () => {
    app.show({ allSystems: true, allAssessors: true });
    document.querySelectorAll("main details").forEach(one => {
      one.open = true;
    });
  });
  document.getElementById("skip").addEventListener("click", event => app.goTo(event, "answer"));
}

async function main() {
  const loading = document.getElementById("loading");
  loading.hidden = false;
  try {
    const app = startedApp(await readPayload());
    renderAbout(app.data);
    followCopy(app);
    followWindow(app);
    app.restore();
    document.getElementById("page").hidden = false;
    window.qrowd.state = () => stateNames(app);
    window.qrowd.set = part => {
      app.change(part);
    };
    window.qrowd.results = () => resultsOf(app);
    window.qrowd.all = { assessors: app.data.assessors, topics: app.data.topics };
  } catch (error) {
    tell(`The page could not be shown: ${error.message}`);
    throw error;
  } finally {
    loading.hidden = true;
  }
}

window.qrowd = {};
window.qrowd.ready = main();

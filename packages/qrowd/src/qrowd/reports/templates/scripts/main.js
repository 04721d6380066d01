// Reads the data, follows the choices, and shows what they change. Choices that are null follow the scores: compared
// with the first system, the pair of the first and the second, the topic with the largest difference.

function startedView(data) {
  const view = {
    data,
    state: {
      measure: 0,
      method: 0,
      assessors: data.assessors.map(() => true),
      topics: data.topics.map(() => true),
      compared: null,
      first: null,
      second: null,
      topic: null,
    },
  };
  const followControls = buildControls(view);
  view.update = () => {
    compute(view);
    followControls();
    renderSystems(view);
    renderPair(view);
    renderTopic(view);
  };
  view.change = part => {
    Object.assign(view.state, part);
    view.update();
  };
  view.update();
  return view;
}

function numbersOf(flags) {
  return flags.flatMap((flag, i) => (flag ? [i] : []));
}

// What is shown of the state: the results, the order of systems, and the choices that follow them.
function compute(view) {
  const { data, state } = view;
  const { measure, method } = state;
  const selection = { measure, method, assessors: numbersOf(state.assessors), topics: numbersOf(state.topics) };
  const result = analysis(data, selection);
  const { ranks } = result;
  const order = data.systems
    .map((_, s) => s)
    .sort((a, b) => (ranks[a] || Infinity) - (ranks[b] || Infinity) || a - b);
  const next = order.find(s => ranks[s] > 1);
  const difference = (a, b) => (a === undefined || b === undefined ? null : differenceOf(data, selection, result, a, b));
  Object.assign(view, { selection, result, order, compared: state.compared ?? order[0] }, pairOf(order, ranks, state));
  view.empty = emptiness(view);
  view.lead = difference(order[0], next);
  view.pair = difference(view.first, view.second);
  view.topic = view.pair && shownTopic(view.pair, state.topic);
}

// A and B: as chosen, else the first of the ranking, and the first whose mean is another one.
function pairOf(order, ranks, { first, second }) {
  const a = first ?? order.find(s => s !== second);
  const others = order.filter(s => s !== a);
  return { first: a, second: second ?? others.find(s => ranks[s] !== ranks[a]) ?? others[0] };
}

function shownTopic(pair, wanted) {
  if (pair.byTopic.some(one => one.topic === wanted)) return wanted;
  const sizes = pair.byTopic.map(one => Math.abs(one.difference));
  return sizes.length ? pair.byTopic[sizes.indexOf(Math.max(...sizes))].topic : null;
}

async function main() {
  const view = startedView(await readData());
  for (const one of document.querySelectorAll("[data-needs-script]")) one.hidden = false;
  window.qrowd.change = view.change;
  window.qrowd.results = () => ({
    measure: view.data.measures[view.selection.measure].name,
    n_topics: view.result.nTopics,
    systems: systemRows(view),
  });
}

window.qrowd = {};
window.qrowd.ready = main();

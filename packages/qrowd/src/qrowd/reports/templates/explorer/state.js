// What is chosen, and its text in the fragment of the address. Choices that are null follow the scores: compared with
// the first system, the pair of the first and the second, the topic with the largest difference.

function initialState(data) {
  return {
    family: data.measures[0].family,
    rel: data.measures[0].rel,
    method: 0,
    assessors: data.assessors.map(() => true),
    topics: data.topics.map(() => true),
    compared: null,
    first: null,
    second: null,
    topic: null,
  };
}

function familiesOf(data) {
  return [...new Set(data.measures.map(measure => measure.family))];
}

function thresholdsOf(data, family) {
  return data.measures.filter(measure => measure.family === family).map(measure => measure.rel);
}

// The number of the measure with the family and threshold; with another threshold the first of the family.
function measureOf(data, state) {
  const exact = data.measures.findIndex(one => one.family === state.family && one.rel === state.rel);
  return exact >= 0 ? exact : data.measures.findIndex(one => one.family === state.family);
}

function numbersOf(flags) {
  return flags.flatMap((flag, i) => (flag ? [i] : []));
}

function selectionOf(data, state) {
  const assessors = numbersOf(state.assessors),
    topics = numbersOf(state.topics);
  return { measure: measureOf(data, state), method: state.method, assessors, topics };
}

// The state with some parts changed, which are given by name; what is unknown is left as it is and returned in words.
function changedState(data, state, part) {
  const next = { ...state },
    unknown = [];
  const numberOf = (names, name, noun) => {
    const at = names.indexOf(String(name));
    if (at < 0) unknown.push(`${noun} “${name}”`);
    return at;
  };
  if ("family" in part) {
    if (familiesOf(data).includes(part.family)) next.family = part.family;
    else unknown.push(`measure “${part.family}”`);
  }
  const thresholds = thresholdsOf(data, next.family);
  if ("rel" in part && !thresholds.includes(part.rel)) unknown.push(`threshold “${part.rel}”`);
  const wanted = "rel" in part ? part.rel : next.rel;
  next.rel = thresholds.includes(wanted) ? wanted : thresholds[0];
  if ("method" in part) {
    const at = numberOf(
      data.methods.map(method => method.name),
      part.method,
      "method",
    );
    if (at >= 0) next.method = at;
  }
  for (const [key, names, noun] of [
    ["assessors", data.assessors, "assessor"],
    ["topics", data.topics, "topic"],
  ]) {
    if (!(key in part)) continue;
    const chosen = new Set(part[key].map(name => numberOf(names, name, noun)));
    if (part[key].length === 0 || [...chosen].some(at => at >= 0)) next[key] = names.map((_, i) => chosen.has(i));
  }
  for (const [key, names] of [
    ["compared", data.systems],
    ["first", data.systems],
    ["second", data.systems],
    ["topic", data.topics],
  ]) {
    if (!(key in part)) continue;
    const at = part[key] === null ? null : numberOf(names, part[key], key === "topic" ? "topic" : "system");
    if (at !== -1) next[key] = at;
  }
  if (next.first !== null && next.first === next.second) next.second = null;
  return [next, unknown];
}

// ---------------------------------------------------------------------- the fragment

function encoded(name) {
  return encodeURIComponent(name).replace(/^-/, "%2D");
}

function fragmentOf(data, state) {
  const start = initialState(data),
    parts = [];
  if (state.family !== start.family || state.rel !== start.rel) {
    parts.push(`measure=${encoded(state.family)}`);
    if (state.rel !== null) parts.push(`rel=${state.rel}`);
  }
  if (state.method !== start.method) parts.push(`method=${encoded(data.methods[state.method].name)}`);
  for (const [key, names] of [
    ["assessors", data.assessors],
    ["topics", data.topics],
  ]) {
    const inside = names.filter((_, i) => state[key][i]),
      outside = names.filter((_, i) => !state[key][i]);
    if (!outside.length) continue;
    const shorter = inside.length <= outside.length ? inside.map(encoded) : outside.map(name => `-${encoded(name)}`);
    parts.push(`${key}=${shorter.join(",")}`);
  }
  if (state.compared !== null) parts.push(`compared=${encoded(data.systems[state.compared])}`);
  if (state.first !== null || state.second !== null) {
    parts.push(`pair=${[state.first, state.second].map(s => (s === null ? "" : encoded(data.systems[s]))).join(",")}`);
  }
  if (state.topic !== null) parts.push(`topic=${encoded(data.topics[state.topic])}`);
  return parts.join("&");
}

// The state that a fragment describes, and what it names that is not here.
function stateOfFragment(data, fragment) {
  const part = {},
    unreadable = [];
  for (const pair of fragment.replace(/^#/, "").split("&").filter(Boolean)) {
    const [key, value = ""] = pair.split("=", 2);
    try {
      if (key === "measure") part.family = decodeURIComponent(value);
      else if (key === "rel") part.rel = Number(value);
      else if (key === "method" || key === "compared" || key === "topic") part[key] = decodeURIComponent(value);
      else if (key === "assessors") part.assessors = namesOf(value, data.assessors, unreadable, "assessor");
      else if (key === "topics") part.topics = namesOf(value, data.topics, unreadable, "topic");
      else if (key === "pair") {
        const [first = "", second = ""] = value.split(",").map(decodeURIComponent);
        if (first) part.first = first;
        if (second) part.second = second;
      } else unreadable.push(`“${key}”`);
    } catch {
      unreadable.push(`“${pair}”`);
    }
  }
  const [state, unknown] = changedState(data, initialState(data), part);
  return [state, [...unreadable, ...unknown]];
}

// Names in a list, or all names but those in a list whose items begin with a minus.
function namesOf(value, names, unreadable, noun) {
  const items = value.split(",").filter(Boolean);
  const without = items.filter(item => item[0] === "-").map(item => decodeURIComponent(item.slice(1)));
  if (!without.length) return items.map(decodeURIComponent);
  unreadable.push(...without.filter(name => !names.includes(name)).map(name => `${noun} “${name}”`));
  return names.filter(name => !without.includes(name));
}

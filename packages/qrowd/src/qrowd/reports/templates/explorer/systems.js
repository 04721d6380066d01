// The headline and the table of systems.

const LONG = 24; // letters of a name that needs a wider column
const SHOWN = 15,
  FEW = 8; // systems in the table before all are asked for; on narrow windows

const COLUMNS = [
  { key: "rank", head: "rank", value: row => row.rank || NaN, text: row => String(row.rank || "–"), up: true },
  { key: "system", head: "system", value: row => row.label },
  { key: "mean", head: "mean", value: row => row.mean, text: row => number(row.mean) },
  { key: "picture" },
  {
    key: "difference",
    head: "difference",
    value: row => row.difference,
    text: row => (row.compared ? "" : signed(row.difference)),
  },
  {
    key: "interval",
    head: "interval",
    value: row => row.low,
    text: row => (row.compared || !isKnown(row.difference) ? "" : interval(row.low, row.high)),
  },
  {
    key: "lowest",
    head: "lowest assessor",
    brief: "lowest",
    value: row => row.lowest,
    text: row => number(row.lowest, 3),
  },
  {
    key: "highest",
    head: "highest assessor",
    brief: "highest",
    value: row => row.highest,
    text: row => number(row.highest, 3),
  },
  {
    key: "ranks",
    head: "ranks by assessors",
    brief: "ranks",
    value: row => row.bestRank,
    text: row => span(row.bestRank, row.worstRank),
    up: true,
  },
];

// One row for each system, best first.
function systemRows(app) {
  const { data, result, view } = app;
  const rows = view.order.map(s => {
    const against =
      view.compared === null || s === view.compared
        ? { mean: s === view.compared ? 0 : NaN, low: NaN, high: NaN }
        : differenceOf(data, view.selection, result, s, view.compared);
    return {
      number: s,
      system: data.systems[s],
      label: data.labels[s],
      compared: s === view.compared,
      mean: result.means[s],
      rank: result.ranks[s],
      difference: against.mean,
      low: against.low,
      high: against.high,
      lowest: result.lowest[s],
      highest: result.highest[s],
      bestRank: result.bestRank[s],
      worstRank: result.worstRank[s],
    };
  });
  return rows;
}

function sortedRows(rows, { key, up }) {
  const { value } = COLUMNS.find(column => column.key === key);
  const known = rows.filter(row => value(row) === value(row)),
    unknown = rows.filter(row => value(row) !== value(row));
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  return [...known.sort((a, b) => (up ? 1 : -1) * compare(value(a), value(b))), ...unknown];
}

// Why there is nothing to show, or an empty text.
function emptiness(app) {
  const { data, view, result } = app;
  if (!view.selection.topics.length) return "No topic is chosen. Choose one or more topics.";
  const merged = data.methods[view.selection.method].kind === "merged";
  if (!view.selection.assessors.length && !merged) return "No assessor is chosen. Choose one or more assessors.";
  if (!result.nTopics)
    return `No system has a score by ${view.measure.name} from the chosen assessors on the chosen topics.`;
  return "";
}

function panelText(app) {
  const { data, view, result } = app,
    method = data.methods[view.selection.method];
  if (method.kind === "merged") return `${method.label} (all ${counted(data.assessors.length, "assessor")})`;
  const mean = method.kind === "weights" ? `${method.label}, weighted mean` : "the mean";
  if (result.nAssessors > 1) return `${mean} of ${result.nAssessors} assessors`;
  const alone = view.selection.assessors.find((_, i) => result.own[i].some(isKnown));
  return `the assessor ${data.assessors[alone]}`;
}

// The sentence of the headline, in parts of which names may be elements.
function headlineParts(app) {
  const { data, view, result } = app;
  const empty = emptiness(app);
  if (empty) return [empty];
  const start = `By ${view.measure.name}, over ${counted(result.nTopics, "topic")} and ${panelText(app)}, `;
  const ties = view.order.filter(s => result.ranks[s] === 1),
    alone = ties.length === 1;
  const names =
    ties.length < 4
      ? ties.flatMap((s, i) => [i === 0 ? "" : i === ties.length - 1 ? " and " : ", ", nameOf(data, s)])
      : [`${ties.length} systems`];
  if (!view.lead)
    return [
      start,
      ...(alone ? ["only ", ...names, ` has a score: ${number(result.means[ties[0]])}.`] : [...names, " are equal."]),
    ];
  const { mean, low, high, second: next } = view.lead;
  const numbers = isKnown(mean)
    ? [`is ${number(mean, 3)} `, element("span", { class: "whole" }, isKnown(low) ? interval(low, high) : "")]
    : ["is not known: no topic has scores of both"];
  const place = `${shared(result.ranks, next) ? "shared " : ""}${ordinal(result.ranks[next])}`;
  return [
    start,
    ...names,
    alone ? " is first; its difference to " : " share the first place; their difference to ",
    nameOf(data, next),
    ` (${place}) `,
    ...numbers,
    ".",
  ];
}

function ordinal(rank) {
  const words = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
  return words[rank - 1] || `rank ${rank}`;
}

function shared(ranks, system) {
  return ranks.filter(rank => rank === ranks[system]).length > 1;
}

function certaintyText(app) {
  const { data, view, result } = app,
    confidence = percent(data.header.confidence);
  if (emptiness(app)) return "";
  const parts = [];
  const [first] = view.order,
    alone = !shared(result.ranks, first);
  if (view.lead && isKnown(view.lead.mean)) {
    if (!isKnown(view.lead.low)) parts.push("One topic gives no interval.");
    else if (excludesZero(view.lead)) parts.push(`The ${confidence} interval over topics excludes 0.`);
    else
      parts.push(
        `The ${confidence} interval over topics includes 0: it does not show ${alone ? "which of the two is better" : "that the first are better"}.`,
      );
  }
  const ranking = result.ownRanks.filter(row => row.some(isKnown));
  if (ranking.length > 1 && alone) {
    const n = ranking.filter(row => row[first] === 1).length;
    parts.push(
      `${data.labels[first]} is first for ${n || "none"} of ${counted(ranking.length, "assessor")}${n < ranking.length ? `, and the others rank it as low as ${result.worstRank[first]}` : ""}.`,
    );
  }
  const partial = view.order.filter(
    s => result.ranks[s] && result.byTopic.filter(row => isKnown(row[s])).length < result.nTopics,
  ).length;
  if (partial)
    parts.push(
      `${counted(partial, "system has", "systems have")} scores on fewer of these topics; the mean is then over those.`,
    );
  return parts.join(" ");
}

function leftOutText({ data, state }) {
  const parts = [
    ["assessors", data.assessors],
    ["topics", data.topics],
  ].flatMap(([key, names]) => {
    const out = names.filter((_, i) => !state[key][i]),
      left = names.filter((_, i) => state[key][i]);
    if (!out.length || !left.length) return [];
    if (left.length <= 3 && out.length > 5) return [`only ${key} ${listed(left)}`];
    return [`without ${key} ${listed(out, 8)}`];
  });
  return parts.length ? `${sentence(parts.join("; "))}` : "";
}

function renderAnswer(app) {
  document.getElementById("headline").replaceChildren(...headlineParts(app));
  document.getElementById("certainty").textContent = certaintyText(app);
  const leftOut = document.getElementById("left-out");
  leftOut.textContent = leftOutText(app);
  leftOut.hidden = !leftOut.textContent;
}

function renderSystems(app) {
  const { data, view, rows } = app,
    part = document.getElementById("systems");
  part.hidden = Boolean(view.empty);
  if (part.hidden) return;
  const compared = view.compared,
    comparedMean = app.result.means[compared];
  const most = app.narrow ? FEW : SHOWN;
  const shown = sortedRows(rows, app.sort).slice(0, app.allSystems ? rows.length : most);
  const scale = scaleOfSystems(view.measure, shown, comparedMean);
  const title = element("h2", { id: "systems-title" }, "Systems");
  const more =
    rows.length > most
      ? element(
          "button",
          {
            type: "button",
            class: "more",
            "data-key": "more",
            "aria-expanded": app.allSystems,
            on: { click: () => app.show({ allSystems: !app.allSystems }) },
          },
          app.allSystems ? `Show ${most} systems` : `Show all ${rows.length} systems`,
        )
      : null;
  rendered(
    part,
    title,
    pairHint(app),
    element("div", { class: "wide" }, systemTable(app, shown, scale, comparedMean)),
    more,
    element(
      "p",
      { class: "key" },
      element(
        "span",
        {},
        keyMark("dot"),
        "mean; the interval of its difference to ",
        nameOf(data, compared),
        " excludes 0 ",
      ),
      element("span", {}, keyMark("dot open"), "includes 0 "),
      element(
        "span",
        {},
        keyMark("line"),
        "interval of the difference, drawn from the mean of ",
        nameOf(data, compared),
        " (dashed line) ",
      ),
      element("span", {}, keyMark("band"), "lowest to highest assessor, cut at the edge"),
    ),
    element(
      "p",
      { class: "small" },
      `Intervals: ${percent(data.header.confidence)}, each difference by itself, t over topics; not corrected for several comparisons; the assessors are taken as fixed.`,
    ),
  );
}

// From the means and the intervals, as far as the measure goes.
function scaleOfSystems({ low, high }, rows, comparedMean) {
  const within = value => Math.min(Math.max(value, low ?? -Infinity), high ?? Infinity);
  const ends = rows.flatMap(row =>
    row.compared ? [row.mean] : [row.mean, comparedMean + row.low, comparedMean + row.high],
  );
  return scaleOf(
    [comparedMean, ...ends].map(within),
    5,
    rows.flatMap(row => [row.lowest, row.highest]),
  );
}

function keyMark(kind) {
  return element("i", { class: `mark ${kind}`, "aria-hidden": "true" });
}

function pairHint({ data, view, next, goTo }) {
  const letter = next === "first" ? "A" : "B";
  return element(
    "p",
    { class: "small hint" },
    "Press a system to compare two of them: the next is ",
    element("b", {}, letter),
    ". Now ",
    badge("A"),
    " ",
    nameOf(data, view.first),
    ", ",
    badge("B"),
    " ",
    nameOf(data, view.second),
    ": ",
    element(
      "a",
      { href: "#pair", "data-key": "to pair", on: { click: event => goTo(event, "pair") } },
      "see their difference",
    ),
    ".",
  );
}

function systemTable(app, shown, scale, comparedMean) {
  const heads = COLUMNS.map(column => {
    if (column.key === "picture")
      return element(
        "th",
        { role: "columnheader", scope: "col", class: "picture" },
        element("span", { class: "unseen" }, "picture of the mean"),
        axisPicture(scale),
      );
    const sorted = app.sort.key === column.key;
    const sort = () =>
      app.show({
        sort: { key: column.key, up: sorted ? !app.sort.up : Boolean(column.up || column.key === "system") },
      });
    return element(
      "th",
      {
        role: "columnheader",
        scope: "col",
        class: column.key,
        "aria-sort": sorted ? (app.sort.up ? "ascending" : "descending") : null,
      },
      element("button", { type: "button", "data-key": `sort ${column.key}`, on: { click: sort } }, column.head),
    );
  });
  const body = shown.map(row => {
    const letter = row.number === app.view.first ? "A" : row.number === app.view.second ? "B" : "";
    const cells = COLUMNS.map(({ key, brief, text }) => {
      if (key === "system") {
        return element(
          "th",
          { role: "rowheader", scope: "row", class: key },
          element(
            "button",
            { type: "button", "data-key": `system ${row.number}` },
            nameOf(app.data, row.number),
            letter ? badge(letter) : null,
          ),
        );
      }
      if (key === "picture")
        return element("td", { role: "cell", class: key }, systemPicture(scale, row, comparedMean));
      const content =
        row.compared && key === "interval" ? element("span", { class: "soft" }, "compared with") : text(row);
      return element("td", { role: "cell", class: key, "data-head": brief }, content);
    });
    return element(
      "tr",
      { role: "row", class: letter ? "chosen" : null, on: { click: () => app.pick(row.number) } },
      cells,
    );
  });
  const long = shown.some(row => row.label.length > LONG);
  return element(
    "table",
    { role: "table", class: long ? "systems long" : "systems" },
    element("caption", {}, `Systems by ${app.view.measure.name}`),
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, heads)),
    element("tbody", { role: "rowgroup" }, body),
  );
}

// Two systems, A and B: their difference over topics, by topic and by assessor.

const ENDS = 15; // assessors shown at each end of many, before all are asked for

function renderPair(app) {
  const { data, view } = app,
    part = document.getElementById("pair");
  part.hidden = Boolean(view.empty) || !view.pair;
  if (part.hidden) return;
  const { first, second, pair } = view;
  const title = element(
    "h2",
    { id: "pair-title", tabindex: -1 },
    badge("A"),
    " ",
    nameOf(data, first),
    " and ",
    badge("B"),
    " ",
    nameOf(data, second),
  );
  rendered(
    part,
    title,
    pairBoxes(app),
    element("p", { class: "say" }, pairText(app)),
    element("div", { class: "two" }, topicChart(app), assessorChart(app)),
  );
}

function pairBoxes(app) {
  const { data, view } = app;
  const box = (key, letter, other) => {
    const control = element(
      "select",
      {
        id: `pair-${key}`,
        "data-key": `pair ${key}`,
        on: { change: () => app.change({ [key]: data.systems[control.value] }) },
      },
      app.view.order.map(s => element("option", { value: s, disabled: s === view[other] }, data.labels[s])),
    );
    control.value = view[key];
    return element("p", { class: "field" }, element("label", { for: `pair-${key}` }, `System ${letter}`), control);
  };
  const swap = element(
    "button",
    {
      type: "button",
      "data-key": "swap",
      on: { click: () => app.change({ first: data.systems[view.second], second: data.systems[view.first] }) },
    },
    "Swap A and B",
  );
  return element("div", { class: "boxes" }, box("first", "A", "second"), box("second", "B", "first"), swap);
}

function pairText({ data, view }) {
  const { first, second, pair } = view;
  if (!pair.n) return "No topic has scores of both systems.";
  const ahead = pair.mean >= 0 ? first : second,
    behind = pair.mean >= 0 ? second : first,
    sign = pair.mean >= 0 ? 1 : -1;
  const [low, high] = sign > 0 ? [pair.low, pair.high] : [-pair.high, -pair.low];
  const verdict = isKnown(low)
    ? `${interval(low, high)}; the ${percent(data.header.confidence)} interval over topics ${excludesZero({ low, high }) ? "excludes" : "includes"} 0`
    : "(one topic: no interval)";
  const start =
    pair.mean === 0
      ? `${data.labels[first]} and ${data.labels[second]} are level ${verdict}.`
      : `${data.labels[ahead]} is ahead of ${data.labels[behind]} by ${number(Math.abs(pair.mean), 3)} ${verdict}.`;
  const wins = pair.byTopic.filter(one => one.difference > ROUNDING).length;
  const losses = pair.byTopic.filter(one => one.difference < -ROUNDING).length;
  const ties = pair.n - wins - losses;
  return `${start} A is ahead on ${counted(wins, "topic")}, B on ${losses}${ties ? `; on ${ties} they are equal` : ""}.`;
}

function topicText(app, { topic, first, second, difference }) {
  return `topic ${app.data.topics[topic]}: A ${number(first, 3)}, B ${number(second, 3)}, difference ${signed(difference)}`;
}

// The topics of the pair, from the largest difference for A to the largest for B.
function topicOrder(pair) {
  return pair.byTopic.slice().sort((a, b) => b.difference - a.difference || a.topic - b.topic);
}

function topicChart(app) {
  const bars = topicOrder(app.view.pair).map(one => ({ ...one, text: topicText(app, one) }));
  const readout = element("p", { class: "small readout", "aria-hidden": "true" });
  const chosen = bars.find(bar => bar.topic === app.view.topic);
  const show = text => {
    readout.textContent = text;
  };
  if (chosen) show(chosen.text);
  const largest = Math.max(...bars.map(bar => Math.abs(bar.difference)), 0);
  return element(
    "div",
    { class: "by-topic" },
    element("h3", {}, "By topic"),
    element(
      "p",
      { class: "small" },
      `Each bar is a topic: up, A is ahead; down, B. The largest difference is ${number(largest, 3)}. `,
      element("span", { class: "hint" }, "Press a bar to see the documents."),
    ),
    topicBars(bars, app.view.topic, topic => app.change({ topic: app.data.topics[topic] }), show),
    readout,
  );
}

function assessorChart(app) {
  const { data, view } = app;
  const rows = differencesByAssessor(data, view.selection, view.first, view.second).sort(
    (a, b) => isKnown(b.difference) - isKnown(a.difference) || b.difference - a.difference || a.assessor - b.assessor,
  );
  const known = rows.filter(row => isKnown(row.difference));
  const otherWay = row => row.difference * view.pair.mean < 0;
  const others = known.filter(otherWay);
  const scale = scaleOf([0, ...known.map(row => row.difference)], 3);
  const names = others.map(row => data.assessors[row.assessor]);
  const say =
    known.length < 2
      ? ""
      : others.length
        ? `${others.length} of ${counted(known.length, "assessor")} ${others.length === 1 ? "sees" : "see"} it the other way (hollow): ${listed(names, 12)}.`
        : `None of ${known.length} assessors sees it the other way.`;
  const many = rows.length > 2 * ENDS,
    all = !many || app.allAssessors;
  const shown = all ? rows : [...rows.slice(0, ENDS), ...rows.slice(-ENDS)];
  const body = shown.map(row =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, breakable(data.assessors[row.assessor])),
      element("td", { class: "picture" }, differencePicture(scale, row.difference, otherWay(row))),
      element("td", { class: "n" }, signed(row.difference)),
    ),
  );
  return element(
    "div",
    { class: "by-assessor" },
    element("h3", {}, "By assessor"),
    element(
      "p",
      { class: "small" },
      rows.length ? `Mean difference over the chosen topics. ${say}` : "No assessor is chosen.",
    ),
    rows.length
      ? element(
          "table",
          {},
          element("caption", {}, "Difference by assessor"),
          element(
            "thead",
            {},
            element(
              "tr",
              {},
              element("th", { scope: "col" }, "assessor"),
              element(
                "th",
                { scope: "col", class: "picture" },
                element("span", { class: "unseen" }, "picture of the difference"),
                axisPicture(scale),
              ),
              element("th", { scope: "col", class: "n" }, "difference"),
            ),
          ),
          element("tbody", {}, body),
        )
      : null,
    many
      ? element(
          "button",
          {
            type: "button",
            class: "more",
            "data-key": "more assessors",
            "aria-expanded": all,
            on: { click: () => app.show({ allAssessors: !all }) },
          },
          all ? `Show the ${ENDS} at each end` : `Show all ${rows.length} assessors; now the ${ENDS} at each end`,
        )
      : null,
  );
}

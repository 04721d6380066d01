// Two systems, A and B: their difference over topics, by topic and by assessor.

function renderPair(view) {
  const { data, first, second, pair, order } = view;
  if (view.empty || !pair) return rendered("chosen-pair");
  const names = order.map(s => [s, data.systems[s]]);
  const box = (letter, key, other, value) =>
    selectBox(`System ${letter}`, `pair-${key}`, names, value, chosen => {
      const swapped = Number(chosen) === view[other] ? { [other]: view[key] } : {};
      view.change({ ...swapped, [key]: Number(chosen) });
    });
  return rendered(
    "chosen-pair",
    element("h3", {}, "Two systems"),
    element("div", { class: "boxes" }, box("A", "first", "second", first), box("B", "second", "first", second)),
    element("p", { class: "say" }, pairText(view)),
    topicChart(view),
    assessorTable(view),
  );
}

function pairText({ data, first, second, pair }) {
  if (!pair.n) return "No topic has scores of both systems.";
  const [ahead, behind] = pair.mean >= 0 ? [first, second] : [second, first];
  const ends = pair.mean >= 0 ? pair : { low: -pair.high, high: -pair.low };
  const zero = excludesZero(ends) ? "excludes" : "includes";
  const verdict = isKnown(ends.low)
    ? `${interval(ends)}; the ${percent(data.confidence)} interval over topics ${zero} 0`
    : "(one topic: no interval)";
  const start =
    pair.mean === 0
      ? `${data.systems[first]} and ${data.systems[second]} are level`
      : `${data.systems[ahead]} is ahead of ${data.systems[behind]} by ${number(Math.abs(pair.mean), 3)}`;
  const wins = pair.byTopic.filter(one => one.difference > ROUNDING).length;
  const losses = pair.byTopic.filter(one => one.difference < -ROUNDING).length;
  const ties = pair.n - wins - losses;
  return `${start} ${verdict}. A is ahead on ${counted(wins, "topic")}, B on ${losses}${ties ? `; on ${ties} they are equal` : ""}.`;
}

// The topics of the pair, from the largest difference for A to the largest for B.
function topicOrder(pair) {
  return pair.byTopic.slice().sort((a, b) => b.difference - a.difference || a.topic - b.topic);
}

function topicChart(view) {
  const bars = topicOrder(view.pair).map(({ topic, first, second, difference }) => ({
    topic,
    difference,
    text: `topic ${view.data.topics[topic]}: A ${number(first, 3)}, B ${number(second, 3)}, difference ${signed(difference)}`,
  }));
  return element(
    "div",
    {},
    element("p", { class: "small" }, "Each bar is a topic: up, A is ahead; down, B. Press a bar to see the documents."),
    topicBars(bars, view.topic, topic => view.change({ topic })),
  );
}

function assessorTable(view) {
  const { data, selection, first, second, pair } = view;
  const rows = differencesByAssessor(data, selection, first, second).sort(
    (a, b) => isKnown(b.difference) - isKnown(a.difference) || b.difference - a.difference || a.assessor - b.assessor,
  );
  if (!rows.length) return null;
  const known = rows.filter(row => isKnown(row.difference));
  const otherWay = row => row.difference * pair.mean < 0;
  const others = known.filter(otherWay).map(row => data.assessors[row.assessor]);
  const scale = scaleOf([0, ...known.map(row => row.difference)], 3);
  const columns = [
    ["assessor", row => breakable(data.assessors[row.assessor])],
    ["A minus B", row => differencePicture(scale, row.difference, otherWay(row))],
    ["difference", row => signed(row.difference), row => row.difference],
  ];
  const verb = others.length === 1 ? "sees" : "see";
  const many = `${others.length} of ${counted(known.length, "assessor")} ${verb} it the other way: ${listed(others, 12)}.`;
  const none = `None of ${known.length} assessors sees it the other way.`;
  return [
    known.length > 1 ? element("p", { class: "small" }, others.length ? many : none) : null,
    tableOf("Difference by assessor", columns, rows),
  ];
}

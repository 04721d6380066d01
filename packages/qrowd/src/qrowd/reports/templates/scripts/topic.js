// One topic: the documents of both lists, with the grades of the chosen assessors, texts and comments.

function renderTopic(view) {
  const { data, topic, pair, first, second, selection } = view;
  if (view.empty || !pair || topic === null) return rendered("chosen-topic");
  const order = topicOrder(pair);
  const options = order.map(one => [one.topic, `${data.topics[one.topic]} (${signed(one.difference)})`]);
  const scores = pair.byTopic.find(one => one.topic === topic);
  const text = data.topicTexts[topic];
  const size = `A ${number(scores.first, 3)}, B ${number(scores.second, 3)}, difference ${signed(scores.difference)}`;
  const ranks = [rankingOf(data, topic, first), rankingOf(data, topic, second)];
  const place = d => Math.min(...ranks.map(one => one.get(d) || Infinity));
  const documents = [...new Set(ranks.flatMap(one => [...one.keys()]))].sort((d, e) => place(d) - place(e));
  return rendered(
    "chosen-topic",
    element("h3", {}, "Topic ", breakable(data.topics[topic]), text ? `: ${text}` : ""),
    selectBox("Topic (difference)", "topic-box", options, topic, value => view.change({ topic: Number(value) })),
    element("p", { class: "say" }, `${data.measures[selection.measure].name} on this topic: ${size}.`),
    element("p", { class: "small" }, `The first ${data.depth} of A and of B, with their ranks, and grades on the assessors' own scales.`),
    element(
      "ul",
      { class: "splits" },
      documents.map(d =>
        documentItem(
          view,
          d,
          ranks.map(one => one.get(d)),
        ),
      ),
    ),
  );
}

// {document: rank} of a system's list.
function rankingOf({ ranking }, topic, system) {
  return new Map(ranking[topic][system].map((d, i) => [d, i + 1]));
}

function documentItem({ data, selection }, d, [rankInA, rankInB]) {
  const { label, text, grades } = data.documents[d];
  const judged = selection.assessors.map(a => [a, grades[a]]).filter(([, value]) => value !== undefined && isKnown(value));
  const comments = judged.map(([a]) => [a, data.documents[d].comments[data.assessors[a]]]).filter(([, comment]) => comment);
  return element(
    "li",
    {},
    element(
      "p",
      {},
      rankBadge("A", rankInA, data.depth),
      " ",
      rankBadge("B", rankInB, data.depth),
      " ",
      element("b", {}, breakable(label)),
    ),
    element(
      "p",
      { class: "grades" },
      judged.length
        ? gradeGroups(judged).map(([value, who]) =>
            element("span", { class: "group" }, element("b", {}, value), ` ${who.map(a => data.assessors[a]).join(", ")}`),
          )
        : "no grade by the chosen assessors",
    ),
    text || comments.length
      ? element(
          "details",
          { class: "text", "data-key": `document ${d}` },
          element("summary", {}, "Text", element("span", { class: "unseen" }, ` of ${label}`)),
          text ? element("p", {}, text) : null,
          comments.map(([a, comment]) => element("p", {}, element("b", {}, data.assessors[a]), ` wrote: ${comment}`)),
        )
      : null,
  );
}

function rankBadge(letter, rank, depth) {
  const spoken = rank ? `rank ${rank} in ${letter}` : `not in the first ${depth} of ${letter}`;
  return element(
    "span",
    { class: `rank of-${letter.toLowerCase()}`, title: spoken },
    element("span", { "aria-hidden": "true" }, `${letter} ${rank || "–"}`),
    element("span", { class: "unseen" }, `${spoken}; `),
  );
}

// [[grade, assessors], ...], the highest grade first.
function gradeGroups(judged) {
  const groups = new Map();
  for (const [assessor, value] of judged) groups.set(value, [...(groups.get(value) || []), assessor]);
  return [...groups].sort(([a], [b]) => b - a).map(([value, who]) => [withMinus(String(Number(value.toFixed(3)))), who]);
}

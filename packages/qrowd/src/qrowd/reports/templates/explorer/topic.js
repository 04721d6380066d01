// One topic: the documents of both lists, with the grades of the chosen assessors, texts and comments.

const NAMED = 8,
  GRADES = 6; // of so many assessors each is named beside the grade; of more grades only the sign is shown

function renderTopic(app) {
  const { data, view } = app,
    part = document.getElementById("topic");
  part.hidden = Boolean(view.empty) || !view.pair || view.topic === null;
  if (part.hidden) return;
  const { topic } = view,
    text = data.topicTexts[topic];
  const scores = view.pair.byTopic.find(one => one.topic === topic);
  const heading = element(
    "h2",
    { id: "topic-title", tabindex: -1 },
    "Topic ",
    breakable(data.topics[topic]),
    text ? `: ${text}` : "",
  );
  rendered(
    part,
    heading,
    topicBoxes(app),
    element("p", { class: "say" }, topicSentence(app, scores)),
    documentsOfTopic(app),
  );
}

function topicBoxes(app) {
  const { data, view } = app,
    order = topicOrder(view.pair);
  const control = element(
    "select",
    {
      id: "topic-box",
      "data-key": "topic box",
      on: { change: () => app.change({ topic: data.topics[control.value] }) },
    },
    order.map(one => element("option", { value: one.topic }, `${data.topics[one.topic]} (${signed(one.difference)})`)),
  );
  control.value = view.topic;
  const here = order.findIndex(one => one.topic === view.topic);
  const step = (by, label) =>
    element(
      "button",
      {
        type: "button",
        "data-key": label,
        disabled: !order[here + by],
        on: { click: () => app.change({ topic: data.topics[order[here + by].topic] }) },
      },
      label,
    );
  const chosen = data.topics.filter((_, t) => app.state.topics[t]);
  const leave = element(
    "button",
    {
      type: "button",
      "data-key": "leave",
      on: { click: () => app.change({ topics: chosen.filter(id => id !== data.topics[view.topic]) }) },
    },
    "Leave this topic out",
  );
  return element(
    "div",
    { class: "boxes" },
    element("p", { class: "field" }, element("label", { for: "topic-box" }, "Topic (difference)"), control),
    step(-1, "Previous"),
    step(1, "Next"),
    chosen.length > 1 ? leave : null,
  );
}

function topicSentence({ data, view }, scores) {
  const { measure, assessors } = view.selection;
  const own = assessors
    .map(a => scoreOf(data, measure, a, view.topic, view.first) - scoreOf(data, measure, a, view.topic, view.second))
    .filter(isKnown);
  const [a, b] = [own.filter(d => d > ROUNDING).length, own.filter(d => d < -ROUNDING).length];
  const people =
    own.length > 1
      ? ` Of ${own.length} assessors ${a || "none"} ${a === 1 ? "has" : "have"} A ahead, ${b || "none"} B.`
      : "";
  return `${view.measure.name} on this topic: A ${number(scores.first, 3)}, B ${number(scores.second, 3)}, difference ${signed(scores.difference)}.${people}`;
}

function documentsOfTopic(app) {
  const { data, view } = app,
    { documents } = data;
  if (!documents) return element("p", { class: "small" }, "This page was made without documents.");
  const ranks = system => rankingOf(data, view.topic, system);
  const a = ranks(view.first),
    b = ranks(view.second);
  const place = d => Math.min(a.get(d) || Infinity, b.get(d) || Infinity);
  const listedDocuments = [...new Set([...a.keys(), ...b.keys()])].sort(
    (d, e) => place(d) - place(e) || (a.get(d) || Infinity) - (a.get(e) || Infinity),
  );
  const grades =
    data.header.kind === "preferences"
      ? "won minus lost comparisons of the document"
      : "grades on the assessors' own scales";
  return [
    element("p", { class: "small" }, `The first ${documents.depth} of A and of B, with their ranks, and ${grades}.`),
    listedDocuments.length
      ? element(
          "ul",
          { class: "documents" },
          listedDocuments.map(d => documentItem(app, d, a.get(d), b.get(d))),
        )
      : element("p", { class: "say" }, "Neither system has a document for this topic."),
  ];
}

// {document: rank} of a system's list.
function rankingOf({ documents, systems }, topic, system) {
  const from = (topic * systems.length + system) * documents.depth;
  const list = Array.from(documents.ranking.subarray(from, from + documents.depth));
  return new Map(list.flatMap((d, i) => (d < 0 ? [] : [[d, i + 1]])));
}

function documentItem(app, d, rankInA, rankInB) {
  const { data, view } = app,
    { documents } = data;
  const assessors = view.selection.assessors;
  const judged = assessors
    .map(a => [a, documents.grades[d * data.assessors.length + a]])
    .filter(([, value]) => isKnown(value));
  const groups = gradeGroups(judged),
    named = judged.length <= NAMED;
  const outside = !named && groups.length > GRADES ? signGroups(judged) : groups;
  const text = documents.texts ? documents.texts[d] : "";
  const comments = documents.comments
    ? judged.map(([a]) => [a, documents.comments[`${d},${a}`]]).filter(([, said]) => said)
    : [];
  const contents = [
    !named && judged.length ? "grades by assessor" : "",
    text ? "text" : "",
    comments.length ? counted(comments.length, "comment") : "",
  ].filter(Boolean);
  return element(
    "li",
    {},
    element(
      "p",
      { class: "places" },
      rankBadge("A", rankInA, documents.depth),
      rankBadge("B", rankInB, documents.depth),
      element("b", {}, breakable(documents.names[d])),
    ),
    element(
      "p",
      { class: "grades" },
      outside.length
        ? outside.map(([value, who]) => gradeGroup(app, value, who, named))
        : element("span", { class: "soft" }, "not judged by the chosen assessors"),
    ),
    contents.length
      ? element(
          "details",
          { "data-key": `document ${d}` },
          element(
            "summary",
            {},
            sentence(listed(contents)).slice(0, -1),
            element("span", { class: "unseen" }, ` of ${documents.names[d]}`),
          ),
          named
            ? null
            : groups.map(([value, who]) => element("p", { class: "grades" }, gradeGroup(app, value, who, true))),
          text ? element("p", { class: "text" }, text) : null,
          comments.map(([a, said]) =>
            element("p", { class: "comment" }, element("b", {}, data.assessors[a]), `: ${said}`),
          ),
        )
      : null,
  );
}

function rankBadge(letter, rank, depth) {
  const spoken = rank ? `rank ${rank} in ${letter}` : `not in the first ${depth} of ${letter}`;
  return element(
    "span",
    { class: `rank of-${letter.toLowerCase()}${rank ? "" : " absent"}`, title: spoken },
    element("span", { "aria-hidden": "true" }, `${letter} ${rank || "–"}`),
    element("span", { class: "unseen" }, `${spoken}; `),
  );
}

// [[grade, assessors], ...], the highest grade first.
function gradeGroups(judged) {
  const groups = new Map();
  for (const [assessor, value] of judged) groups.set(value, [...(groups.get(value) || []), assessor]);
  return [...groups].sort(([a], [b]) => b - a);
}

// [["above 0", assessors], ...]: where assessors have scales of their own, most grades are those of one of them.
function signGroups(judged) {
  const signs = [
    ["above 0", value => value > 0],
    ["0", value => value === 0],
    ["below 0", value => value < 0],
  ];
  return signs
    .map(([name, test]) => [name, judged.filter(([, value]) => test(value)).map(([a]) => a)])
    .filter(([, who]) => who.length);
}

function gradeGroup({ data }, value, who, named) {
  const text =
    typeof value === "string"
      ? value
      : data.header.kind === "preferences" && value > 0
        ? `+${grade(value)}`
        : grade(value);
  return element(
    "span",
    { class: "group" },
    element("b", {}, text),
    named ? ` ${who.map(a => data.assessors[a]).join(", ")}` : ` × ${who.length}`,
  );
}

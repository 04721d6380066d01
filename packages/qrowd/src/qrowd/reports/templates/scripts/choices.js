// The choices: form controls that are built once and follow the state.

function buildControls(view) {
  const { data } = view;
  const boxes = () => [
    selectBox("Measure", "measure", numbered(data.measures.map(one => one.name)), view.state.measure, value =>
      view.change({ measure: Number(value) }),
    ),
    selectBox("Method", "method", numbered(data.methods.map(one => one.name)), view.state.method, value =>
      view.change({ method: Number(value) }),
    ),
    selectBox(
      "Compared with",
      "compared",
      [["", "the first system"], ...numbered(data.systems)],
      view.state.compared ?? "",
      value => view.change({ compared: value === "" ? null : Number(value) }),
    ),
  ];
  const assessors = choiceList(view, "assessors", data.assessors, []);
  const topics = choiceList(view, "topics", data.topics, data.topicTexts);
  const form = document.getElementById("controls");
  form.addEventListener("submit", event => event.preventDefault());
  form.append(element("div", { id: "boxes" }), assessors.part, topics.part);
  return () => {
    const { name, scores } = data.methods[view.state.method];
    const note = `${name}: the choice of assessors does not change its scores.`;
    rendered("boxes", boxes(), scores ? element("p", { class: "small" }, note) : null);
    assessors.follow();
    topics.follow();
  };
}

function numbered(names) {
  return names.map((name, i) => [i, name]);
}

// Checkboxes with all, none, and only this one.
function choiceList(view, key, names, texts) {
  const count = element("span", { class: "soft" });
  const set = test => view.change({ [key]: names.map((_, i) => test(i)) });
  const button = (label, text, test) =>
    element("button", { type: "button", "aria-label": label, on: { click: () => set(test) } }, text);
  const rows = names.map((name, i) => {
    const id = `${key}-${i}`;
    const box = element("input", {
      type: "checkbox",
      id,
      on: { change: () => set(k => (k === i ? box.checked : view.state[key][k])) },
    });
    const text = texts[i] ? element("small", {}, ` ${texts[i]}`) : null;
    const label = element("label", { for: id }, breakable(name), text);
    const row = element("li", {}, box, label, button(`only ${name}`, "only", k => k === i));
    return { box, row };
  });
  const part = element(
    "details",
    { class: "list", open: key === "assessors" },
    element("summary", {}, sentence(key).slice(0, -1), " ", count),
    element(
      "fieldset",
      {},
      element("legend", { class: "unseen" }, sentence(key).slice(0, -1)),
      button(`all ${key}`, "all", () => true),
      button(`no ${key}`, "none", () => false),
      element(
        "ul",
        {},
        rows.map(one => one.row),
      ),
    ),
  );
  const follow = () => {
    rows.forEach((one, i) => {
      one.box.checked = view.state[key][i];
    });
    count.textContent = `${view.state[key].filter(Boolean).length} of ${names.length}`;
  };
  return { part, follow };
}

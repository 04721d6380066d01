// The choices: form controls that are built once and follow the state.

const MANY = 12; // from more names on a list can be filtered

function buildControls(app) {
  const { data } = app,
    form = document.getElementById("controls");
  form.addEventListener("submit", event => event.preventDefault());
  const several = familiesOf(data).length > 1;
  const measure = selectBox(
    "Measure",
    "measure",
    familiesOf(data).map(name => [name, name]),
    value => app.change({ family: value }),
  );
  const threshold = selectBox("Relevant from grade", "rel", [], value => app.change({ rel: JSON.parse(value) }));
  const method = selectBox(
    "Method",
    "method",
    data.methods.map(one => [one.name, one.label]),
    value => app.change({ method: value }),
  );
  const note = element("p", { class: "note", id: "method-note" });
  method.control.setAttribute("aria-describedby", "method-note");
  const names = data.systems.map((_, s) => [String(s), data.labels[s]]);
  const compared = selectBox("Compared with", "compared", [["", "the first system"], ...names], value =>
    app.change({ compared: value === "" ? null : data.systems[value] }),
  );
  const assessors = choiceList(app, "assessors", "Assessors", data.assessors, []);
  const topics = choiceList(app, "topics", "Topics", data.topics, data.topicTexts);
  measure.control.disabled = !several;
  form.append(measure.row, threshold.row, method.row, note, compared.row, assessors.part, topics.part);
  return () => {
    const { state } = app,
      thresholds = thresholdsOf(data, state.family);
    measure.control.value = state.family;
    threshold.row.hidden = thresholds.length < 2;
    threshold.control.replaceChildren(
      ...thresholds.map(rel =>
        element("option", { value: JSON.stringify(rel) }, rel === null ? "as the measure has it" : String(rel)),
      ),
    );
    threshold.control.value = JSON.stringify(state.rel);
    method.control.value = data.methods[state.method].name;
    method.row.hidden = data.methods.length < 2;
    note.textContent = sentence(data.methods[state.method].note);
    note.hidden = !note.textContent;
    compared.control.value = state.compared === null ? "" : String(state.compared);
    assessors.follow();
    topics.follow();
  };
}

function sentence(text) {
  return text ? `${text[0].toUpperCase()}${text.slice(1).replace(/\.$/, "")}.` : "";
}

function selectBox(label, id, options, change) {
  const control = element(
    "select",
    { id, on: { change: () => change(control.value) } },
    options.map(([value, text]) => element("option", { value }, text)),
  );
  return { control, row: element("p", { class: "field" }, element("label", { for: id }, label), control) };
}

// Checkboxes with all, none, only this one, and a filter where there are many.
function choiceList(app, key, title, names, texts) {
  const noun = key.slice(0, -1);
  const count = element("span", { class: "count" });
  const set = flags => app.change({ [key]: names.filter((_, i) => flags(i)) });
  const rows = names.map((name, i) => {
    const id = `${key}-${i}`;
    const box = element("input", {
      type: "checkbox",
      id,
      on: { change: () => set(k => (k === i ? box.checked : app.state[key][k])) },
    });
    const label = element(
      "label",
      { for: id, title: texts[i] || null },
      breakable(name),
      texts[i] ? element("small", {}, ` ${texts[i]}`) : null,
    );
    const only = element(
      "button",
      { type: "button", class: "only", "aria-label": `only ${name}`, on: { click: () => set(k => k === i) } },
      "only",
    );
    return { box, text: `${name} ${texts[i] || ""}`.toLowerCase(), row: element("li", {}, box, label, only) };
  });
  const none = element("p", { class: "note", hidden: true }, `No ${noun} has this in its name.`);
  const filter = element("input", {
    type: "search",
    id: `filter-${key}`,
    placeholder: "Filter",
    "aria-label": `Filter ${key}`,
    on: {
      input: () => {
        const wanted = filter.value.trim().toLowerCase();
        for (const one of rows) one.row.hidden = !one.text.includes(wanted);
        none.hidden = rows.some(one => !one.row.hidden);
      },
    },
  });
  const buttons = element(
    "p",
    { class: "buttons" },
    element("button", { type: "button", "aria-label": `all ${key}`, on: { click: () => set(() => true) } }, "all"),
    element("button", { type: "button", "aria-label": `no ${key}`, on: { click: () => set(() => false) } }, "none"),
    names.length > MANY ? filter : null,
  );
  const part = element(
    "details",
    { class: "list", open: key === "assessors" },
    element("summary", {}, title, " ", count),
    element(
      "fieldset",
      {},
      element("legend", { class: "unseen" }, title),
      buttons,
      element(
        "ul",
        { id: `${key}-list` },
        rows.map(one => one.row),
      ),
      none,
    ),
  );
  return {
    part,
    follow() {
      rows.forEach((one, i) => {
        one.box.checked = app.state[key][i];
      });
      count.textContent = `${app.state[key].filter(Boolean).length} of ${names.length}`;
    },
  };
}

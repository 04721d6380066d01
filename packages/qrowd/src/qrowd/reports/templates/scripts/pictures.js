// Small pictures in SVG and CSS, with the colours of the page. Places are shares of the width, so that a picture is as
// wide as its place without being drawn again; the numbers stand beside each picture.

const ROW = 24; // height of a row's picture

// The place of a value in per cent of the width, and round values along the way.
function scaleOf(values, nTicks = 5, beside = []) {
  const known = values.filter(isKnown);
  let low = Math.min(...known),
    high = Math.max(...known);
  // What is beside the values is shown as far as it widens the picture by half to each side at most.
  const others = beside.filter(isKnown),
    reach = (high - low) / 2;
  if (others.length) {
    low = Math.min(low, Math.max(low - reach, Math.min(...others)));
    high = Math.max(high, Math.min(high + reach, Math.max(...others)));
  }
  if (!(high - low > 1e-9)) [low, high] = [low - 0.05, high + 0.05];
  const margin = 0.03 * (high - low);
  low -= margin;
  high += margin;
  const raw = (high - low) / nTicks,
    power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(factor => power * factor >= raw);
  const ticks = [];
  for (let k = Math.ceil(low / step); k <= Math.floor(high / step); k++) ticks.push(Number((k * step).toPrecision(10)));
  return { place: value => 100 * Math.min(Math.max((value - low) / (high - low), 0), 1), ticks };
}

function at(percentage) {
  return `${percentage.toFixed(2)}%`;
}

function line(scale, from, to, y1, y2, kind) {
  return drawn("line", { x1: at(scale.place(from)), x2: at(scale.place(to)), y1, y2, class: kind });
}

function dot(scale, value, kind) {
  return drawn("circle", { cx: at(scale.place(value)), cy: ROW / 2, r: 4.5, class: kind });
}

function picture(...marks) {
  return drawn("svg", { class: "picture", width: "100%", height: ROW, "aria-hidden": "true" }, marks.filter(Boolean));
}

// A system: its mean, the interval of its difference drawn from the mean of the compared system, the range of assessors.
function systemPicture(scale, row, comparedMean) {
  const grid = scale.ticks.map(value => line(scale, value, value, 0, ROW, "grid"));
  const reference = isKnown(comparedMean) && line(scale, comparedMean, comparedMean, 0, ROW, "comparison");
  if (!isKnown(row.mean)) return picture(...grid, reference);
  const band =
    isKnown(row.lowest) && row.highest > row.lowest && line(scale, row.lowest, row.highest, ROW / 2, ROW / 2, "band");
  const bar =
    isKnown(row.low) &&
    !row.compared &&
    line(scale, comparedMean + row.low, comparedMean + row.high, ROW / 2, ROW / 2, "bar");
  const kind = row.compared ? "compared" : excludesZero(row) ? "dot" : "dot open";
  return picture(...grid, band, reference, bar, dot(scale, row.mean, kind));
}

function excludesZero({ low, high }) {
  return low > 0 || high < 0;
}

// A difference as a stem from 0; hollow where an assessor sees it the other way.
function differencePicture(scale, difference, otherWay) {
  const zero = line(scale, 0, 0, 0, ROW, "zero");
  if (!isKnown(difference)) return picture(zero);
  const side = difference < 0 ? "of-b" : "of-a";
  const stem = line(scale, 0, difference, ROW / 2, ROW / 2, `stem ${side}`);
  return picture(zero, stem, dot(scale, difference, `dot ${side}${otherWay ? " open" : ""}`));
}

// One bar per topic, a button each: the arrow keys move between them, Enter or a click chooses the topic.
function topicBars(bars, chosen, choose) {
  const high = Math.max(0, ...bars.map(bar => bar.difference)),
    low = Math.min(0, ...bars.map(bar => bar.difference));
  const extent = high - low || 1,
    zero = (100 * high) / extent;
  const stop = Math.max(
    0,
    bars.findIndex(bar => bar.topic === chosen),
  );
  const buttons = bars.map((bar, i) => {
    const length = Math.max((100 * Math.abs(bar.difference)) / extent, 0.8);
    const top = bar.difference > 0 ? zero - length : zero;
    return element(
      "button",
      {
        type: "button",
        class: bar.difference < 0 ? "of-b" : "of-a",
        tabindex: i === stop ? 0 : -1,
        title: bar.text,
        "aria-label": bar.text,
        "aria-pressed": bar.topic === chosen,
        "data-key": `bar ${bar.topic}`,
        on: { click: () => choose(bar.topic) },
      },
      element("i", { style: { top: at(top), height: at(length) } }),
    );
  });
  const axis = element("span", { class: "zero", style: { top: at(zero) }, "aria-hidden": "true" });
  const group = element(
    "div",
    { class: "bars", role: "group", "aria-label": "Topics by difference; the arrow keys move between them" },
    axis,
    buttons,
  );
  group.addEventListener("keydown", event => {
    const here = buttons.indexOf(document.activeElement);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined || !buttons[to]) return;
    event.preventDefault();
    buttons[here].tabIndex = -1;
    buttons[to].tabIndex = 0;
    buttons[to].focus();
  });
  return group;
}

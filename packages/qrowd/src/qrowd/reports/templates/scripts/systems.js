// The headline and the table of systems.

// One row for each system, best first.
function systemRows({ data, result, selection, order, compared }) {
  return order.map(s => {
    const against = s === compared ? { mean: NaN, low: NaN, high: NaN } : differenceOf(data, selection, result, s, compared);
    return {
      number: s,
      system: data.systems[s],
      compared: s === compared,
      mean: result.means[s],
      rank: result.ranks[s],
      difference: against.mean,
      low: against.low,
      high: against.high,
      lowest: result.lowest[s],
      highest: result.highest[s],
      best_rank: result.bestRank[s],
      worst_rank: result.worstRank[s],
    };
  });
}

// Why there is nothing to show, or an empty text.
function emptiness({ data, selection, result }) {
  if (!selection.topics.length) return "No topic is chosen. Choose one or more topics.";
  const merged = Boolean(data.methods[selection.method].scores);
  if (!selection.assessors.length && !merged) return "No assessor is chosen. Choose one or more assessors.";
  if (result.nTopics) return "";
  const measure = data.measures[selection.measure].name;
  if (merged) return `${data.methods[selection.method].name} has no scores by ${measure} on the chosen topics.`;
  return `No system has a score by ${measure} from the chosen assessors on the chosen topics.`;
}

function panelText({ data, selection, result }) {
  const method = data.methods[selection.method];
  if (method.scores) return `${method.name} (all ${counted(data.assessors.length, "assessor")})`;
  if (result.nAssessors > 1) return `the mean of ${result.nAssessors} assessors`;
  return `the assessor ${data.assessors[selection.assessors.find((_, i) => result.own[i].some(isKnown))]}`;
}

function headline(view) {
  const { data, selection, result, order, lead } = view;
  if (view.empty) return view.empty;
  const measure = data.measures[selection.measure].name;
  const start = `By ${measure}, over ${counted(result.nTopics, "topic")} and ${panelText(view)}, `;
  const first = order.filter(s => result.ranks[s] === 1);
  const names = listed(first.map(s => data.systems[s]));
  const alone = first.length === 1;
  if (!lead) return start + (alone ? `only ${names} has a score.` : `${names} are equal.`);
  const next = `${data.systems[lead.second]} (rank ${result.ranks[lead.second]})`;
  const size = isKnown(lead.mean) ? `${number(lead.mean, 3)} ${isKnown(lead.low) ? interval(lead) : ""}`.trim() : "";
  const verb = alone ? "is first; its" : "share the first place; their";
  return `${start}${names} ${verb} difference to ${next} is ${size || "not known: no topic has scores of both"}.`;
}

function certainty(view) {
  const { data, result, order, lead } = view;
  if (view.empty) return "";
  const parts = [];
  if (lead && isKnown(lead.mean)) {
    const verdict = excludesZero(lead) ? "excludes 0" : "includes 0: it does not show which is better";
    parts.push(
      isKnown(lead.low) ? `The ${percent(data.confidence)} interval over topics ${verdict}.` : "One topic gives no interval.",
    );
  }
  const ranking = result.ownRanks.filter(row => row.some(isKnown)),
    [first] = order;
  if (ranking.length > 1 && result.ranks.filter(rank => rank === 1).length === 1) {
    const n = ranking.filter(row => row[first] === 1).length;
    parts.push(`${data.systems[first]} is first for ${n || "none"} of ${ranking.length} assessors.`);
  }
  return parts.join(" ");
}

function renderSystems(view) {
  const { data, selection, result, compared } = view;
  document.getElementById("headline").textContent = headline(view);
  document.getElementById("certainty").textContent = certainty(view);
  if (view.empty) return rendered("chosen-systems");
  const measure = data.measures[selection.measure],
    comparedMean = result.means[compared],
    rows = systemRows(view);
  const scale = scaleOfSystems(measure.bounds, rows, comparedMean);
  const ranks = ({ best_rank: best, worst_rank: worst }) => (best === worst ? String(best) : `${best}–${worst}`);
  const columns = [
    ["system", row => breakable(row.system)],
    ["rank", row => String(row.rank || "–"), row => row.rank || NaN],
    ["mean", row => number(row.mean), row => row.mean],
    ["mean and interval", row => systemPicture(scale, row, comparedMean)],
    ["difference", row => (row.compared ? "" : signed(row.difference)), row => row.difference],
    ["interval", row => (isKnown(row.difference) ? interval(row) : ""), row => row.low],
    ["ranks by assessors", row => (isKnown(row.best_rank) ? ranks(row) : "–"), row => row.best_rank],
  ];
  return rendered(
    "chosen-systems",
    tableOf(`Systems by ${measure.name}, compared with ${data.systems[compared]}`, columns, rows),
    element(
      "p",
      { class: "small" },
      `Intervals: ${percent(data.confidence)}, each difference by itself, t over topics; not corrected for several comparisons; the assessors are taken as fixed. The bar is the interval of the difference, drawn from the mean of ${data.systems[compared]} (dashed line); hollow dot: it includes 0; band: lowest to highest assessor, cut at the edge.`,
    ),
  );
}

// From the means and the intervals, as far as the measure goes.
function scaleOfSystems([low, high], rows, comparedMean) {
  const within = value => Math.min(Math.max(value, isKnown(low) ? low : -Infinity), isKnown(high) ? high : Infinity);
  const ends = rows.flatMap(row => [row.mean, comparedMean + row.low, comparedMean + row.high]);
  return scaleOf(
    [comparedMean, ...ends].map(within),
    5,
    rows.flatMap(row => [row.lowest, row.highest]),
  );
}

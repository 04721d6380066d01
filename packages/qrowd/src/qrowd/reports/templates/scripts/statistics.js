// Means, ranks and intervals of a selection, as qrowd.evaluate and qrowd.difference(method="topics") compute them.
// A selection is {measure, method, assessors, topics}: numbers, the last two in lists. NaN is no score.

const ROUNDING = 1e-12;

function analysis(data, selection) {
  const { assessors, topics } = selection;
  const nSystems = data.systems.length;
  const byTopic = topics.map(topic => panelScores(data, selection, topic));
  const means = settled(columnMeans(byTopic, nSystems));
  const own = assessors.map(assessor => settled(assessorMeans(data, selection, assessor)));
  const ownRanks = own.map(ranksOfAssessor);
  const known = own.map(row => row.some(isKnown));
  return {
    means,
    ranks: ranksOf(means),
    byTopic,
    own,
    ownRanks,
    nTopics: byTopic.filter(row => row.some(isKnown)).length,
    nAssessors: known.filter(Boolean).length,
    lowest: extremes(own, nSystems, Math.min),
    highest: extremes(own, nSystems, Math.max),
    bestRank: extremes(ownRanks, nSystems, Math.min),
    worstRank: extremes(ownRanks, nSystems, Math.max),
  };
}

// The scores of all systems on a topic by the panel: the mean of the assessors, or those of a method.
function panelScores(data, { measure, method, assessors }, topic) {
  const { scores } = data.methods[method];
  if (scores) return scores[measure][topic];
  return columnMeans(
    assessors.map(assessor => data.scores[measure][assessor][topic]),
    data.systems.length,
  );
}

function assessorMeans(data, { measure, topics }, assessor) {
  return columnMeans(
    topics.map(topic => data.scores[measure][assessor][topic]),
    data.systems.length,
  );
}

function columnMeans(rows, width) {
  const sums = new Float64Array(width),
    counts = new Float64Array(width);
  for (const row of rows) {
    for (let i = 0; i < width; i++) {
      if (!isKnown(row[i])) continue;
      sums[i] += row[i];
      counts[i] += 1;
    }
  }
  return Array.from(sums, (sum, i) => sum / counts[i]);
}

// Means that are equal apart from rounding are made equal.
function settled(means) {
  const order = means
    .map((_, i) => i)
    .filter(i => isKnown(means[i]))
    .sort((i, k) => means[i] - means[k]);
  const apart = ROUNDING * order.reduce((largest, i) => Math.max(largest, Math.abs(means[i])), 0);
  const out = means.slice();
  for (let place = 1; place < order.length; place++) {
    const i = order[place],
      before = order[place - 1];
    if (!(means[i] - means[before] > apart)) out[i] = out[before];
  }
  return out;
}

// 1 and the number of systems with a higher mean; 0 without a mean.
function ranksOf(means) {
  const ascending = means.filter(isKnown).sort((a, b) => b - a);
  const first = new Map();
  ascending.forEach((mean, i) => first.has(mean) || first.set(mean, i + 1));
  return means.map(mean => first.get(mean) || 0);
}

// NaN for an assessor without a ranking: without scores, or for whom all systems are equal.
function ranksOfAssessor(means) {
  const ranks = ranksOf(means);
  const none = ranks.length > 1 && ranks.every(rank => rank <= 1);
  return ranks.map(rank => (none || rank === 0 ? NaN : rank));
}

function extremes(rows, width, pick) {
  return Array.from({ length: width }, (_, s) => {
    const values = rows.map(row => row[s]).filter(isKnown);
    return values.length ? pick(...values) : NaN;
  });
}

// The first system minus the second: by topic, over topics with the interval of the t distribution, and by assessor.
// A topic counts by the assessors from whom both systems have a score.
function differenceOf(data, selection, result, first, second) {
  const byMean = !data.methods[selection.method].scores;
  const byTopic = [];
  let largest = 0;
  selection.topics.forEach((topic, row) => {
    let a = result.byTopic[row][first],
      b = result.byTopic[row][second];
    if (byMean) [a, b] = meansOfBoth(data, selection, topic, first, second);
    if (!isKnown(a - b)) return;
    largest = Math.max(largest, Math.abs(a), Math.abs(b));
    byTopic.push({ topic, first: a, second: b, difference: a - b });
  });
  return {
    first,
    second,
    byTopic,
    ...intervalOf(
      byTopic.map(one => one.difference),
      ROUNDING * largest,
      data.t,
    ),
  };
}

function meansOfBoth(data, { measure, assessors }, topic, first, second) {
  let a = 0,
    b = 0,
    n = 0;
  for (const assessor of assessors) {
    const scores = data.scores[measure][assessor][topic],
      one = scores[first],
      other = scores[second];
    if (!isKnown(one - other)) continue;
    a += one;
    b += other;
    n += 1;
  }
  return [a / n, b / n];
}

// The mean with its interval; what is not larger than rounding is 0; without a second topic there is no interval.
function intervalOf(values, rounding, quantiles) {
  const n = values.length;
  let mean = values.reduce((sum, value) => sum + value, 0) / n;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  if (Math.abs(mean) <= rounding) mean = 0;
  if (n < 2) return { mean, low: NaN, high: NaN, n };
  const variance = squares / (n - 1);
  const half = variance <= rounding ** 2 ? 0 : quantiles[n - 2] * Math.sqrt(variance / n);
  return { mean, low: mean - half, high: mean + half, n };
}

// The difference of each chosen assessor, over the topics in which both systems have a score from them.
function differencesByAssessor(data, { measure, assessors, topics }, first, second) {
  return assessors.map(assessor => {
    const values = topics
      .map(topic => data.scores[measure][assessor][topic])
      .map(scores => scores[first] - scores[second])
      .filter(isKnown);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return { assessor, difference: Math.abs(mean) <= ROUNDING ? 0 : mean };
  });
}

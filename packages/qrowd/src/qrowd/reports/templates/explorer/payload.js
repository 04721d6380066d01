"use strict";
// The data of the page: a header in JSON, and arrays one after the other in base64 of gzip. The bytes of numbers are
// shuffled: first the first byte of each, then the second of each, and so on.

const ARRAYS = { f8: Float64Array, f4: Float32Array, i4: Int32Array };

async function readPayload() {
  if (!("DecompressionStream" in window)) {
    throw new Error("This page needs a browser that reads compressed data (any of 2023 or later).");
  }
  const header = JSON.parse(document.getElementById("header").textContent);
  const arrays = arraysOf(header.arrays, await unzipped(document.getElementById("payload").textContent.trim()));
  return {
    header,
    systems: header.systems,
    labels: header.labels,
    assessors: header.assessors,
    topics: header.topics.map(topic => topic.id),
    topicTexts: header.topics.map(topic => topic.text || ""),
    measures: header.measures,
    methods: methodsOf(header.methods),
    t: header.t,
    scores: arrays.scores,
    merged: arrays.merged,
    weights: arrays.weights,
    weightsByTopic: header.arrays.some(one => one.name === "weights" && one.shape.length === 4),
    documents: header.documents ? documentsOf(header.documents, arrays) : null,
  };
}

async function unzipped(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function arraysOf(descriptions, bytes) {
  const arrays = {};
  let at = 0;
  for (const { name, dtype, shape } of descriptions) {
    const length = shape.reduce((product, size) => product * size, 1);
    if (dtype === "utf8") {
      arrays[name] = new TextDecoder().decode(bytes.subarray(at, at + length));
      at += length;
      continue;
    }
    const array = new ARRAYS[dtype](length);
    const own = new Uint8Array(array.buffer),
      width = array.BYTES_PER_ELEMENT;
    for (let byte = 0; byte < width; byte++) {
      for (let i = 0; i < length; i++) own[i * width + byte] = bytes[at++];
    }
    arrays[name] = array;
  }
  return arrays;
}

// Each method with its number among those of its kind, which is its place in `merged` or `weights`.
function methodsOf(methods) {
  const counts = {};
  return methods.map(method => {
    const place = counts[method.kind] || 0;
    counts[method.kind] = place + 1;
    return { ...method, place };
  });
}

function documentsOf(description, arrays) {
  const { documents, texts, comments } = JSON.parse(arrays.labels_and_texts);
  const { starts, ranking, grades } = arrays;
  return { ...description, names: documents, texts, comments, starts, ranking, grades };
}

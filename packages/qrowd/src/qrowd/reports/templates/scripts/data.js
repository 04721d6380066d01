// The data of the page: a header in JSON, and arrays one after the other in base64 of gzip. The bytes of numbers are
// shuffled: first the first byte of each, then the second of each, and so on.

const ARRAYS = { f8: Float64Array, f4: Float32Array, i4: Int32Array };

async function readData() {
  const header = JSON.parse(document.getElementById("header").textContent);
  const arrays = arraysOf(header.arrays, await unzipped(document.getElementById("payload").textContent.trim()));
  return {
    ...header,
    ...arrays,
    ...JSON.parse(arrays.labels_and_texts),
    topics: header.topics.map(topic => topic.id),
    topicTexts: header.topics.map(topic => topic.text),
    methods: methodsOf(header.methods),
  };
}

async function unzipped(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
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
    const parts = new Uint8Array(array.buffer),
      width = array.BYTES_PER_ELEMENT;
    for (let byte = 0; byte < width; byte++) {
      for (let i = 0; i < length; i++) parts[i * width + byte] = bytes[at++];
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

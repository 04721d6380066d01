// The data of the page: JSON, in base64 of gzip. NaN is a number that is not known.

async function readData() {
  const text = await unzipped(document.getElementById("payload").textContent.trim());
  const data = JSON.parse(text, (_, value) => (value === null ? NaN : value));
  return { ...data, topics: data.topics.map(topic => topic.id), topicTexts: data.topics.map(topic => topic.text) };
}

async function unzipped(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

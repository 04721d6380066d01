"use strict";
// Columns sort when their name is pressed; without this script the tables stand as they were written.

function sortable(table) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (body.rows[0]?.cells[column].querySelector("svg")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numbers = head.classList.contains("n");
      const before = head.getAttribute("aria-sort");
      const up = before ? before === "descending" : !numbers;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = row => (numbers ? parseFloat(row.cells[column].dataset.key) : row.cells[column].textContent);
      const rows = [...body.rows].map(row => [key(row), row]);
      const known = rows.filter(([value]) => value === value),
        unknown = rows.filter(([value]) => value !== value);
      known.sort(([a], [b]) => (up ? 1 : -1) * (numbers ? a - b : a.localeCompare(b, "en", { numeric: true })));
      body.append(...[...known, ...unknown].map(([, row]) => row));
    });
  });
  return table;
}

document.querySelectorAll("table[data-sorts]").forEach(sortable);
// On paper everything is unfolded.
addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach(one => {
    one.open = true;
  });
});

// A report of a benchmark: the verdict, the plots, the tables.
"use strict";
{
  const main = page(data.title, data.subtitle);
  if (data.words.length) main.append(make("section", null, ...data.words.map((w, i) => i === 0 ? make("h2", { id: "verdict" }, w) : make("pre", { class: "dim" }, w))));
  const plots = make("div", { class: "two" });
  for (const f of data.figures) {
    const plot = make("section", { class: "plot" });
    const show = () => plot.replaceChildren(make("h2", null, f.title), lineChart({ width: 640, height: 340,
      lines: f.curves.map((c, k) => ({ name: c.name, x: c.x, y: c.y, steps: !f.y_log, colour: lineColours[k % lineColours.length] })),
      x: { name: f.x_label, log: f.x_log, low: f.x_low, high: f.x_high, words: v => +v.toPrecision(3) + "" },
      y: { name: f.y_label, log: f.y_log, low: f.y_low, high: f.y_high, words: f.y_log ? v => tickMicros(v * 1e6) : v => Math.round(v * 1000) / 10 + " %" } }));
    theme.watch.push(show);
    show();
    plots.append(plot);
  }
  if (data.figures.length) main.append(plots);
  const tables = [];
  for (const t of data.tables) {
    const s = dataTable(t, { most: 400 });
    const search = make("input", { type: "search", placeholder: "filter", oninput: e => s.filter(e.target.value) });
    main.append(make("section", null, make("div", { class: "bar" }, make("h2", { style: "margin:0;flex:1" }, t.title), t.rows.length > 12 ? search : null), s.element, t.notes ? make("footer", null, make("pre", null, t.notes)) : null));
    tables.push(s);
  }
  checks.push(["every head sorts", () => {
    for (const t of tables) for (const h of t.heads) { h.click(); if (!h.classList.contains("sorted")) return h.textContent; }
    return tables.length > 0 || "no tables";
  }], ["plots tell values under the mouse", () => {
    for (const svg of document.querySelectorAll(".plot svg")) {
      const r = svg.getBoundingClientRect();
      mouse(svg, "mousemove", r.left + r.width / 2, r.top + r.height / 2);
      if (tip.box.style.display !== "block") return "no tip";
      mouse(svg, "mouseleave", 0, 0);
    }
    return true;
  }]);
}

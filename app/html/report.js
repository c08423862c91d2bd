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
  // Of the suite: a row for every instance, and solver against solver.
  const cells = data.tables.find(t => t.columns.some(c => c.heading === "class") && t.columns.some(c => c.heading === "instance"));
  if (cells) {
    const at = h => cells.columns.findIndex(c => c.heading === h), instances = new Map(), solvers = [];
    const value = ["value", "HBM bytes", "spill", "height", "placed"].map(at).find(k => k >= 0);
    for (const r of cells.rows) {
      const name = r[at("instance")][0], solver = r[at("solver")][0];
      if (!instances.has(name)) instances.set(name, { name, row: r, of: {} });
      if (!solvers.includes(solver)) solvers.push(solver);
      instances.get(name).of[solver] = { value: r[value][1], gap: r[at("gap")], time: r[at("time")], how: r[at("outcome")][0], good: r[value][2] === "good" };
    }
    const board = [...instances.values()];
    const keyOf = b => b.row[at("class")][0] + "/" + b.name.replace(/^.*\//, "").replace(/\.instance$/, "");
    const bestOf = b => { const v = solvers.map(s => b.of[s] && b.of[s].value).filter(v => v !== null && v !== undefined); return v.length ? Math.min(...v) : null; };
    const shown = make("section");
    const map = b => {
      const m = data.maps[keyOf(b)];
      const show = make("h2", null, keyOf(b));
      if (!m) { shown.replaceChildren(show, make("p", { class: "dim" }, "its best answer is not at hand")); return; }
      const canvas = make("canvas", { width: 1400, height: 460 }), c = canvas.getContext("2d");
      const end = Math.max(1, ...m.rects.map(r => r[1])), first = Math.min(end - 1, ...m.rects.map(r => r[0])), top = Math.max(1, ...m.rects.map(r => r[2] + r[3]));
      const box = r => [(r[0] - first) / (end - first) * 1400, 460 - (r[2] + r[3]) / top * 460, (r[1] - r[0]) / (end - first) * 1400, r[3] / top * 460];
      m.rects.forEach((r, k) => { c.fillStyle = fillOf(k); c.fillRect(...box(r)); c.strokeStyle = colour("--card"); c.lineWidth = .6; c.strokeRect(...box(r)); });
      canvas.addEventListener("mousemove", e => {
        const o = canvas.getBoundingClientRect(), x = (e.clientX - o.left) / o.width * 1400, y = (e.clientY - o.top) / o.height * 460;
        const r = m.rects.findLast(q => { const [a, b2, w, h] = box(q); return x >= a && x < a + w && y >= b2 && y < b2 + h; });
        if (r) tip.show(e.clientX, e.clientY, make("b", null, r[4]), factTable([["bytes", grouped(r[3])], ["address", grouped(r[2])], ["ticks", r[0] + " to " + r[1]]]));
        else tip.hide();
      });
      canvas.addEventListener("mouseleave", () => tip.hide());
      shown.replaceChildren(show, make("p", { class: "dim" }, `the best answer known: ${grouped(m.placed)} of ${grouped(m.buffers)} buffers on chip${m.rects.length < m.placed ? ", the " + grouped(m.rects.length) + " largest drawn" : ""}; ticks ${first} to ${end}, ${grouped(top)} bytes`), canvas, make("pre", { class: "dim" }, "lxplan show " + m.path + " --html"));
      canvas.scrollIntoView({ block: "nearest" });
    };
    const text = (name, words, value) => ({ name, search: true, value: value || words, words });
    const table = sortable([
      text("class", b => b.row[at("class")][0]), text("instance", b => keyOf(b).replace(/^.*\//, "")),
      { name: "buffers", right: true, value: b => b.row[at("buffers")][1], words: b => b.row[at("buffers")][0] },
      { name: "best here", right: true, value: bestOf, words: b => bestOf(b) === null ? "-" : grouped(bestOf(b)) },
      { name: "bound", right: true, value: b => b.row[at("bound")][1], words: b => b.row[at("bound")][0] },
      ...solvers.map(s => ({ name: s.replace(/^cmd:.*\//, "cmd:"), right: true, value: b => b.of[s] && b.of[s].gap[1] !== undefined ? b.of[s].gap[1] : null, tone: b => b.of[s] && (b.of[s].good || b.of[s].how === "infeasible") ? "good" : "",
        words: b => !b.of[s] ? "" : b.of[s].how === "infeasible" ? "\u2713 infeasible " + b.of[s].time[0] : b.of[s].value === null ? b.of[s].how : (["optimal", "infeasible"].includes(b.of[s].how) ? "\u2713 " : b.of[s].gap[0] + " ") + b.of[s].time[0] })),
    ], board, { most: 200, pick: map });
    const search = make("input", { type: "search", placeholder: "filter", oninput: e => table.filter(e.target.value) });
    main.append(make("section", { id: "board" }, make("div", { class: "bar" }, make("h2", { style: "margin:0;flex:1" }, "Leaderboard"), search), table.element,
      make("footer", null, make("pre", null, "per solver: gap to the best proven bound and seconds; \u2713 proved, green: the best value. A row opens the map of the best answer."))), shown);
    map(board.find(b => data.maps[keyOf(b)]) || board[0]);
    // Scatter: seconds of one solver against another's; what is not solved stands at the edge.
    if (solvers.length > 1) {
      const pick = k => { const s = make("select", { onchange: () => draw2() }, ...solvers.map(n => make("option", { value: n }, n))); s.value = solvers[k]; return s; };
      const a = pick(0), b = pick(1), box = make("div", { style: "max-width:760px" }), edge = Math.max(1, ...board.flatMap(i => solvers.map(s => i.of[s] && i.of[s].time[1] || 0))) * 2;
      const seconds = (i, s) => i.of[s] && i.of[s].value !== null && i.of[s].time[1] ? Math.max(i.of[s].time[1], 1e-6) : edge;
      const draw2 = () => {
        const both = board.filter(i => i.of[a.value] && i.of[b.value]), axis = s => ({ name: s, log: true, low: 1e-6, high: edge, words: v => tickMicros(v * 1e6) });
        const classes = [...new Set(both.map(i => i.row[at("class")][0]))];
        box.replaceChildren(lineChart({ width: 640, height: 420, x: axis(a.value), y: axis(b.value), lines: [
          ...classes.map((n, k) => { const of = both.filter(i => i.row[at("class")][0] === n); return { name: n, dots: true, x: of.map(i => seconds(i, a.value)), y: of.map(i => seconds(i, b.value)), colour: lineColours[k % lineColours.length] }; }),
          { name: "equal", dashed: true, x: [1e-6, edge], y: [1e-6, edge], colour: colour("--dim") }] }));
      };
      theme.watch.push(draw2);
      draw2();
      main.append(make("section", { class: "plot" }, make("div", { class: "bar" }, make("h2", { style: "margin:0;flex:1" }, "Scatter: time, solver against solver"), a, b), box));
    }
    tables.push(table);
    checks.push(["a row of the leaderboard opens its map", () => {
      table.body.querySelector("tr").click();
      return shown.querySelector("h2").textContent.length > 2;
    }]);
  }
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

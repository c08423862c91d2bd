// A sweep: HBM bytes or time against the size of the scratchpad, by solver and number of cores, and all values as a table.
"use strict";
{
  const points = data.points, cores = [...new Set(points.map(p => p.cores))], solvers = [...new Set(points.map(p => p.solver))];
  const hasTime = points.some(p => p.end_to_end_us !== null), list = !hasTime;
  const state = { cores: cores[cores.length - 1], value: data.value };
  const main = page(data.pattern, `${data.of} against ${list ? "capacity" : "the scratchpad (LX) of each core"}: ${new Set(points.map(p => p.lx)).size} sizes, ${solvers.join(", ")}`);
  const words = make("ul", { class: "words" }), chart = make("div", { id: "chart" }), bar = make("div", { class: "bar" });
  main.append(make("section", null, bar, words, chart));
  const buttons = [];
  const button = (label, key, value) => { const e = make("button", { onclick: () => { state[key] = value; show(); } }, label); buttons.push([e, key, value]); return e; };
  if (cores.length > 1) for (const c of cores) bar.append(button(c === 1 ? "1 core" : c + " cores", "cores", c));
  if (hasTime) bar.append(button("HBM bytes", "value", "hbm_bytes"), button("time", "value", "end_to_end_us"));
  const lineOf = (s, key) => points.filter(p => p.cores === state.cores && p.solver === s).map(p => p[key]);
  function show() {
    for (const [e, key, value] of buttons) e.classList.toggle("on", state[key] === value);
    const bytes = state.value === "hbm_bytes", least = bytes ? "least_bytes" : "least_us";
    const lines = solvers.map((s, k) => ({ name: s, x: lineOf(s, "lx"), y: lineOf(s, state.value), colour: lineColours[k % lineColours.length] }));
    const sizes = lines[0].x;
    const bound = sizes.map((_, i) => {
      const b = solvers.map(s => lineOf(s, least)[i]).filter(v => v !== null), v = solvers.map(s => lineOf(s, state.value)[i]).filter(w => w !== null);
      return !b.length ? null : Math.max(...b) <= Math.min(...v) ? Math.max(...b) : Math.min(...b);
    });
    if (bound.some(v => v !== null)) lines.push({ name: "proven least", x: sizes, y: bound, dashed: true, colour: colour("--dim") });
    const marks = data.knees.filter(k => k.cores === state.cores && k.from === "fit").map(k => ({ x: k.lx, words: `${k.solver}: from ${tickBytes(k.lx)} nothing spills` }));
    const y = bytes ? (list ? { words: grouped } : { words: tickBytes, exact: bothBytes, bytes: true }) : { words: tickMicros };
    chart.replaceChildren(lineChart({ lines, marks, x: { name: list ? "capacity" : "LX", log: true, words: tickBytes, exact: bothBytes, bytes: true },
      y: Object.assign({ name: bytes ? data.of : "time from end to end" }, y) }));
    const all = cores.flatMap(c => solvers.map(s => [c, s]));
    words.replaceChildren(...all.map(([c, s], k) => [c, s, data.words[k]]).filter(([c, , w]) => c === state.cores && w).map(([, s, w]) => make("li", null, make("b", null, s), " " + w)));
  }
  theme.watch.push(show);
  const table = sortable([
    { name: "cores", right: true, value: p => p.cores, words: p => p.cores }, { name: "LX bytes", right: true, value: p => p.lx, words: p => grouped(p.lx) },
    { name: "solver", value: p => p.solver, words: p => p.solver, search: true }, { name: "HBM bytes", right: true, value: p => p.hbm_bytes, words: p => grouped(p.hbm_bytes) },
    { name: "proven least", right: true, value: p => p.least_bytes, words: p => grouped(p.least_bytes) }, { name: "gap", right: true, value: p => p.gap, words: p => p.gap === null ? "-" : inPercent(p.gap), tone: p => p.gap === 0 ? "good" : "" },
    { name: "spill", right: true, value: p => p.spill_bytes, words: p => grouped(p.spill_bytes) },
    ...(hasTime ? [{ name: "end to end", right: true, value: p => p.end_to_end_us, words: p => p.end_to_end_us === null ? "-" : inMicros(p.end_to_end_us) }] : []),
    { name: "", value: p => p.why || "", words: p => p.state === "planned" ? (p.fits ? "nothing spills" : "") : p.why || p.state, long: true, tone: p => p.state === "planned" ? "good" : "bad" }],
    points, { id: "points", most: 400 });
  main.append(make("section", null, make("h2", null, grouped(points.length) + " plans"), table.element));
  show();
  checks.push(["the chart tells the values under the mouse", () => {
    const svg = chart.querySelector("svg"), r = svg.getBoundingClientRect();
    for (const f of [.15, .5, .9]) {
      mouse(svg, "mousemove", r.left + r.width * f, r.top + r.height / 2);
      if (tip.box.style.display !== "block" || !solvers.every(s => tip.box.textContent.includes(s))) return tip.box.textContent;
    }
    mouse(svg, "mouseleave", 0, 0);
    return chart.querySelectorAll("path").length > solvers.length || "no lines";
  }], ["every switch redraws", () => {
    for (const [e, key, value] of buttons) { e.click(); if (state[key] !== value || !e.classList.contains("on")) return e.textContent; }
    return true;
  }], ["the table sorts", () => {
    table.heads[1].click();
    return table.body.rows[0].cells[1].textContent === grouped(Math.max(...points.map(p => p.lx))) || table.body.rows[0].textContent;
  }]);
}

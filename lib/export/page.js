// What all pages share: data, theme, numbers, tooltip, tables that sort, line charts. No network, no libraries.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const errors = [];
addEventListener("error", e => errors.push(e.message));
addEventListener("unhandledrejection", e => errors.push(String(e.reason)));

function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {}))
    if (k === "class") e.className = v; else if (k.startsWith("on")) e.addEventListener(k.slice(2), v); else e.setAttribute(k, v);
  for (const c of children) if (c !== null && c !== undefined) e.append(c);
  return e;
}
function draw(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  for (const c of children) e.append(c);
  return e;
}
const grouped = n => n === null || n === undefined ? "-" : Math.round(n).toLocaleString("en-US");
function inBytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let u = 0, v = Math.abs(n);
  while (v >= 1024 && u < 4) { v /= 1024; u++; }
  return u === 0 ? grouped(n) + " B" : (n < 0 ? "-" : "") + v.toFixed(v < 10 ? 2 : v < 100 ? 1 : 0) + " " + units[u];
}
// At axes: "16 KiB", "114.5 KiB", "10 ms", without zeros behind the point.
function tickBytes(n, like) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let u = 0, size = 1;
  while (Math.abs(like === undefined ? n : like) / size >= 1024 && u < 4) { size *= 1024; u++; }
  return n === 0 ? "0" : +(n / size).toPrecision(4) + " " + units[u];
}
const tickMicros = us => {
  const [size, unit] = microUnit(us || 1);
  return +(us / size).toPrecision(3) + unit;
};
const bothBytes = n => Math.abs(n) < 10240 ? grouped(n) + " B" : grouped(n) + " B (" + inBytes(n) + ")";
const microUnit = us => us >= 999500 ? [1e6, " s"] : us >= 999.5 ? [1000, " ms"] : us >= 0.9995 ? [1, " us"] : [0.001, " ns"];
const inMicros = us => {
  const [size, unit] = microUnit(Math.abs(us)), v = us / size, most = Math.abs(v);
  return v === 0 ? "0 s" : v.toFixed(most >= 99.95 ? 0 : most >= 9.995 ? 1 : 2) + unit;
};
const inPercent = x => (100 * x).toFixed(1) + " %";
const hex = a => "0x" + a.toString(16).padStart(6, "0");

// Dark or light: what the system says, until the switch says otherwise.
const theme = {
  watch: [], media: matchMedia("(prefers-color-scheme: dark)"), chosen: null,
  isDark() { return this.chosen === null ? this.media.matches : this.chosen; },
  apply() {
    document.documentElement.dataset.theme = this.isDark() ? "dark" : "light";
    known.clear();
    const b = document.getElementById("theme");
    if (b) b.textContent = this.isDark() ? "\u2600 light" : "\u263e dark";
    for (const f of this.watch) f();
  },
  turn() { this.chosen = !this.isDark(); this.apply(); }
};
theme.media.addEventListener("change", () => theme.apply());
const known = new Map(); // colours of the theme; asking the style for each box would take long
const colour = name => {
  if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return known.get(name);
};
const hueOf = i => (i * 137.508 + 205) % 360;
const fillOf = (i, alpha) => `hsla(${hueOf(i).toFixed(1)}, ${colour("--fill-s")}, ${colour("--fill-l")}, ${alpha === undefined ? 1 : alpha})`;
const lineColours = ["#3b82f6", "#e4761b", "#12a37f", "#c76bb0", "#d9a406", "#4fb3e8", "#8c6d1f", "#7a7a7a"];

const tip = {
  box: null,
  show(x, y, ...content) {
    this.box.replaceChildren(...content);
    this.box.style.display = "block";
    const w = this.box.offsetWidth, h = this.box.offsetHeight;
    this.box.style.left = Math.max(4, x + 16 + w > innerWidth ? x - w - 12 : x + 16) + "px";
    this.box.style.top = Math.max(4, y + 16 + h > innerHeight ? y - h - 12 : y + 16) + "px";
  },
  hide() { this.box.style.display = "none"; }
};
function factTable(facts) {
  const t = make("table");
  for (const [name, value] of facts) if (value !== null && value !== "") t.append(make("tr", null, make("td", null, name), make("td", null, value)));
  return t;
}

// A table that sorts by a click on its head. columns: {name, right, value(row), words(row), swatch(row)}; rows: any array.
function sortable(columns, rows, options) {
  const o = Object.assign({ most: 300, pick: null, isHere: () => false, sort: -1, down: false, id: "" }, options);
  let by = o.sort, down = o.down, order = rows.map((_, i) => i), shown = o.most, only = "";
  const body = make("tbody"), head = make("tr"), more = make("button", { onclick: () => { shown += 2000; fill(); } });
  const heads = columns.map((c, k) => make("th", { class: c.right ? "right" : "", onclick: () => sortBy(k) }, c.name));
  head.append(...heads);
  const compare = (a, b) => {
    const x = columns[by].value(rows[a]), y = columns[by].value(rows[b]);
    const d = x === y ? a - b : x === null ? 1 : y === null ? -1 : x < y ? -1 : 1;
    return x === null || y === null || x === y ? d : down ? -d : d;
  };
  function arrange() {
    order = rows.map((_, i) => i);
    if (only) order = order.filter(i => columns.some(c => c.search && String(c.words(rows[i])).toLowerCase().includes(only)));
    if (by >= 0) order.sort(compare);
    heads.forEach((h, k) => { h.classList.toggle("sorted", k === by); h.classList.toggle("down", k === by && down); });
    fill();
  }
  function sortBy(k) {
    down = by === k ? !down : !!columns[k].right;
    by = k;
    arrange();
  }
  function fill() {
    body.replaceChildren(...order.slice(0, shown).map(i => {
      const tr = make("tr", { class: o.isHere(rows[i]) ? "here" : "", onclick: () => o.pick && o.pick(rows[i]) });
      for (const c of columns) {
        const td = make("td", { class: c.right ? "right" : c.long && String(c.words(rows[i])).length > 40 ? "words" : "" });
        if (c.swatch) td.append(make("i", { class: "swatch", style: "background:" + c.swatch(rows[i]) }));
        td.append(String(c.words(rows[i])));
        if (c.tone) td.classList.add(c.tone(rows[i]) || "x");
        tr.append(td);
      }
      return tr;
    }));
    more.textContent = grouped(order.length - shown) + " more rows";
    more.style.display = order.length > shown ? "" : "none";
  }
  const element = make("div", { id: o.id }, make("div", { class: "scroll" }, make("table", null, make("thead", null, head), body)), more);
  arrange();
  return { element, fill, filter(text) { only = text.toLowerCase(); shown = o.most; arrange(); }, heads, body };
}

// A table that comes as data: per value what people read, what it is sorted by, and its tone.
function dataTable(t, options) {
  const valueOf = (c, v) => v[1] !== null && v[1] !== undefined ? v[1] : c.right ? null : v[0];
  return sortable(t.columns.map((c, k) => ({ name: c.heading, right: c.right, long: c.long, search: !c.right,
    value: r => valueOf(c, r[k]), words: r => r[k][0], tone: r => r[k][2] || "" })), t.rows, options);
}

// Marks of an axis: steps of 1, 2, 5; powers of two where bytes are logarithmic.
function ticksOf(low, high, most, log, bytes) {
  const out = [];
  if (!(high > low)) return [low];
  if (log && low > 0) {
    const base = bytes ? 2 : 10, first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9), last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
    const every = Math.max(1, Math.ceil((last - first + 1) / most));
    for (let k = first; k <= last; k += every) out.push(base ** k);
    if (out.length >= 3) return out;
    out.length = 0;
  }
  const unit = bytes ? 1024 ** Math.floor(Math.log(Math.max(high, 1)) / Math.log(1024)) : 1;
  let step = unit * 10 ** Math.floor(Math.log10((high - low) / unit / most));
  for (const f of [1, 2, 5, 10, 20]) if (Math.floor((high - low) / (step * f) + 1e-9) + 1 <= most) { step *= f; break; }
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) out.push(k * step || 0);
  return out;
}

// A line chart. spec: {lines: [{name, x, y, dashed, steps}], x: {name, log, words, bytes}, y: {...}, marks: [{x, words}]}.
function lineChart(spec) {
  const W = spec.width || 1080, H = spec.height || 400, L = 84, R = 24, T = 14, B = 50;
  const all = (key) => spec.lines.flatMap(l => l[key].filter((v, i) => v !== null && l.y[i] !== null && isFinite(v)));
  const ends = (key, axis) => {
    const v = all(key);
    let low = axis.low !== undefined ? axis.low : Math.min(...v), high = axis.high !== undefined ? axis.high : Math.max(...v);
    if (!v.length) { low = axis.log ? 1 : 0; high = 1; }
    const air = axis.log || key === "x" ? 0 : (high - low) * .06;
    if (axis.low === undefined && key === "y" && !axis.log) low = low < high / 2 ? 0 : low - air;
    if (axis.high === undefined && key === "y") high = high + air;
    return high > low ? [low, high] : [low, axis.log ? low * 2 : low + 1];
  };
  const [x0, x1] = ends("x", spec.x), [y0, y1] = ends("y", spec.y);
  const share = (v, a, b, log) => log ? (Math.log(v) - Math.log(a)) / (Math.log(b) - Math.log(a)) : (v - a) / (b - a);
  const X = v => L + share(Math.max(v, x0), x0, x1, spec.x.log) * (W - L - R), Y = v => H - B - share(v, y0, y1, spec.y.log) * (H - T - B);
  const svg = draw("svg", { viewBox: `0 0 ${W} ${H}`, width: "100%", role: "img" });
  for (const v of ticksOf(x0, x1, Math.round(W / 120), spec.x.log, spec.x.bytes)) {
    svg.append(draw("path", { class: "gridline", d: `M${X(v)} ${T}V${H - B}` }), draw("text", { class: "tick", x: X(v), y: H - B + 18, "text-anchor": "middle" }, spec.x.words(v, spec.x.log ? v : x1)));
  }
  for (const v of ticksOf(y0, y1, 7, spec.y.log, spec.y.bytes)) {
    svg.append(draw("path", { class: "gridline", d: `M${L} ${Y(v)}H${W - R}` }), draw("text", { class: "tick", x: L - 8, y: Y(v) + 4, "text-anchor": "end" }, spec.y.words(v, spec.y.log ? v : y1)));
  }
  svg.append(draw("path", { class: "axis", d: `M${L} ${T}V${H - B}H${W - R}` }),
    draw("text", { x: (L + W - R) / 2, y: H - 10, "text-anchor": "middle" }, spec.x.name),
    draw("text", { transform: `translate(16 ${(T + H - B) / 2}) rotate(-90)`, "text-anchor": "middle" }, spec.y.name));
  (spec.marks || []).forEach((m, k) => {
    const left = X(m.x) > W / 2;
    svg.append(draw("path", { class: "knee", d: `M${X(m.x)} ${T}V${H - B}` }),
      draw("text", { class: "kneewords", x: X(m.x) + (left ? -6 : 6), y: T + 14 + 16 * k, "text-anchor": left ? "end" : "start" }, m.words));
  });
  spec.lines.slice().reverse().forEach(l => {
    let d = "", down = false;
    l.x.forEach((x, i) => {
      if (l.y[i] === null || !isFinite(l.y[i])) { down = false; return; }
      d += !down ? `M${X(x).toFixed(1)} ${Y(l.y[i]).toFixed(1)}` : l.steps ? `H${X(x).toFixed(1)}V${Y(l.y[i]).toFixed(1)}` : `L${X(x).toFixed(1)} ${Y(l.y[i]).toFixed(1)}`;
      down = true;
    });
    if (l.dots) d = "";
    for (let i = 0; l.dots && i < l.x.length; i++) svg.append(draw("circle", { cx: X(l.x[i]), cy: Y(l.y[i]), r: 3.5, fill: l.colour, "fill-opacity": .6 }));
    if (l.steps && down) d += `H${W - R}`;
    if (d) svg.append(draw("path", { d, fill: "none", stroke: l.colour, "stroke-width": l.dashed ? 1.6 : 2.2, "stroke-dasharray": l.dashed ? "5 4" : "none", "stroke-linejoin": "round" }));
  });
  const cross = draw("path", { class: "cross", d: "" });
  svg.append(cross);
  svg.addEventListener("mousemove", e => {
    const box = svg.getBoundingClientRect(), px = (e.clientX - box.left) / box.width * W;
    const places = [...new Set(spec.lines.flatMap(l => l.x))];
    if (!places.length) return;
    const at = places.reduce((a, b) => Math.abs(X(b) - px) < Math.abs(X(a) - px) ? b : a);
    cross.setAttribute("d", `M${X(at)} ${T}V${H - B}`);
    const facts = spec.lines.map(l => {
      let i = l.x.indexOf(at);
      if (i < 0 && l.steps) for (let k = 0; k < l.x.length && l.x[k] <= at; k++) i = k;
      return [l.name, i < 0 || l.y[i] === null ? "-" : (spec.y.exact || spec.y.words)(l.y[i])];
    });
    tip.show(e.clientX, e.clientY, make("b", null, spec.x.name + " " + (spec.x.exact || spec.x.words)(at)), factTable(facts));
  });
  svg.addEventListener("mouseleave", () => { cross.setAttribute("d", ""); tip.hide(); });
  const legend = make("div", { class: "bar" });
  for (const l of spec.lines) legend.append(make("span", null, make("i", { class: "swatch", style: "background:" + l.colour + (l.dashed ? ";opacity:.55" : "") }), l.name));
  return make("div", null, legend, svg);
}

function page(title, subtitle) {
  tip.box = make("div", { id: "tip" });
  const main = make("main");
  document.title = title;
  document.getElementById("still").remove(); // what is read without scripts
  document.body.append(make("header", null, make("div", null, make("h1", null, title), make("p", null, subtitle)), make("button", { id: "theme", onclick: () => theme.turn() })), main, tip.box);
  theme.apply();
  return main;
}
function chips(facts) {
  return make("div", { class: "chips" }, ...facts.map(([name, value, tone]) => make("div", { class: "chip" }, make("b", { class: tone || "" }, value), make("span", null, name))));
}

// #selftest: real events on what is there; the verdict is written into the page, where a test reads it.
const checks = [];
function selftest() {
  const results = [];
  for (const [name, check] of checks) {
    try { const r = check(); results.push((r === true ? "ok " : "FAILED ") + name + (r === true ? "" : ": " + r)); }
    catch (e) { results.push("FAILED " + name + ": " + e.message); }
  }
  const before = document.documentElement.dataset.theme;
  document.getElementById("theme").click();
  results.push((document.documentElement.dataset.theme !== before ? "ok " : "FAILED ") + "the switch of the theme");
  document.getElementById("theme").click();
  for (const e of performance.getEntriesByType("resource")) results.push("FAILED a request: " + e.name);
  for (const e of errors) results.push("FAILED error: " + e);
  results.push(results.some(r => r.startsWith("FAILED")) ? "selftest: failed" : "selftest: " + results.length + " checks, all ok; theme " + before);
  document.body.append(make("pre", { id: "selftest" }, results.join("\n")));
}
addEventListener("load", () => { if (location.hash === "#selftest") selftest(); });
const mouse = (target, type, x, y) => target.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: x, clientY: y }));

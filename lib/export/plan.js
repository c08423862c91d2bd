// A plan: addresses against time on a canvas, what is off chip below it, a slider for time, what each core holds, tables.
"use strict";
{
  const p = data, b = p.buffers, n = b.name.length;
  const main = page(p.name, p.subtitle);
  main.append(chips(p.facts));
  if (p.words.length) main.append(make("ul", { class: "words" }, ...p.words.map(w => make("li", null, w))));

  const state = { tick: p.peak_tick, first: p.first, last: Math.max(p.last, p.first + 1), pick: -1, hover: -1, core: 0, iteration: 0 };
  const LEFT = 92, RIGHT = 14, TOP = 8, MAP = 440, AXIS = 44 + (p.nests.length ? 22 : 0), USE = 54, GAP = 26, LANE = 15;

  // Nests: the one at a tick, how far its loops are in an iteration, and which slice of a tensor is there then.
  const nestAt = t => p.nests.findIndex(k => k.first <= t && t <= k.last);
  const iterations = k => k.levels.reduce((s, l) => s * l.tiles, 1);
  const iterationOf = k => Math.min(state.iteration, iterations(k) - 1);
  const indexAt = (k, level) => Math.floor(iterationOf(k) / k.levels.slice(level + 1).reduce((s, l) => s * l.tiles, 1)) % k.levels[level].tiles;
  const sliceOf = (k, levels) => k.levels.map((l, i) => levels >> i & 1 ? `${l.letter} ${indexAt(k, i) * l.each}..${(indexAt(k, i) + 1) * l.each}` : "").filter(w => w).join(", ");
  const tileOf = i => b.nest[i] >= 0 ? sliceOf(p.nests[b.nest[i]], b.levels[i]) : "";

  // Lanes of what is off chip and could have been on chip: the dearest first, each in the first lane that is free.
  const lanes = [], spilled = [];
  for (let i = 0; i < n; i++) if (b.address[i] < 0 && !b.barred[i]) spilled.push(i);
  spilled.sort((x, y) => b.cost[y] - b.cost[x]);
  const laneOf = new Map();
  for (const i of spilled.slice(0, 4000)) {
    let k = lanes.findIndex(l => l.every(j => b.end[j] <= b.start[i] || b.start[j] >= b.end[i]));
    if (k < 0) { if (lanes.length >= 14) continue; k = lanes.length; lanes.push([]); }
    lanes[k].push(i);
    laneOf.set(i, k);
  }
  const height = TOP + MAP + AXIS + USE + (lanes.length ? GAP + lanes.length * LANE : 0) + 8;
  const canvas = make("canvas", { id: "map", style: `height:${height}px` });
  const slider = make("input", { type: "range", id: "time", min: p.first, max: Math.max(p.last - 1, p.first), value: state.tick });
  const clock = make("span", { id: "clock" });
  let playing = null;
  const play = make("button", { onclick: () => {
    if (playing) { clearInterval(playing); playing = null; } else playing = setInterval(() => setTick(state.tick + 1 >= p.last ? p.first : state.tick + 1), 350);
    play.textContent = playing ? "\u23f8 stop" : "\u25b6 play";
  } }, "\u25b6 play");
  const map = make("section", null, make("div", { class: "bar" }, make("h2", { style: "margin:0;flex:1" }, p.is_list ? "Addresses against time" : "Scratchpad of each core: addresses against time"),
    make("span", { class: "dim" }, "wheel: zoom time, drag: move, double click: all of it")), canvas, make("div", { class: "bar", style: "margin:8px 0 0" }, play, slider, clock));
  main.append(map);

  let width = 900;
  const X = t => LEFT + (t - state.first) / (state.last - state.first) * (width - LEFT - RIGHT);
  const tickAt = x => state.first + (x - LEFT) / (width - LEFT - RIGHT) * (state.last - state.first);
  const Y = a => TOP + MAP - a / p.top * MAP;
  const useTop = TOP + MAP + AXIS, laneTop = useTop + USE + GAP;
  const rectOf = i => {
    const x = X(b.start[i]), w = Math.max(X(b.end[i]) - x, .6);
    if (b.address[i] >= 0) { const a = b.address[i] + p.bands[b.pool[i]].base, y = Y(a + b.size[i]); return [x, y, w, Math.max(Y(a) - y, .6)]; }
    return laneOf.has(i) ? [x, laneTop + laneOf.get(i) * LANE + 1, w, LANE - 2] : null;
  };
  const heir = new Map();
  for (let i = 0; i < n; i++) if (b.slot[i] >= 0) heir.set(b.slot[i], i);

  function box(g, i, ink) {
    const r = rectOf(i);
    if (!r || r[0] > width || r[0] + r[2] < LEFT) return;
    const x = Math.max(r[0], LEFT), w = r[0] + r[2] - x, off = b.address[i] < 0;
    g.fillStyle = fillOf(b.identity[i], off ? .55 : p.lives[i] ? .25 : 1);
    g.fillRect(x, r[1], w, r[3]);
    if (p.lives[i] && !off) { // between its lives it takes nothing
      g.fillStyle = fillOf(b.identity[i]);
      for (const [from, to] of p.lives[i]) g.fillRect(X(from), r[1], X(to) - X(from), r[3]);
    }
    if (b.hold[i] > 0) { // a tile: dotted
      g.fillStyle = ink.hatch;
      for (let y = r[1] + 2; y < r[1] + r[3] - 1; y += 5) for (let k = x + 2; k < x + w - 1; k += 5) g.fillRect(k, y, 1.4, 1.4);
    }
    if (w > 3 && r[3] > 3) { g.strokeStyle = ink.line; g.lineWidth = 1; g.setLineDash(off ? [3, 2] : []); g.strokeRect(x + .5, r[1] + .5, w - 1, r[3] - 1); g.setLineDash([]); }
    let from = x, to = x + w;
    if (b.slot[i] >= 0) {
      const until = Math.min(X(b.end[b.slot[i]]), to);
      g.save(); g.beginPath(); g.rect(x, r[1], until - x, r[3]); g.clip(); g.strokeStyle = ink.hatch;
      for (let k = x - r[3]; k < until; k += 6) { g.beginPath(); g.moveTo(k, r[1] + r[3]); g.lineTo(k + r[3], r[1]); g.stroke(); }
      g.restore();
      from = Math.max(until, from);
    }
    if (heir.has(i)) to = Math.min(to, X(b.start[heir.get(i)]));
    const covered = to - from <= 24; // all of it is shared with the one before or behind: the name then has a ground of its own
    if (covered) { from = x; to = heir.has(i) ? Math.min(x + w, Math.max(X(b.start[heir.get(i)]), x)) : x + w; }
    if (r[3] >= 12 && to - from > 24) {
      g.fillStyle = ink.text; g.font = "11px system-ui, sans-serif"; g.textAlign = "center"; g.textBaseline = "middle";
      let name = b.name[i];
      const room = to - from - 8;
      if (g.measureText(name).width > room) { while (name.length > 1 && g.measureText(name + "\u2026").width > room) name = name.slice(0, -1); name += "\u2026"; }
      if ((name === b.name[i] || name.length > 4) && g.measureText(name).width <= room) {
        if (covered && b.slot[i] >= 0) { const m = g.measureText(name).width / 2 + 3; g.fillStyle = fillOf(b.identity[i]); g.fillRect((from + to) / 2 - m, r[1] + r[3] / 2 - 7, 2 * m, 14); g.fillStyle = ink.text; }
        g.fillText(name, (from + to) / 2, r[1] + r[3] / 2 + .5);
      }
    }
  }
  // All that stays while the mouse moves is painted once, on a canvas of its own.
  const still = document.createElement("canvas");
  let stillOf = "";
  function paintStill(ratio) {
    const of = [state.first, state.last, width, ratio, theme.isDark()].join();
    if (of === stillOf) return;
    stillOf = of;
    still.width = width * ratio; still.height = height * ratio;
    const g = still.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    const ink = { text: colour("--ink"), dim: colour("--dim"), grid: colour("--grid"), line: theme.isDark() ? "rgba(255,255,255,.22)" : "rgba(20,30,45,.28)", hatch: theme.isDark() ? "rgba(255,255,255,.35)" : "rgba(20,30,45,.38)" };
    g.font = "11px system-ui, sans-serif";
    g.strokeStyle = ink.grid; g.fillStyle = ink.dim; g.lineWidth = 1;
    g.textAlign = "right"; g.textBaseline = "middle";
    for (const band of p.bands) {
      for (const a of ticksOf(0, band.shown, Math.max(2, Math.round(9 * band.shown / p.top)), false, true)) {
        const y = Y(band.base + a);
        g.beginPath(); g.moveTo(LEFT, Math.round(y) + .5); g.lineTo(width - RIGHT, Math.round(y) + .5); g.stroke();
        g.fillText(tickBytes(a, band.shown), LEFT - 8, y);
      }
      if (band.name) { g.textAlign = "left"; g.fillStyle = ink.text; g.fillText(band.name.slice(0, 9), 0, Y(band.base + band.shown / 2)); g.textAlign = "right"; g.fillStyle = ink.dim; }
    }
    g.textAlign = "center"; g.textBaseline = "top";
    const times = ticksOf(state.first, state.last, Math.max(2, Math.floor((width - LEFT) / 90)), false, false).filter(t => Number.isInteger(t));
    for (const t of times) {
      g.beginPath(); g.moveTo(X(t) + .5, TOP); g.lineTo(X(t) + .5, TOP + MAP + 4); g.stroke();
      g.fillText(grouped(t), Math.min(X(t), width - RIGHT - 2 - 3 * grouped(t).length), TOP + MAP + 6);
    }
    if (p.ops.length && state.last - state.first <= (width - LEFT) / 46) {
      g.textAlign = "center";
      for (let t = Math.max(Math.floor(state.first), 0); t < state.last && t < p.ops.length; t++) {
        let name = p.ops[t].name; const room = X(t + 1) - X(t) - 4;
        while (name.length > 3 && g.measureText(name).width > room) name = name.slice(0, -1);
        g.fillText(name, (X(t) + X(t + 1)) / 2, TOP + MAP + 22);
      }
    }
    g.textAlign = "right"; g.fillText("tick", LEFT - 8, TOP + MAP + 6);
    if (p.nests.length) {
      const y = TOP + MAP + 40;
      g.fillText("nests", LEFT - 8, y + 2); g.textAlign = "center";
      for (const k of p.nests) {
        const from = Math.max(X(k.first) + 1, LEFT), to = Math.min(X(k.last + 1) - 1, width - RIGHT);
        if (to <= from) continue;
        g.strokeStyle = ink.dim; g.beginPath(); g.moveTo(from, y - 2); g.lineTo(from, y + 3); g.lineTo(to, y + 3); g.lineTo(to, y - 2); g.stroke();
        if (g.measureText(k.words).width <= to - from - 4) g.fillText(k.words, (from + to) / 2, y + 6);
      }
      g.strokeStyle = ink.grid; g.textAlign = "right";
    }
    g.save(); g.beginPath(); g.rect(LEFT, TOP, width - LEFT - RIGHT, height - TOP); g.clip();
    for (let i = 0; i < n; i++) if (b.address[i] >= 0 && b.end[i] > state.first && b.start[i] < state.last) box(g, i, ink);
    for (const i of laneOf.keys()) if (b.end[i] > state.first && b.start[i] < state.last) box(g, i, ink);
    g.strokeStyle = colour("--bad"); g.setLineDash([6, 3]);
    for (const band of p.bands) {
      if (band.capacity > band.shown) continue;
      g.beginPath(); g.moveTo(LEFT, Y(band.base + band.capacity)); g.lineTo(width - RIGHT, Y(band.base + band.capacity)); g.stroke();
    }
    g.setLineDash([]);
    g.fillStyle = theme.isDark() ? "#3d5a80" : "#9db8d6"; g.beginPath(); g.moveTo(LEFT, useTop + USE);
    const whole = Math.max(p.capacity, p.peak, 1);
    let y = useTop + USE;
    for (let k = 0; k < p.use.tick.length; k++) {
      const x = Math.min(Math.max(X(p.use.tick[k]), LEFT - 5), width + 5);
      g.lineTo(x, y); y = useTop + USE - USE * p.use.bytes[k] / whole; g.lineTo(x, y);
    }
    g.lineTo(X(p.last), y); g.lineTo(X(p.last), useTop + USE); g.fill();
    g.restore();
    g.fillStyle = ink.dim; g.textAlign = "right"; g.textBaseline = "top";
    g.fillText("in use", LEFT - 8, useTop + 6); g.fillText("peak " + inPercent(p.peak / Math.max(p.capacity, 1)), LEFT - 8, useTop + 22);
    if (lanes.length) { g.fillText("spilled", LEFT - 8, laneTop + 2); if (spilled.length > laneOf.size) g.fillText("+" + grouped(spilled.length - laneOf.size) + " more", LEFT - 8, laneTop + 18); }
  }
  function paint() {
    const ratio = devicePixelRatio || 1;
    width = canvas.clientWidth || 900;
    paintStill(ratio);
    canvas.width = width * ratio; canvas.height = height * ratio;
    const g = canvas.getContext("2d"), ink = { text: colour("--ink") };
    g.drawImage(still, 0, 0);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.beginPath(); g.rect(LEFT, TOP, width - LEFT - RIGHT, height - TOP); g.clip();
    for (const [i, c, w] of [[state.pick, colour("--accent"), 2.5], [state.hover, ink.text, 2]]) {
      const r = i >= 0 ? rectOf(i) : null;
      if (r) { g.strokeStyle = c; g.lineWidth = w; g.strokeRect(r[0], r[1], r[2], r[3]); }
    }
    g.strokeStyle = colour("--accent"); g.lineWidth = 1.5; g.beginPath(); g.moveTo(X(state.tick + .5), TOP); g.lineTo(X(state.tick + .5), height); g.stroke();
    g.fillStyle = colour("--accent"); g.globalAlpha = .10; g.fillRect(X(state.tick), TOP, Math.max(X(state.tick + 1) - X(state.tick), 1), height); g.globalAlpha = 1;
  }
  function at(x, y) {
    let best = -1;
    for (let i = 0; i < n; i++) {
      if (b.address[i] < 0 && !laneOf.has(i)) continue;
      const r = rectOf(i);
      if (r && x >= r[0] && x < r[0] + r[2] && y >= r[1] && y < r[1] + r[3]) best = i; // of two in a handover, the later
    }
    return best;
  }
  const where = i => b.address[i] >= 0 ? hex(b.address[i]) + " (" + grouped(b.address[i]) + ")" : b.barred[i] ? "HBM only" : "off chip";
  const lifeOf = i => "ticks " + (p.lives[i] ? p.lives[i].map(l => grouped(l[0]) + " to " + grouped(l[1])).join(", ") : grouped(b.start[i]) + " to " + grouped(b.end[i]));
  function about(i) {
    return [make("b", null, make("i", { class: "swatch", style: "background:" + fillOf(b.identity[i]) }), b.name[i]), factTable([
      ["bytes", bothBytes(b.size[i])], ["address", where(i)], ["life", lifeOf(i)], ["cost off chip", bothBytes(b.cost[i])],
      ["HBM moved", b.moved.length ? bothBytes(b.moved[i]) : null], ["pool", p.bands.length > 1 && b.address[i] >= 0 ? p.bands[b.pool[i]].name : null],
      ["tile", b.nest[i] >= 0 ? tileOf(i) + "; " + p.tiles[i] : null],
      ["in place of", b.slot[i] >= 0 ? b.name[b.slot[i]] : null], ["why", b.reason[i] || null]])];
  }
  let drag = null;
  canvas.addEventListener("mousemove", e => {
    const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    if (drag) {
      const by = (drag.x - x) / (width - LEFT - RIGHT) * (drag.last - drag.first);
      window_(drag.first + by, drag.last + by); return;
    }
    const i = at(x, y);
    if (i !== state.hover) { state.hover = i; paint(); }
    if (i >= 0) tip.show(e.clientX, e.clientY, ...about(i)); else tip.hide();
  });
  canvas.addEventListener("mouseleave", () => { state.hover = -1; tip.hide(); paint(); });
  canvas.addEventListener("mousedown", e => { drag = { x: e.clientX - canvas.getBoundingClientRect().left, first: state.first, last: state.last, moved: e.clientX }; });
  addEventListener("mouseup", () => { drag = null; });
  canvas.addEventListener("click", e => {
    const r = canvas.getBoundingClientRect(), i = at(e.clientX - r.left, e.clientY - r.top);
    setTick(Math.floor(tickAt(e.clientX - r.left)));
    pick(i);
  });
  canvas.addEventListener("dblclick", () => window_(p.first, p.last));
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    const t = tickAt(e.clientX - canvas.getBoundingClientRect().left), f = e.deltaY < 0 ? .8 : 1.25;
    window_(t - (t - state.first) * f, t + (state.last - t) * f);
  }, { passive: false });
  function window_(first, last) {
    const span = Math.min(Math.max(last - first, 2), Math.max(p.last - p.first, 1));
    state.first = Math.min(Math.max(first, p.first), p.last - span);
    state.last = state.first + span;
    paint();
  }

  // What stands at the tick: the op, what each core holds of its operands, and who is on chip.
  const now = make("section"), live = make("section");
  main.append(make("div", { class: "two" }, now, live));
  const partOf = (v, core) => { let k = 0; for (let d = 0; d < v.slices.length; d++) k = k * v.slices[d] + (v.slices[d] > 1 ? Math.floor(core / v.stride[d]) % v.slices[d] : 0); return k; };
  function showOp() {
    const op = p.ops[state.tick];
    now.replaceChildren(make("h2", null, op ? "Tick " + grouped(state.tick) + ": " + op.name : "Tick " + grouped(state.tick)));
    if (!op) { now.append(make("p", { class: "dim" }, p.is_list ? "A list of buffers has no ops." : "No op runs here.")); return; }
    now.append(make("p", null, op.kind + (op.einsum ? " " + op.einsum : "") + ", HBM " + inBytes(op.hbm) + ", LX " + inBytes(op.lx) + (op.ring ? ", ring " + inBytes(op.ring) : "") + ", predicted " + inMicros(op.us)));
    if (!op.views) return;
    now.append(make("p", { class: "dim" }, op.cuts.filter(c => c.cut > 1).map(c => `${c.letter} ${c.extent} cut in ${c.cut}`).join(", ") || "not cut: one core does it all"));
    const text = make("p", { id: "core" }), figures = make("div", { class: "cores" });
    const side = Math.min(p.grid_x, 16);
    for (const v of op.views) {
      const grid = make("div", { class: "grid", style: `grid-template-columns:repeat(${side},auto)` });
      for (let c = 0; c < p.cores; c++) {
        const holds = c < op.cores, k = holds ? partOf(v, c) : -1;
        grid.append(make("div", { class: c === state.core ? "here" : "", style: holds ? "background:" + fillOf(k) : "background:" + colour("--grid"), "data-core": c,
          onmouseover: () => { state.core = c; tell(); } }, holds ? String(k) : ""));
      }
      figures.append(make("figure", null, make("figcaption", null, make("b", null, v.name), " " + v.how + ", " + inBytes(v.bytes) + " per core" + (v.partial ? ", partial sums" : "")), grid));
    }
    function tell() {
      for (const d of figures.querySelectorAll("[data-core]")) d.classList.toggle("here", +d.dataset.core === state.core);
      const c = state.core;
      const nest = p.nests[nestAt(state.tick)];
      text.textContent = c >= op.cores ? `core ${c} has nothing to do` : `core ${c} works on ` + (op.cuts.map(k => {
        const tile = nest && k.level >= 0 ? indexAt(nest, k.level) * k.extent : 0;
        const s = k.cut > 1 ? Math.floor(c / k.stride) % k.cut : 0, from = Math.min(s * k.per, k.extent), to = Math.min(from + k.per, k.extent);
        return `${k.letter} ${tile + from}..${tile + to}`;
      }).join(", ") || "all of it");
    }
    now.append(text, figures);
    tell();
  }
  const swatch = i => fillOf(b.identity[i]);
  function showLive() {
    const rows = [];
    for (let i = 0; i < n; i++) if (b.address[i] >= 0 && b.start[i] <= state.tick && b.end[i] > state.tick) rows.push(i);
    const sum = rows.reduce((s, i) => s + (b.slot[i] >= 0 && b.end[b.slot[i]] > state.tick ? 0 : b.size[i]), 0);
    live.replaceChildren(make("h2", null, `On chip now: ${grouped(rows.length)} buffers, ${inBytes(sum)}`),
      sortable([{ name: "buffer", value: i => b.name[i], words: i => b.name[i], swatch }, { name: "bytes", right: true, value: i => b.size[i], words: i => grouped(b.size[i]) },
        { name: "address", right: true, value: i => b.address[i], words: i => hex(b.address[i]) }, ...(p.nests.length ? [{ name: "slice", value: i => tileOf(i), words: i => tileOf(i) }] : []), { name: "life", right: true, value: i => b.start[i], words: i => b.start[i] + ".." + b.end[i] }],
        rows, { sort: 2, most: 60, pick: i => pick(i) }).element);
  }
  // A slider of its own for the iterations of the nest at the tick.
  const turns = make("input", { type: "range", id: "iteration", min: 0, max: 0, value: 0 }), turn = make("span", { id: "turn" });
  const loop = make("div", { class: "bar", id: "loop", style: "margin:8px 0 0" }, make("button", { onclick: () => setIteration(state.iteration - 1) }, "\u25c0"),
    make("button", { onclick: () => setIteration(state.iteration + 1) }, "\u25b6"), turns, turn);
  if (p.nests.length) map.append(loop);
  function showTurn() {
    const k = p.nests[nestAt(state.tick)];
    loop.style.visibility = k ? "visible" : "hidden";
    if (!k) return;
    turns.max = iterations(k) - 1; turns.value = iterationOf(k);
    turn.textContent = `iteration ${grouped(iterationOf(k) + 1)} of ${grouped(iterations(k))}: ` + sliceOf(k, 7) + ` (${k.words})`;
  }
  function setIteration(to) {
    const k = p.nests[nestAt(state.tick)];
    if (!k) return;
    state.iteration = (to + iterations(k)) % iterations(k);
    showTurn(); showOp(); showLive(); all.fill();
  }
  turns.addEventListener("input", () => setIteration(+turns.value));
  let due = 0;
  function setTick(t) {
    state.tick = Math.min(Math.max(Math.floor(t), p.first), Math.max(p.last - 1, p.first));
    slider.value = state.tick;
    clock.textContent = "tick " + grouped(state.tick) + (p.ops[state.tick] ? ": " + p.ops[state.tick].name : "");
    showTurn();
    if (state.tick < state.first || state.tick >= state.last) { const span = state.last - state.first; window_(state.tick - span / 2, state.tick + span / 2); } else paint();
    clearTimeout(due);
    if (n > 5000) due = setTimeout(() => { showOp(); showLive(); }, 60); else { showOp(); showLive(); }
  }
  slider.addEventListener("input", () => setTick(+slider.value));

  // All buffers and all ops, sorted by a click.
  const ids = Array.from({ length: n }, (_, i) => i);
  const rank = i => b.address[i] >= 0 ? 0 : b.barred[i] ? 2 : 1;
  const all = sortable([
    { name: "buffer", value: i => b.name[i], words: i => b.name[i], search: true, swatch },
    { name: "bytes", right: true, value: i => b.size[i], words: i => grouped(b.size[i]) },
    { name: "life", right: true, value: i => b.start[i], words: i => b.start[i] + ".." + b.end[i] },
    { name: "address", right: true, value: i => b.address[i] >= 0 ? b.address[i] : null, words: i => b.address[i] >= 0 ? hex(b.address[i]) : "" },
    { name: "state", value: rank, words: i => ["on chip", "off chip", "HBM only"][rank(i)], search: true, tone: i => ["good", "bad", "dim"][rank(i)] },
    ...(p.nests.length ? [{ name: "tile", value: i => b.hold[i], words: i => b.nest[i] >= 0 ? tileOf(i) + "; " + p.tiles[i] : "", search: true }] : []),
    { name: "cost off chip", right: true, value: i => b.cost[i], words: i => grouped(b.cost[i]) },
    ...(b.moved.length ? [{ name: "HBM moved", right: true, value: i => b.moved[i], words: i => grouped(b.moved[i]) }] : []),
    ...(p.bands.length > 1 ? [{ name: "pool", value: i => b.address[i] >= 0 ? b.pool[i] : null, words: i => b.address[i] >= 0 ? p.bands[b.pool[i]].name : "" }] : []),
    { name: "why", value: i => b.reason[i] || "", words: i => b.reason[i] || "", long: true, search: true }],
    ids, { id: "buffers", sort: 5, down: true, isHere: i => i === state.pick, pick: i => { pick(i); if (b.start[i] > state.tick || b.end[i] <= state.tick) setTick(b.start[i]); map.scrollIntoView({ block: "nearest" }); } });
  const search = make("input", { type: "search", placeholder: "name, state or reason", oninput: e => all.filter(e.target.value) });
  main.append(make("section", null, make("div", { class: "bar" }, make("h2", { style: "margin:0;flex:1" }, grouped(n) + " buffers"), search), all.element));
  if (p.remedies) main.append(make("section", null, make("h2", null, p.remedies.title), dataTable(p.remedies, { id: "remedies" }).element));
  if (p.ops.length) main.append(make("section", null, make("h2", null, grouped(p.ops.length) + " ops"), sortable([
    { name: "tick", right: true, value: o => o.tick, words: o => o.tick }, { name: "op", value: o => o.name, words: o => o.name }, { name: "kind", value: o => o.kind, words: o => o.kind },
    ...(p.nests.length ? [{ name: "nest", value: o => nestAt(o.tick), words: o => nestAt(o.tick) >= 0 ? p.nests[nestAt(o.tick)].words : "" }] : []),
    { name: "cores", right: true, value: o => o.cores, words: o => o.cores }, { name: "HBM", right: true, value: o => o.hbm, words: o => grouped(o.hbm) },
    { name: "LX", right: true, value: o => o.lx, words: o => grouped(o.lx) }, { name: "ring", right: true, value: o => o.ring, words: o => grouped(o.ring) },
    { name: "predicted", right: true, value: o => o.us, words: o => inMicros(o.us) }], p.ops, { id: "ops", sort: 0, pick: o => setTick(o.tick) }).element));
  function pick(i) { state.pick = i; paint(); all.fill(); }
  theme.watch.push(() => { setTick(state.tick); all.fill(); });
  new ResizeObserver(paint).observe(canvas);
  setTick(state.tick);

  const middle = i => { const r = rectOf(i), c = canvas.getBoundingClientRect(); return [Math.floor(c.left + r[0] + Math.min(r[2] / 2, 4)), Math.floor(c.top + r[1] + r[3] / 2)]; };
  checks.push(["hover on every box tells its name", () => {
    let seen = 0;
    for (let i = 0; i < n && seen < 300; i++) {
      if (!rectOf(i)) continue;
      mouse(canvas, "mousemove", ...middle(i));
      const who = at(middle(i)[0] - canvas.getBoundingClientRect().left, middle(i)[1] - canvas.getBoundingClientRect().top);
      if (who < 0) continue; // thinner than a pixel
      if (tip.box.style.display !== "block" || !tip.box.textContent.includes(b.name[who]) || !tip.box.textContent.includes("ticks ")) return b.name[i] + ": " + tip.box.textContent;
      if (b.reason[who] && !tip.box.textContent.includes(b.reason[who])) return "no reason of " + b.name[who];
      seen++;
    }
    mouse(canvas, "mouseleave", 0, 0);
    return seen > 0 || !ids.some(i => rectOf(i)) || "no box";
  }], ["a click picks", () => {
    const i = ids.find(k => rectOf(k) && b.address[k] >= 0);
    if (i === undefined) return true;
    mouse(canvas, "click", ...middle(i));
    return state.pick >= 0 && state.tick >= p.first || "nothing picked";
  }], ["the slider moves time", () => {
    for (const t of [p.first, Math.floor((p.first + p.last) / 2), p.last - 1]) {
      slider.value = t; slider.dispatchEvent(new Event("input"));
      if (state.tick !== t || !clock.textContent.includes(grouped(t))) return "tick " + t + ": " + clock.textContent;
    }
    return true;
  }], ["the table sorts both ways", () => {
    const first = () => all.body.rows[0] ? all.body.rows[0].cells[1].textContent : "";
    all.heads[1].click(); const down = first(); all.heads[1].click(); const up = first();
    const sizes = ids.map(i => b.size[i]);
    return n === 0 || (down === grouped(sizes.reduce((x, y) => Math.max(x, y))) && up === grouped(sizes.reduce((x, y) => Math.min(x, y)))) || "largest " + down + ", least " + up;
  }], ["the filter filters", () => {
    search.value = n ? b.name[0] : ""; search.dispatchEvent(new Event("input"));
    const ok = n === 0 || [...all.body.rows].some(r => r.cells[0].textContent === b.name[0]);
    search.value = ""; search.dispatchEvent(new Event("input"));
    return ok || "not found";
  }], ["each core says what it holds", () => {
    const t = p.ops.findIndex(o => o.views && o.cores > 1);
    if (t < 0) return true;
    setTick(t); showOp();
    const cells = now.querySelectorAll("[data-core]");
    if (!cells.length) return "no cores";
    cells[Math.min(1, cells.length - 1)].dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
    return document.getElementById("core").textContent.startsWith("core ") || document.getElementById("core").textContent;
  }], ["a step through a nest shows the next slice", () => {
    if (!p.nests.length) return true;
    setTick(p.nests[0].first); setIteration(0);
    const first = turn.textContent, tile = ids.findIndex(i => b.nest[i] === 0), one = tile >= 0 ? tileOf(tile) : "";
    turns.value = 1; turns.dispatchEvent(new Event("input"));
    if (!first.startsWith("iteration 1 of ") || !turn.textContent.startsWith("iteration 2 of ") || first.split(":")[1] === turn.textContent.split(":")[1]) return turn.textContent;
    setIteration(-1);
    const last = turn.textContent.startsWith(`iteration ${grouped(iterations(p.nests[0]))} of `);
    if (tile >= 0 && (!one || tileOf(tile) === one)) return "tile " + b.name[tile] + ": " + one;
    if (nestAt(p.nests[0].last + 1) === 0 || !last) return "ends: " + turn.textContent;
    return loop.style.visibility === "visible" || "no slider";
  }], ["the wheel zooms, a double click shows all", () => {
    if (p.last - p.first < 4) return true;
    const c = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true, deltaY: -1, clientX: c.left + 300, clientY: c.top + 50 }));
    const zoomed = state.last - state.first < p.last - p.first;
    mouse(canvas, "dblclick", c.left + 300, c.top + 50);
    return zoomed && state.last - state.first === p.last - p.first || "no zoom";
  }]);
}

// A team's plan: who computes, waits and receives at what time, and its tables.
"use strict";
{
  const main = page(data.title, data.subtitle), W = 1080, L = 110, R = 16, H = 34, T = 8;
  if (data.words.length) main.append(make("section", null, make("ul", { class: "words" }, ...data.words.map(w => make("li", null, w)))));
  const lanes = make("section", { id: "lanes" });
  const fill = kind => kind === "works" ? lineColours[2] : kind === "waits" ? lineColours[4] : lineColours[0];
  const said = { works: "busy with", waits: "waits for", links: "receives" };
  function show() {
    const height = T + data.lanes.length * H + 30, X = us => L + us / (data.us || 1) * (W - L - R);
    const svg = draw("svg", { viewBox: `0 0 ${W} ${height}`, width: "100%", role: "img" });
    for (const v of ticksOf(0, data.us, 8, false, false))
      svg.append(draw("path", { class: "gridline", d: `M${X(v)} ${T}V${height - 26}` }), draw("text", { class: "tick", x: X(v), y: height - 10, "text-anchor": "middle" }, tickMicros(v)));
    data.lanes.forEach((m, i) => {
      const y = T + i * H;
      svg.append(draw("text", { class: "tick", x: L - 8, y: y + 17, "text-anchor": "end" }, m.name));
      for (const [from, to, kind, name] of m.spans) {
        const r = draw("rect", { x: X(from).toFixed(2), y: kind === "links" ? y + 19 : y + 4, height: kind === "links" ? 7 : 13, width: Math.max(X(to) - X(from), .4).toFixed(2), fill: fill(kind), "fill-opacity": kind === "waits" ? .45 : 1 });
        r.addEventListener("mousemove", e => tip.show(e.clientX, e.clientY, factTable([["device", m.name], [said[kind], name], ["from", inMicros(from)], ["to", inMicros(to)], ["takes", inMicros(to - from)]])));
        r.addEventListener("mouseleave", () => tip.hide());
        svg.append(r);
      }
    });
    const key = make("p", { class: "dim" }, ...["works", "waits", "links"].flatMap(k => [make("i", { class: "swatch", style: "background:" + fill(k) }), { works: "computes ", waits: "waits ", links: "links of the device " }[k]]));
    lanes.replaceChildren(make("h2", null, "time line, predicted"), key, svg);
  }
  theme.watch.push(show);
  show();
  main.append(lanes);
  const tables = [];
  for (const t of data.tables) {
    const s = dataTable(t, { most: 400 });
    const search = make("input", { type: "search", placeholder: "filter", oninput: e => s.filter(e.target.value) });
    main.append(make("section", null, make("div", { class: "bar" }, make("h2", { style: "margin:0;flex:1" }, t.title), t.rows.length > 12 ? search : null), s.element));
    tables.push(s);
  }
  checks.push(["every head sorts", () => {
    for (const t of tables) for (const h of t.heads) { h.click(); if (!h.classList.contains("sorted")) return h.textContent; }
    return tables.length > 0 || "no tables";
  }], ["the time line tells what is under the mouse", () => {
    const boxes = [...lanes.querySelectorAll("rect")];
    if (!boxes.length) return "nothing is drawn";
    for (const r of boxes.slice(0, 20)) {
      mouse(r, "mousemove", 300, 300);
      if (tip.box.style.display !== "block" || !tip.box.textContent.includes("device")) return "no tip";
      mouse(r, "mouseleave", 0, 0);
    }
    return true;
  }]);
}

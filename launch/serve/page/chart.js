// Small line charts as SVG: series told apart by colour, by dashes and by their labels.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 320, HEIGHT = 150, LEFT = 34, RIGHT = 44, TOP = 8, BOTTOM = 20;

function make(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const short = value => (Math.abs(value) >= 1e4 ? `${+(value / 1e3).toPrecision(3)}k` : String(+value.toPrecision(3)));

// series: [{ label, points: [[x, y], …], band: [[x, low, high], …], seat }]; `at` marks an x; `pick` is called with an x.
export function chart(title, series, { low, high, at = null, pick = null, xlabel = "" } = {}) {
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": title });
  const xs = series.flatMap(one => one.points.map(point => point[0]));
  const ys = series.flatMap(one => [...one.points.map(point => point[1]), ...(one.band ?? []).flatMap(row => row.slice(1))]);
  if (!xs.length) return svg;
  const right = Math.max(...xs, 1), left = Math.min(...xs, right);
  const bottom = low ?? Math.min(...ys), top = Math.max(high ?? Math.max(...ys), bottom + 1e-9);
  const place = (x, y) => [
    LEFT + ((x - left) / (right - left || 1)) * (WIDTH - LEFT - RIGHT),
    HEIGHT - BOTTOM - ((y - bottom) / (top - bottom)) * (HEIGHT - TOP - BOTTOM),
  ];
  for (const y of [bottom, (bottom + top) / 2, top]) {
    const [, v] = place(left, y);
    svg.append(make("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: v, y2: v, class: "grid" }));
    svg.append(make("text", { x: LEFT - 4, y: v + 3, class: "tick end" }, short(y)));
  }
  svg.append(make("text", { x: LEFT, y: HEIGHT - 6, class: "tick" }, short(left)));
  svg.append(make("text", { x: WIDTH - RIGHT, y: HEIGHT - 6, class: "tick end" }, `${short(right)} ${xlabel}`.trim()));
  const labels = [];
  series.forEach((one, number) => {
    const seat = one.seat ?? number;
    if (one.band?.length) {
      const up = one.band.map(([x, , y]) => place(x, y)), down = one.band.map(([x, y]) => place(x, y)).reverse();
      svg.append(make("polygon", { points: [...up, ...down].map(point => point.join()).join(" "), class: `band seat${seat % 6}` }));
    }
    const points = one.points.map(([x, y]) => place(x, y));
    svg.append(make("polyline", { points: points.map(point => point.join()).join(" "), class: `curve seat${seat % 6}` }));
    if (points.length === 1) svg.append(make("circle", { cx: points[0][0], cy: points[0][1], r: 2.5, class: `point seat${seat % 6}` }));
    labels.push([points.at(-1)[1], one.label, seat]);
  });
  labels.sort((a, b) => a[0] - b[0]);
  let last = -Infinity;
  for (const [y, label, seat] of labels) {
    last = Math.max(y + 3, last + 10);
    svg.append(make("text", { x: WIDTH - RIGHT + 4, y: last, class: `tick name seat${seat % 6}` }, label));
  }
  if (at !== null && at >= left && at <= right) {
    const [x] = place(at, bottom);
    svg.append(make("line", { x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM, class: "now" }));
  }
  if (pick) {
    svg.classList.add("pick");
    svg.addEventListener("click", event => {
      const box = svg.getBoundingClientRect(), x = ((event.clientX - box.x) / box.width) * WIDTH;
      pick(Math.round(left + Math.min(1, Math.max(0, (x - LEFT) / (WIDTH - LEFT - RIGHT))) * (right - left)));
    });
  }
  return svg;
}

// The board: a game's picture with parts that can be clicked, or its text. Knows no game's rules.

const SVG = "http://www.w3.org/2000/svg";
const NAMED = "[data-cell],[data-piece],[data-action]";
const MARGIN = 0.02;

const named = element => element.dataset.cell ?? element.dataset.piece;

function make(tag, attributes = {}) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function parsed(text) {
  const found = new DOMParser().parseFromString(`<svg xmlns="${SVG}">${text}</svg>`, "image/svg+xml");
  if (found.querySelector("parsererror")) return [];
  return [...document.importNode(found.documentElement, true).childNodes];
}

export class Board {
  constructor(svg, pre, { play }) {
    this.svg = svg;
    this.pre = pre;
    this.play = play; // called with a chosen action
    this.actions = [];
    this.chosen = []; // names of the parts clicked so far
    this.turns = 0; // quarter turns of the view
    this.drawn = false;
    svg.addEventListener("click", event => this.clicked(event));
    svg.addEventListener("keydown", event => this.pressed(event));
  }

  // A new game: the background.
  begin(game) {
    this.drawn = game.drawn;
    this.svg.toggleAttribute("hidden", !game.drawn);
    this.pre.hidden = game.drawn;
    this.svg.replaceChildren();
    this.actions = [];
    this.chosen = [];
    if (!game.drawn) return;
    this.size = [game.width, game.height - game.foot];
    this.svg.setAttribute("viewBox", `${-MARGIN} ${-MARGIN} ${game.width + 2 * MARGIN} ${game.height + 2 * MARGIN}`);
    this.ground = make("g");
    this.marks = make("g", { class: "marks" });
    this.pieces = make("g");
    this.lights = make("g", { class: "lights" });
    this.turned = make("g", { class: "turned" });
    this.foot = make("g");
    this.ground.append(...parsed(game.board));
    this.turned.append(this.ground, this.marks, this.pieces, this.lights);
    this.svg.append(this.turned, this.foot);
    this.turn(this.turns);
  }

  // A position; `motion` milliseconds for the pieces to move, 0: none.
  show(frame, { motion = 0, actions = [] } = {}) {
    this.actions = actions;
    this.chosen = [];
    if (!this.drawn) {
      this.pre.textContent = frame.lines ?? "";
      return;
    }
    const before = new Map();
    for (const piece of this.pieces.querySelectorAll("[data-piece][data-at]")) before.set(piece.dataset.piece, at(piece));
    this.pieces.replaceChildren(...parsed(frame.pieces));
    this.foot.replaceChildren(...parsed(frame.foot));
    this.upright();
    this.mark(frame.marks ?? []);
    this.light();
    if (motion > 0 && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.move(before, frame, motion);
  }

  move(before, frame, motion) {
    const routes = frame.route ?? {};
    const way = Object.keys(routes).length ? 0.7 : 0; // those sent away start when the others arrive
    for (const piece of this.pieces.querySelectorAll("[data-piece][data-at]")) {
      const name = piece.dataset.piece, from = before.get(name) ?? routes[name]?.[0], to = at(piece);
      if (!from || (from[0] === to[0] && from[1] === to[1])) continue;
      const points = routes[name] ? [from, ...routes[name].slice(0, -1), to] : [from, to];
      const frames = points.map(([x, y]) => ({ transform: `translate(${x - to[0]}px, ${y - to[1]}px)` }));
      const moved = routes[name] ? motion * 0.85 : motion * (1 - way) * 0.9;
      piece.parentNode.append(piece); // above the others
      piece.animate(frames, { duration: moved, delay: routes[name] ? 0 : motion * way, fill: "backwards", easing: "ease-in-out" });
    }
    if (frame.made?.actor === -1)
      for (const die of this.svg.querySelectorAll("[data-die]"))
        die.animate(
          [0, 0.25, 0.5, 0.75, 1].map(turn => ({ transform: `rotate(${360 * turn}deg) scale(${1 - 0.35 * Math.sin(turn * Math.PI * 3) ** 2})` })),
          { duration: Math.min(600, motion * 0.9), easing: "ease-out" });
  }

  turn(turns) {
    const [width, height] = this.drawn ? this.size : [1, 1];
    const square = Math.abs(width - height) < 1e-6;
    this.turns = ((square ? turns : turns + (turns % 2)) % 4 + 4) % 4;
    if (!this.drawn) return;
    this.turned.setAttribute("transform", `rotate(${90 * this.turns} ${width / 2} ${height / 2})`);
    this.upright();
  }

  // Texts stay upright on a turned board.
  upright() {
    for (const text of this.turned.querySelectorAll("text"))
      text.setAttribute("transform", `rotate(${-90 * this.turns} ${text.getAttribute("x")} ${text.getAttribute("y")})`);
  }

  find(name) {
    const escaped = CSS.escape(name);
    return this.turned.querySelector(`[data-piece="${escaped}"]`) ?? this.turned.querySelector(`[data-cell="${escaped}"]`);
  }

  outline(part, kind) {
    const box = part.getBBox();
    if (part.dataset.piece !== undefined) {
      const radius = Math.max(box.width, box.height) / 2 + 0.05;
      return make("circle", { cx: box.x + box.width / 2, cy: box.y + box.height / 2, r: radius, class: kind });
    }
    const inset = Math.min(box.width, box.height) * 0.07;
    return make("rect", {
      x: box.x + inset, y: box.y + inset, width: box.width - 2 * inset, height: box.height - 2 * inset,
      rx: Math.min(box.width, box.height) * 0.14, class: kind,
    });
  }

  mark(names) {
    this.marks.replaceChildren(...names.map(name => this.find(name)).filter(Boolean).map(part => this.outline(part, "mark")));
  }

  // The actions that the clicks so far may still become.
  candidates() {
    return this.actions.filter(({ clicks }) => this.chosen.every((name, place) => clicks[place] === name));
  }

  // Lights up what can be clicked next.
  light() {
    for (const part of this.turned.querySelectorAll("[tabindex]")) {
      part.removeAttribute("tabindex");
      part.removeAttribute("role");
      part.classList.remove("can");
    }
    const place = this.chosen.length, next = new Map();
    for (const action of this.candidates())
      if (action.clicks.length > place) next.set(action.clicks[place], [...(next.get(action.clicks[place]) ?? []), action]);
    const shapes = [];
    for (const name of this.chosen) {
      const part = this.find(name);
      if (part) shapes.push(this.outline(part, "chosen"));
    }
    for (const [name, actions] of next) {
      const part = this.find(name);
      if (!part) continue;
      if (!part.dataset.label) part.dataset.label = part.getAttribute("aria-label") ?? "";
      const what = actions.length === 1 ? actions[0].text : `${actions.length} moves`;
      part.setAttribute("aria-label", [part.dataset.label, what].filter(Boolean).join(": "));
      part.setAttribute("tabindex", "0");
      part.setAttribute("role", "button");
      part.classList.add("can");
      shapes.push(this.outline(part, "light"));
    }
    for (const { action, text } of this.actions)
      for (const part of this.turned.querySelectorAll(`[data-action="${action}"]`)) {
        part.setAttribute("tabindex", "0");
        part.setAttribute("role", "button");
        part.setAttribute("aria-label", text);
        part.classList.add("can");
        shapes.push(this.outline(part, "light"));
      }
    this.lights.replaceChildren(...shapes);
  }

  clicked(event) {
    const under = document.elementsFromPoint(event.clientX, event.clientY).map(one => one.closest(NAMED)).filter(Boolean);
    const parts = under.length ? under : [event.target.closest(NAMED)].filter(Boolean);
    this.choose(parts.find(part => part.classList.contains("can")) ?? null);
  }

  choose(part) {
    if (!this.actions.length) return;
    if (part?.dataset.action !== undefined) return this.play(Number(part.dataset.action));
    if (!part) {
      this.let_go();
      return;
    }
    this.chosen.push(named(part));
    const left = this.candidates();
    if (left.length === 1 && left[0].clicks.length === this.chosen.length) return this.play(left[0].action);
    this.light();
    const first = this.turned.querySelector(".can");
    if (first && document.activeElement === document.body) first.focus({ preventScroll: true });
  }

  let_go() {
    if (!this.chosen.length) return false;
    this.chosen = [];
    this.light();
    return true;
  }

  pressed(event) {
    const part = event.target.closest?.(NAMED);
    if (!part) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      const name = named(part);
      this.choose(part);
      if (this.actions.length && this.chosen.includes(name)) this.turned.querySelector(".can")?.focus();
    }
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    const centre = one => {
      const box = one.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [x, y] = centre(part);
    let best = null, least = Infinity;
    for (const other of this.turned.querySelectorAll(".can")) {
      const [u, v] = centre(other);
      const along = (u - x) * way[0] + (v - y) * way[1], across = Math.abs((u - x) * way[1]) + Math.abs((v - y) * way[0]);
      if (other !== part && along > 1 && along + 3 * across < least) [best, least] = [other, along + 3 * across];
    }
    best?.focus();
  }
}

function at(piece) {
  return piece.dataset.at.split(" ").map(Number);
}

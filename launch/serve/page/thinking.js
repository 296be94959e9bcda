// The panel of thoughts: values as bars and along the game, the best moves with their lines, losses and luck.

import { chart } from "./chart.js";

const at = name => document.getElementById(name);
const signed = value => (value > 0 ? "+" : "") + value.toFixed(3);

export class Thinking {
  constructor({ link, table }) {
    this.link = link;
    this.table = table; // what is shown: game, at, steps
    this.thinking = false;
    this.judging = false;
    this.asked = null; // the step that is thought about
    this.judged = new Map(); // by step
    at("think").onclick = () => this.think(!this.thinking);
    at("judge-on").onclick = () => this.judge(!this.judging);
    at("thinker").onchange = () => this.thinking && this.think(true);
    at("judge").onchange = () => this.judging && this.judge(true);
  }

  begin(game) {
    if (this.game !== game.game) {
      at("thinker").value = game.thinker;
      at("judge").value = game.judge;
    }
    this.game = game.game;
    this.range = game.range;
    this.dice = game.dice;
    this.judged.clear();
    this.asked = null;
    this.value = null;
    if (this.judging) this.judge(true);
    this.clear();
  }

  think(on) {
    this.thinking = on;
    at("think").setAttribute("aria-pressed", on);
    at("think").textContent = on ? "Stop" : "Think";
    this.asked = null;
    this.clear();
    if (on) this.look();
    else this.link.send("quiet", { what: "think" });
  }

  judge(on) {
    this.judging = on;
    at("judge-on").setAttribute("aria-pressed", on);
    at("judge-on").textContent = on ? "Stop judging" : "Judge the game";
    this.judged.clear();
    if (on) this.link.send("judge", { player: at("judge").value.trim() || "random" });
    else this.link.send("quiet", { what: "judge" });
    this.draw();
  }

  // Another position is shown.
  look() {
    this.draw();
    const { step, over, settled } = this.table.shown();
    if (!this.thinking || this.asked === step) return;
    this.clear();
    this.asked = step;
    if (over) {
      at("thought").textContent = "the game is over";
      return;
    }
    if (settled) this.link.send("think", { player: at("thinker").value.trim() || "random", step });
    else this.asked = null;
  }

  clear() {
    at("lines").replaceChildren();
    at("thought").textContent = "";
    this.value = null;
    this.draw();
  }

  thought(message) {
    if (!this.thinking || message.step !== this.asked) return;
    if (message.waiting) at("thought").textContent = "thinking …";
    if (!message.moves) {
      if (message.done && at("thought").textContent) at("thought").textContent += ", done";
      return;
    }
    this.value = message.value;
    const nodes = message.nodes >= 1e6 ? `${(message.nodes / 1e6).toFixed(1)} million` : message.nodes.toLocaleString("en");
    const source = message.exact ? "exact" : `by ${message.evaluation}`;
    at("thought").textContent = `${message.searcher}, depth ${message.depth}, ${nodes} nodes, ${(message.milliseconds / 1e3).toFixed(1)} s, ${source}`;
    at("thought").dataset.depth = message.depth;
    const actor = this.table.shown().actor;
    at("lines").replaceChildren(...message.moves.map(move => {
      const item = document.createElement("li"), button = document.createElement("button");
      const value = document.createElement("b"), text = document.createElement("span");
      value.textContent = signed(move.value[Math.max(actor, 0)]);
      text.textContent = move.text.join(", ");
      button.type = "button";
      button.append(value, text);
      button.title = "Show this line on the board";
      button.onclick = () => this.link.send("line", { step: message.step, actions: move.actions });
      button.dataset.line = move.text.join(", ");
      item.append(button);
      return item;
    }));
    this.bars();
  }

  judge_step(message) {
    this.judged.set(message.step, message);
    this.draw();
    return message;
  }

  cut(step) {
    for (const number of [...this.judged.keys()]) if (number >= step) this.judged.delete(number);
    this.asked = null;
    this.draw();
  }

  bars() {
    const { step, names } = this.table.shown();
    const value = this.value ?? this.judged.get(step)?.value;
    const box = at("bars");
    if (!value) {
      box.replaceChildren();
      box.hidden = true;
      return;
    }
    box.hidden = false;
    const [low, high] = this.range;
    box.setAttribute("aria-label", `Values: ${value.map((one, seat) => `seat ${seat} ${signed(one)}`).join(", ")}`);
    box.replaceChildren(...value.map((one, seat) => {
      const row = document.createElement("div"), name = document.createElement("span");
      const meter = document.createElement("progress"), number = document.createElement("b");
      row.className = `bar seat${seat % 6}`;
      name.textContent = names[seat];
      meter.max = 1;
      meter.value = (one - low) / (high - low || 1);
      number.textContent = signed(one);
      row.append(name, meter, number);
      return row;
    }));
  }

  draw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.bars();
      const { step, names, steps } = this.table.shown();
      const rows = [...this.judged.values()].sort((a, b) => a.step - b.step);
      at("curve").hidden = !rows.length;
      at("totals").hidden = !rows.length;
      if (!rows.length) return;
      const series = names.map((name, seat) => ({ label: `seat ${seat}`, seat, points: rows.map(row => [row.step, row.value[seat]]) }));
      const [low, high] = this.range;
      const drawn = chart("Values along the game", series, { low, high, at: step, xlabel: "steps", pick: x => this.table.go(x) });
      at("curve").replaceChildren(drawn);
      const body = at("totals").querySelector("tbody");
      body.replaceChildren(...names.map((name, seat) => {
        const mine = rows.filter(row => row.kind === "decision" && steps[row.step]?.actor === seat && row.legal > 1);
        const lost = mine.reduce((sum, row) => sum + row.loss, 0);
        const luck = rows.reduce((sum, row) => sum + (row.luck?.[seat] ?? 0), 0);
        const line = document.createElement("tr");
        const cells = [name, `${mine.filter(row => row.loss > 0).length} of ${mine.length}`, lost.toFixed(3), this.dice ? signed(luck) : "–"];
        line.append(...cells.map(text => Object.assign(document.createElement("td"), { textContent: text })));
        return line;
      }));
    });
  }

  // The words behind a step in the list: what it lost, or how lucky it was.
  badge(step) {
    const row = this.judged.get(step);
    if (row?.kind === "decision" && row.loss > 0) return { text: `−${row.loss.toFixed(3)}, best ${row.best}`, kind: "loss" };
    if (row?.kind === "roll") {
      const most = row.luck.reduce((best, one, seat) => (Math.abs(one) > Math.abs(row.luck[best]) ? seat : best), 0);
      return { text: `luck ${signed(row.luck[most])} for seat ${most}`, kind: "luck" };
    }
    return null;
  }
}

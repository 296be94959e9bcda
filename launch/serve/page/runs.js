// The panel of training runs: a learning curve that grows, and the newest checkpoint as a player.

import { chart } from "./chart.js";

const at = name => document.getElementById(name);

export class Runs {
  constructor({ link, table }) {
    this.link = link;
    this.table = table;
    this.runs = [];
    this.watching = "";
    at("runs-panel").addEventListener("toggle", () => at("runs-panel").open && link.send("runs"));
    at("run-list").onclick = () => link.send("runs");
    at("run-watch").onclick = () => this.watch(this.watching ? "" : at("run").value);
    at("run-play").onclick = () => this.play(false);
    at("run-face").onclick = () => this.play(true);
  }

  begin() {
    if (this.watching) this.link.send("run", { run: this.watching });
    if (at("runs-panel").open) this.link.send("runs");
  }

  listed(message) {
    this.runs = message.runs;
    const chosen = at("run").value;
    at("run").replaceChildren(...this.runs.map(run => {
      const option = document.createElement("option");
      option.value = run.run;
      option.textContent = `${run.run.slice(5)} (${run.updates ?? "no"} updates)`;
      return option;
    }));
    if (this.runs.some(run => run.run === chosen)) at("run").value = chosen;
    for (const name of ["run-watch", "run-play", "run-face"]) at(name).disabled = !this.runs.length;
    if (!this.runs.length) at("run-note").textContent = "no runs in the folder that the server was started for";
    else if (!this.watching) at("run-note").textContent = "";
  }

  watch(run) {
    this.watching = run;
    at("run-watch").setAttribute("aria-pressed", Boolean(run));
    at("run-watch").textContent = run ? "Stop watching" : "Watch";
    at("run-curve").replaceChildren();
    at("run-note").textContent = "";
    if (run) this.link.send("run", { run });
    else this.link.send("quiet", { what: "run" });
  }

  play(against) {
    const found = this.runs.find(run => run.run === at("run").value);
    if (!found) return;
    this.table.start(found.game, { seats: against ? ["human"] : [], rest: found.run, again: !against });
  }

  grown(message) {
    if (message.run !== this.watching) return;
    const strength = new Map();
    for (const row of message.strength) strength.set(row.opponent, [...(strength.get(row.opponent) ?? []), row]);
    const series = [...strength].map(([opponent, rows]) => ({
      label: opponent.slice(0, 9),
      points: rows.map(row => [row.games, row.win_rate]),
      band: rows.map(row => [row.games, row.low, row.high]),
    }));
    const charts = [];
    if (series.length) charts.push(chart(`Win rate of ${message.run}`, series, { low: 0, high: 1, xlabel: "games" }));
    if (message.losses.length) charts.push(chart(`Loss of ${message.run}`, [{ label: "loss", points: message.losses, seat: 4 }], { xlabel: "games" }));
    at("run-curve").replaceChildren(...charts);
    at("run-curve").dataset.points = message.losses.length;
    at("run-note").textContent = `${message.game}, ${message.algo}: ${message.updates ?? 0} updates at the newest checkpoint`;
  }
}

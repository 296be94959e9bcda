// The page: what the server says is shown, what the user does is sent. No rule of any game is known here.

import { Board } from "./board.js";
import { Link, keep } from "./socket.js";
import { Runs } from "./runs.js";
import { Thinking } from "./thinking.js";

const at = name => document.getElementById(name);
const MOST_FRAMES = 3000; // kept for going back and forth

const state = {
  game: null, // what does not change during a game
  record: null,
  steps: [], // { actor, text }
  frames: new Map(), // by step
  last: null, // the newest frame
  at: 0, // the step that is shown
  paused: false,
  queue: [], // frames that came faster than they are shown
};

const board = new Board(at("board"), at("text-board"), { play });
const link = new Link({ receive, state: connected });
const table = {
  shown: () => {
    const frame = state.frames.get(state.at);
    return {
      step: state.at,
      steps: state.steps,
      actor: frame?.actor ?? -2,
      over: frame?.actor === -2,
      settled: Boolean(frame) && (state.at < state.steps.length || frame.actor >= 0 || state.paused || Boolean(state.game?.names.length)),
      names: names(),
    };
  },
  go,
  start: begin_new,
};
const thinking = new Thinking({ link, table });
const runs = new Runs({ link, table });

// --- messages of the server ---

function receive(message) {
  const answer = {
    game: begin, step, frame, cut, thinks, line: show_line, error,
    thought: one => thinking.thought(one),
    judged: one => badge(thinking.judge_step(one)),
    runs: one => runs.listed(one),
    run: one => runs.grown(one),
    saved: ({ replay }) => download(`${state.game.game.replace(/\W+/g, "_")}.json`, JSON.stringify(replay)),
  }[message.type];
  answer?.(message);
}

function connected(how) {
  document.body.dataset.link = how;
  const text = { open: "connected", lost: "the server does not answer; trying again", taken: "this game goes on in another tab" }[how];
  at("link-text").textContent = text;
}

function begin(game) {
  const same = state.game?.game === game.game && state.record?.seed === game.record.seed;
  state.game = game;
  state.record = game.record;
  state.steps = game.steps.map(([actor, text]) => ({ actor, text }));
  if (!same) state.frames.clear();
  state.queue = [];
  state.last = null;
  state.at = state.steps.length;
  problem("");
  document.title = `${game.game} – boardrl`;
  at("game").value = game.game;
  fill(at("games"), game.games);
  fill(at("players"), game.players);
  fill(at("thinkers"), game.players.filter(name => name !== "human"));
  fill(at("judges"), [game.judge, ...game.players.filter(name => name !== "human" && name !== game.judge)]);
  seats();
  state.paused = game.pace.paused;
  const wanted = Number(at("speed").value);
  if (wanted !== game.pace.delay || at("again").checked !== game.pace.again) pace();
  board.begin(game);
  at("position-panel").dataset.readable = game.readable;
  at("replay-save").disabled = Boolean(game.record.position);
  history_all();
  thinking.begin(game);
  runs.begin();
  save();
}

function step(frame) {
  if (frame.step > 0 && frame.made) state.steps[frame.step - 1] = { actor: frame.made.actor, text: frame.made.text };
  state.steps.length = frame.step;
  remember(frame);
  const live = !state.last || state.at >= frame.step - 1;
  const stepped = Boolean(state.last) && frame.step === state.last.step + 1;
  state.last = frame;
  if (stepped && frame.made) {
    const kind = frame.made.actor === -1 ? "outcomes" : "moves";
    state.record[kind].push(frame.made.move);
    save();
  }
  history_one(frame.step);
  if (live && !at("line-note").hidden) close_line();
  if (live) show(frame.step, stepped ? motion(frame) : 0);
  else show_controls();
}

function frame(frame) {
  remember(frame);
  if (state.at === frame.step) show(frame.step, 0);
}

function cut({ step }) {
  const dropped = state.steps.splice(step);
  for (const number of [...state.frames.keys()]) if (number > step) state.frames.delete(number);
  for (const one of dropped) state.record[one.actor === -1 ? "outcomes" : "moves"].pop();
  state.last = null;
  state.at = step;
  history_all();
  thinking.cut(step);
  save();
}

function thinks({ seat }) {
  if (state.at === state.steps.length) {
    at("says").textContent = `${said()}${said() ? "; " : ""}${names()[seat]} thinks …`;
    thinking.look();
  }
}

function error({ text, of }) {
  problem(text);
  if (of === "think" && thinking.thinking) thinking.think(false);
  if (of === "judge" && thinking.judging) thinking.judge(false);
  if (of === undefined && state.last) show(state.at, 0); // what was refused has changed nothing
}

// --- the board ---

function motion(frame) {
  const delay = Number(at("speed").value);
  if (document.hidden || delay === 0) return 0;
  return Math.min(900, frame.actor >= 0 && frame.actions?.length ? Math.max(delay, 300) : delay);
}

function remember(frame) {
  state.frames.set(frame.step, frame);
  if (state.frames.size > MOST_FRAMES) state.frames.delete(state.frames.keys().next().value);
}

function show(number, moving = 0) {
  state.at = number;
  const frame = state.frames.get(number);
  show_controls();
  if (!frame) {
    link.send("show", { step: number });
    return;
  }
  const live = number === state.steps.length;
  const actions = live ? (state.last?.actions ?? []) : [];
  board.show(frame, { motion: moving, actions });
  at("says").textContent = said();
  at("says").classList.toggle("rolled", frame.made?.actor === -1);
  choices(actions);
  if (document.activeElement !== at("position")) at("position").value = frame.position;
  thinking.look();
}

function said() {
  const frame = state.frames.get(state.at);
  if (!frame) return "";
  if (frame.actor !== -2) {
    const turn = frame.actor >= 0 ? `; ${state.at === state.steps.length && state.last?.actions?.length ? "your move, " : ""}${names()[frame.actor]}` : "";
    return frame.says + turn;
  }
  const most = Math.max(...frame.returns), best = frame.returns.flatMap((one, seat) => (one === most ? [names()[seat]] : []));
  const returns = frame.returns.map(one => +one.toFixed(2)).join(", ");
  const who = best.length === 1 ? `${best[0]} wins` : best.length === names().length ? "a draw" : `${best.join(" and ")} share the best result`;
  return `${frame.says}; the game is over: ${who} (returns ${returns})${frame.cut ? ", cut at the largest number of steps" : ""}`;
}

function names() {
  const texts = state.game?.names.length ? state.game.names : (state.record?.seats ?? []);
  return texts.map((text, seat) => `seat ${seat}, ${text}`);
}

function button(text, action, number) {
  const made = document.createElement("button");
  made.type = "button";
  made.dataset.move = action;
  made.textContent = number < 9 ? `${number + 1}. ${text}` : text;
  made.onclick = () => play(action);
  return made;
}

function choices(actions) {
  const buttons = actions.map(({ action, text }, number) => button(text, action, number));
  const plain = actions.flatMap((one, number) => (one.clicks.length && state.game.drawn ? [] : [number]));
  const few = plain.length <= 12 ? plain : [];
  at("choices").replaceChildren(...few.map(number => button(actions[number].text, actions[number].action, number)));
  at("all-moves").hidden = !actions.length || few.length === actions.length;
  at("num-moves").textContent = `All ${actions.length} moves`;
  at("move-list").replaceChildren(...(at("all-moves").hidden ? [] : buttons));
  if (plain.length > 12) at("all-moves").open = true;
}

function play(action) {
  if (state.at !== state.steps.length || !state.last?.actions?.some(one => one.action === action)) return;
  state.last.actions = []; // one move only
  board.actions = [];
  board.chosen = [];
  if (state.game.drawn) board.light();
  choices([]);
  problem("");
  link.send("move", { step: state.steps.length, action });
}

function go(number) {
  close_line();
  show(Math.max(0, Math.min(state.steps.length, number)));
}

let line_timer = null;

function show_line({ step, frames }) {
  clearInterval(line_timer);
  if (step !== state.at || !frames.length) return;
  at("line-note").hidden = false;
  let next = 0;
  const forward = () => {
    board.show(frames[next], { motion: 350 });
    at("line-text").textContent = `line: move ${next + 1} of ${frames.length}`;
    if (++next === frames.length) clearInterval(line_timer);
  };
  forward();
  if (frames.length > 1) line_timer = setInterval(forward, 700);
}

function close_line() {
  clearInterval(line_timer);
  if (at("line-note").hidden) return;
  at("line-note").hidden = true;
  show(state.at);
}

// --- controls ---

function show_controls() {
  const end = state.steps.length;
  at("slider").max = end;
  at("slider").value = state.at;
  at("count").textContent = `${state.at} / ${end}`;
  at("first").disabled = at("back").disabled = state.at === 0;
  at("next").disabled = at("last").disabled = state.at === end;
  at("undo").disabled = !state.last?.can_undo;
  at("pause").textContent = state.paused ? "Go on" : "Pause";
  at("pause").setAttribute("aria-pressed", state.paused);
  for (const item of at("history").querySelectorAll("[aria-current]")) item.removeAttribute("aria-current");
  at("history").children[state.at - 1]?.setAttribute("aria-current", "step");
}

function history_item(number) {
  const item = document.createElement("li"), choose = document.createElement("button");
  const one = state.steps[number];
  choose.type = "button";
  choose.textContent = one.actor === -1 ? one.text : `seat ${one.actor}: ${one.text}`;
  choose.onclick = () => go(number + 1);
  item.append(choose);
  item.className = one.actor === -1 ? "chance" : `seat${one.actor % 6}`;
  badge({ step: number }, item);
  return item;
}

function history_all() {
  at("history").replaceChildren(...state.steps.map((_, number) => history_item(number)));
}

function history_one(step) {
  const list = at("history");
  if (step && list.children.length === step - 1) list.append(history_item(step - 1));
  else if (list.children.length !== step) history_all();
  if (at("history-panel").open && state.at === step) list.scrollTop = list.scrollHeight;
}

function badge({ step }, item = at("history").children[step]) {
  const found = thinking?.badge(step);
  if (!item || !found) return;
  item.querySelector("small")?.remove();
  const note = document.createElement("small");
  note.textContent = found.text;
  note.className = found.kind;
  item.append(note);
}

function fill(list, texts) {
  list.replaceChildren(...texts.map(text => Object.assign(document.createElement("option"), { value: text })));
}

function seats() {
  const texts = state.record.seats;
  at("seats").replaceChildren(...texts.map((text, seat) => {
    const label = document.createElement("label"), name = document.createElement("span"), input = document.createElement("input");
    label.className = `seat${seat % 6}`;
    name.textContent = `Seat ${seat}`;
    input.value = text;
    input.setAttribute("list", "players");
    input.maxLength = 300;
    input.spellcheck = false;
    input.dataset.seat = seat;
    if (state.game.names.length) input.title = `in the replay: ${state.game.names[seat]}`;
    label.append(name, input);
    return label;
  }));
}

const typed_seats = () => [...at("seats").querySelectorAll("input")].map(input => input.value.trim());

function begin_new(game, { seats, rest, again } = {}) {
  problem("");
  if (again !== undefined) {
    at("again").checked = again;
    pace();
  }
  const content = { game };
  if (rest) Object.assign(content, { seats, rest });
  else if (game === state.game?.game) content.seats = typed_seats();
  link.send("new", content);
}

function problem(text) {
  at("problem").textContent = text;
  at("problem").hidden = !text;
}

function pace() {
  link.send("pace", { delay: Number(at("speed").value), paused: state.paused, again: at("again").checked });
}

function save() {
  keep(state.game.session, state.record);
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text + "\n"], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

async function copy(text, from) {
  try {
    await navigator.clipboard.writeText(text);
    const before = from.textContent;
    from.textContent = "Copied";
    setTimeout(() => (from.textContent = before), 1200);
  } catch {
    at("position").value = text; // without a clipboard, as over plain HTTP from another machine
    at("position").select();
  }
}

at("new-form").onsubmit = event => {
  event.preventDefault();
  begin_new(at("game").value.trim());
};
at("seats-form").onsubmit = event => {
  event.preventDefault();
  problem("");
  link.send("seats", { seats: typed_seats() });
};
at("undo").onclick = () => link.send("undo");
at("first").onclick = () => go(0);
at("back").onclick = () => go(state.at - 1);
at("next").onclick = () => go(state.at + 1);
at("last").onclick = () => go(state.steps.length);
at("slider").oninput = () => go(Number(at("slider").value));
at("flip").onclick = () => {
  board.turn(board.turns + 1);
  if (board.drawn) show(state.at);
};
at("pause").onclick = () => {
  state.paused = !state.paused;
  pace();
  show_controls();
  thinking.look();
};
at("speed").onchange = pace;
at("again").onchange = pace;
at("line-close").onclick = close_line;
at("position-set").onclick = () => link.send("new", { game: state.game.game, seats: typed_seats(), position: at("position").value.trim() });
at("position-copy").onclick = () => copy(at("position").value, at("position-copy"));
at("position-link").onclick = () => {
  const wanted = new URLSearchParams({ game: state.game.game, position: state.frames.get(state.at)?.position ?? "" });
  copy(`${location.origin}${location.pathname}#${wanted}`, at("position-link"));
};
at("replay-open").onchange = async () => {
  const [file] = at("replay-open").files;
  if (!file) return;
  try {
    link.send("open", { replay: JSON.parse(await file.text()) });
  } catch {
    problem(`${file.name} is no replay: expected a file of launch.play --record`);
  }
  at("replay-open").value = "";
};
at("replay-save").onclick = () => link.send("save");
window.onhashchange = () => location.hash.length > 1 && location.reload();

document.onkeydown = event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  if (event.key === "Escape") {
    if (!board.drawn || !board.let_go()) close_line();
    return;
  }
  const number = Number(event.key);
  if (number >= 1 && number <= 9 && state.last?.actions?.[number - 1]) {
    play(state.last.actions[number - 1].action);
    return;
  }
  const name = {
    ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last",
    u: "undo", n: "new", f: "flip", p: "pause", t: "think",
  }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!name || at(name).disabled) return;
  event.preventDefault();
  at(name).click();
};

const wide = matchMedia("(min-width: 900px)");
at("thinking-panel").open = wide.matches;
at("history-panel").open = wide.matches;

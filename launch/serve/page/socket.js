// The socket to the server: connects again when it is lost, and says hello with the game that this tab has kept.

const STORE = "boardrl";
const FIRST_WAIT = 400, MOST_WAIT = 4000; // milliseconds until the next try

export class Link {
  constructor({ receive, state }) {
    this.receive = receive;
    this.state = state; // called with "open", "lost" or "taken"
    this.wait = FIRST_WAIT;
    this.session = null;
    this.taken = false;
    this.connect();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(`${scheme}//${location.host}/socket`);
    this.socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.socket.send(JSON.stringify(this.hello()));
    };
    this.socket.onmessage = event => {
      const message = JSON.parse(event.data);
      if (message.type === "taken") this.taken = true;
      if (message.type === "game") {
        this.session = message.session;
        this.state("open");
      }
      this.receive(message);
    };
    this.socket.onclose = () => {
      this.session = null;
      this.state(this.taken ? "taken" : "lost");
      if (this.taken) return;
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, MOST_WAIT);
    };
  }

  hello() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (wanted.get("game")) {
      history.replaceState(null, "", location.pathname); // a reload goes on with the game
      const hello = { type: "hello", game: wanted.get("game") };
      if (wanted.get("position")) hello.position = wanted.get("position");
      return hello;
    }
    const kept = load();
    return kept ? { type: "hello", session: kept.session, record: kept.record } : { type: "hello" };
  }

  send(type, content = {}) {
    if (this.session && this.socket.readyState === WebSocket.OPEN)
      this.socket.send(JSON.stringify({ type, session: this.session, ...content }));
  }
}

export function keep(session, record) {
  try {
    sessionStorage.setItem(STORE, JSON.stringify({ session, record }));
  } catch {
    // without storage a reload begins anew
  }
}

function load() {
  try {
    return JSON.parse(sessionStorage.getItem(STORE));
  } catch {
    return null;
  }
}

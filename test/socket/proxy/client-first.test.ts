import { afterEach, describe, expect, it } from "vitest";
import { protocolOf } from "../../../proxy-image/src/probes/index.ts";
import type { PortMapping, TargetSettings } from "../../../src/contract/settings.ts";
import type { Peer } from "../../support/client.ts";
import { eventually, settled } from "../../support/eventually.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import {
  LISTEN,
  MemoryApi,
  proxySettings,
  type RunningProxy,
  startProxy,
  targetSettings,
} from "../../support/proxy.ts";
import { type Behaviour, closing, silent, TestTarget } from "../../support/target.ts";

const PING = "*1\r\n$4\r\nPING\r\n";
const startup = { kind: "postgres", user: "postgres", database: "postgres" } as const;
const STARTUP = protocolOf({ readiness: startup, target: 1 }, "x").hello?.toString("latin1") ?? "";

let target: TestTarget;
let proxy: RunningProxy;
/** Where a test drives time; else it is the real one. */
let clock: ManualClock;
const peers: Peer[] = [];

/** Answers every message that ends with what was said. */
const answering =
  (said: string, answer: string): Behaviour =>
  ({ socket }) => {
    let all = "";
    socket.on("data", (chunk) => {
      all += chunk.toString("latin1");
      if (all.endsWith(said)) socket.write(answer);
    });
    socket.on("end", () => socket.end());
  };
/** Ends the connection once it has heard this. */
const hangingUp =
  (said: string): Behaviour =>
  (peer) =>
    void peer.bytes(said.length).then(() => peer.end());

interface Scene extends Partial<Omit<PortMapping, "listen" | "target">> {
  suspended?: boolean;
  api?: MemoryApi;
  settings?: Partial<TargetSettings>;
  driven?: boolean;
}

async function begin(behaviour: Behaviour, scene: Scene): Promise<void> {
  const { suspended = false, api = new MemoryApi({ suspended }), settings, driven, ...mapping } = scene;
  // The first look finds nobody: what answered at once might be replicas that are ending.
  const first: Behaviour = (peer) => {
    target.behaviour = behaviour;
    closing(peer);
  };
  target = await TestTarget.start(suspended ? first : behaviour);
  clock = new ManualClock();
  const made = targetSettings(target.port, settings);
  made.ports = [
    { listen: LISTEN, target: target.port, readiness: { kind: "redis" }, wakeOn: "connect", ...mapping },
  ];
  proxy = await startProxy({ settings: proxySettings([made]), api, ...(driven ? { clock } : {}) });
}

const connect = async (say = ""): Promise<Peer> => {
  const peer = await proxy.connect();
  peers.push(peer);
  if (say !== "") peer.write(say);
  return peer;
};
const scans = () => {
  proxy.server.stop();
  return proxy.lines.find(({ event }) => event === "connections");
};

afterEach(async () => {
  for (const peer of peers.splice(0)) peer.socket.destroy();
  proxy.server.stop();
  await target.stop();
});

describe("a port whose clients speak first", () => {
  it("is asked in its own language, and its client answered by the target itself", async () => {
    await begin(answering("PING\r\n", "+PONG\r\n"), { suspended: true });
    const client = await connect("*1\r\n$4\r\nPING\r\n");
    expect(await client.text(7)).toBe("+PONG\r\n");
    expect(proxy.api.writes).toEqual([{ suspend: false, version: undefined }]);
  });

  it("costs a warm client one connection, and its bytes pass at once", async () => {
    await begin(answering("PING\r\n", "+PONG\r\n"), { driven: true });
    await (await connect(PING)).bytes(7);
    target.behaviour = silent;
    const before = target.peers.length;
    const quiet = await connect();
    // Nobody has said anything, and that is nobody's fault: it is a session all the same.
    await eventually(() => proxy.server.census.spliced === 2);
    clock.advance(600_000);
    await settled();
    quiet.write("hello");
    const peer = await target.peer(before);
    expect(await peer.text(5)).toBe("hello");
    peer.write("later");
    expect(await quiet.text(5)).toBe("later");
    expect(target.peers.length - before).toBe(1);
  });

  it("is never told anything twice because it is silent", async () => {
    await begin(answering("PING\r\n", "+PONG\r\n"), { driven: true });
    await (await connect(PING)).bytes(7);
    target.behaviour = silent;
    const before = target.peers.length;
    const client = await connect("SLOW\r\n");
    const peer = await target.peer(before);
    expect(await peer.text(6)).toBe("SLOW\r\n");
    clock.advance(300_000);
    await settled();
    expect(target.peers.length - before).toBe(1);
    peer.write("done");
    expect(await client.text(4)).toBe("done");
  });
});

describe("an end before the target's first byte", () => {
  it("is the client's where its bytes can't be said twice, and the next one is probed first", async () => {
    await begin(answering("PING\r\n", "+PONG\r\n"), {});
    await (await connect(PING)).bytes(7);
    target.behaviour = hangingUp("INCR x\r\n");
    const before = target.peers.length;
    const client = await connect("INCR x\r\n");
    expect(await client.ended).toBe("end");
    client.end();
    await eventually(() => proxy.active() === 1);
    expect(target.peers.length - before).toBe(1);
    target.behaviour = answering("PING\r\n", "+PONG\r\n");
    const next = await connect(PING);
    expect(await next.text(7)).toBe("+PONG\r\n");
    expect(target.peers.length - before).toBe(3);
  });

  it("costs nothing where they can", async () => {
    await begin(answering(STARTUP, "R-ready"), { readiness: startup });
    await (await connect(STARTUP)).bytes(7);
    const before = target.peers.length;
    target.behaviour = (peer) => {
      target.behaviour = answering(STARTUP, "R-again");
      hangingUp(STARTUP)(peer);
    };
    const client = await connect(STARTUP);
    expect(await client.text(7)).toBe("R-again");
    // The one that ended, the probe that it made necessary, the client's own.
    expect(target.peers.length - before).toBe(3);
  });

  it("is the target's last word when it comes again", async () => {
    await begin(answering(STARTUP, "R-ready"), { readiness: startup });
    await (await connect(STARTUP)).bytes(7);
    const before = target.peers.length;
    // The client's own, a probe that is answered, the client's own again.
    target.behaviour = (peer) => {
      if (target.peers.length - before === 2) answering(STARTUP, "R-ready")(peer);
      else hangingUp(STARTUP)(peer);
    };
    expect(await (await connect(STARTUP)).ended).toBe("end");
    expect(target.peers.length - before).toBe(3);
  });
});

describe("waking on what fits", () => {
  const fitting = { suspended: true, wakeOn: "fitting" } as const;

  it("lets nobody wake who says nothing, or something else", async () => {
    await begin(answering("PING\r\n", "+PONG\r\n"), fitting);
    const silentOne = await connect();
    await eventually(() => proxy.server.census.held === 1);
    silentOne.end();
    expect(await silentOne.ended).toBe("end");
    const resetting = await connect();
    await eventually(() => proxy.server.census.held === 1);
    resetting.reset();
    const scanner = await connect("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await scanner.ended).toBe("end");
    await eventually(() => proxy.active() === 0);
    expect(proxy.api.writes).toEqual([]);
    expect(target.peers).toEqual([]);
    expect(scans()).toMatchObject({ accepted: 3, scans: 3, ended: { unfit: 1 } });
  });

  it("wakes for what does, however it is cut, and loses none of it", async () => {
    await begin(answering("PING\r\n", "+PONG\r\n"), fitting);
    const client = await connect();
    for (const letter of PING.slice(0, 4)) {
      expect(proxy.api.writes).toEqual([]);
      client.socket.setNoDelay().write(letter);
      await settled(5);
    }
    client.write(PING.slice(4));
    expect(await client.text(7)).toBe("+PONG\r\n");
    const own = target.peers.at(-1);
    expect(await own?.text(PING.length)).toBe(PING);
    expect(scans()).toMatchObject({ scans: 0 });
  });

  it("begins the hold when there is something to wait for", async () => {
    await begin(closing, { ...fitting, driven: true, settings: { maxHoldMs: 1_000 } });
    const client = await connect();
    await eventually(() => proxy.server.census.held === 1);
    clock.advance(900);
    client.write(PING);
    await eventually(() => proxy.api.writes.length === 1);
    clock.advance(900);
    await settled();
    expect(proxy.server.census.held).toBe(1);
    clock.advance(100);
    expect(await client.ended).toBe("end");
  });

  it("leaves the answer to a target that is up", async () => {
    await begin(answering("PING\r\n", "+PONG\r\n"), { wakeOn: "fitting" });
    await (await connect(PING)).bytes(7);
    target.behaviour = answering("?\r\n\r\n", "-ERR\r\n");
    expect(await (await connect("GET / HTTP/1.1\r\n?\r\n\r\n")).text(6)).toBe("-ERR\r\n");
  });

  it("is not put off by strangers: the idle-hold runs on", async () => {
    await begin(answering("PING\r\n", "+PONG\r\n"), {
      wakeOn: "fitting",
      driven: true,
      settings: { idleHoldMs: 60_000 },
    });
    const client = await connect(PING);
    await client.bytes(7);
    client.end();
    await eventually(() => proxy.active() === 0);
    target.behaviour = answering("?\r\n\r\n", "-ERR\r\n");
    for (let n = 0; n < 6 && proxy.api.writes.length === 0; n += 1) {
      clock.advance(12_000);
      await settled();
      if (proxy.api.writes.length > 0) break;
      const scanner = await connect("GET / HTTP/1.1\r\n?\r\n\r\n");
      expect(await scanner.text(6)).toBe("-ERR\r\n");
      scanner.end();
      await eventually(() => proxy.active() === 0);
    }
    expect(proxy.api.writes).toEqual([{ suspend: true, version: 1 }]);
  });
});

describe("replay", () => {
  const replay = {
    readiness: { kind: "replay", bytes: 16 },
    suspended: true,
    settings: { probeWindowMs: 100 },
  } as const;

  it("says the same until something answers, and that is the client's", async () => {
    await begin(closing, replay);
    const client = await connect("who?");
    expect(await (await target.peer(1)).text(4)).toBe("who?");
    target.behaviour = silent;
    const mute = target.peers.length;
    await target.peer(mute);
    target.behaviour = answering("who?", "me");
    expect(await client.text(2)).toBe("me");
    client.write("and?");
    // One at a time, and the one that answered is the client's.
    expect(target.peers.length).toBe(mute + 2);
    expect(await target.peers[mute + 1]?.text(8)).toBe("who?and?");
  });

  it("waits for a client that has something to say", async () => {
    await begin(answering("who?", "me"), replay);
    const client = await connect();
    await eventually(() => proxy.api.writes.length === 1);
    expect(target.peers).toEqual([]);
    client.write("who?");
    expect(await client.text(2)).toBe("me");
  });
});

describe("the platform's word", () => {
  it("opens a port that never answers unasked", async () => {
    const api = new MemoryApi({ suspended: true });
    let ready = false;
    api.readDeployment = async () => ({
      ok: true,
      value: { lastProcessedVersion: api.workload.version, ready, failure: undefined },
    });
    await begin(answering("ask", "answer"), { readiness: { kind: "platform" }, api, driven: true });
    const client = await connect("ask");
    await eventually(() => api.writes.length === 1);
    for (let n = 0; n < 5; n += 1) {
      clock.advance(1_000);
      await settled();
    }
    expect(target.peers).toEqual([]);
    ready = true;
    await eventually(() => clock.advance(50) === undefined && target.peers.length === 1);
    expect(await client.text(6)).toBe("answer");
  });
});

describe("a target that is there and does not serve yet", () => {
  const http = { readiness: { kind: "http", method: "GET", path: "/" }, suspended: true } as const;
  const says = (status: string) => answering("\r\n\r\n", `HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);

  it("keeps its clients waiting while it answers 503, and they get its 200", async () => {
    await begin(says("503 Service Unavailable"), http);
    const client = await connect("GET /who HTTP/1.1\r\nHost: x\r\n\r\n");
    // The first look found nobody; these were told to wait.
    await target.peer(3);
    target.behaviour = says("200 OK");
    expect(await client.text(15)).toBe("HTTP/1.1 200 OK");
    const asked = await Promise.all(target.peers.slice(1).map((peer) => peer.text(8)));
    expect(asked.filter((text) => text === "GET /who")).toHaveLength(1);
  });

  it("keeps them waiting while it accepts and says nothing, and is told their request once", async () => {
    await begin(silent, { ...http, settings: { probeWindowMs: 60 } });
    const client = await connect("GET /who HTTP/1.1\r\nHost: x\r\n\r\n");
    await target.peer(3);
    target.behaviour = says("200 OK");
    expect(await client.text(15)).toBe("HTTP/1.1 200 OK");
    const asked = await Promise.all(target.peers.slice(1).map((peer) => peer.text(8)));
    expect(asked.filter((text) => text === "GET /who")).toHaveLength(1);
  });
});

describe("a target that stays silent", () => {
  it("is reported after one attempt, with what to do", async () => {
    await begin(silent, {
      suspended: true,
      readiness: { kind: "banner" },
      settings: { wakeTimeoutMs: 5_000 },
      driven: true,
    });
    await connect();
    await eventually(
      () => clock.advance(50) === undefined && proxy.lines.some(({ event }) => event === "target_silent"),
    );
    expect(proxy.lines.find(({ event }) => event === "target_silent")).toMatchObject({
      port: LISTEN,
      advice: expect.stringContaining("choose its protocol in `readiness`"),
    });
    const [{ report } = { report: undefined }] = proxy.server.report().targets;
    expect(report?.conditions).toEqual([expect.objectContaining({ type: "target_silent" })]);
  });
});

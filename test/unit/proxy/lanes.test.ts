import { Socket } from "node:net";
import { beforeEach, describe, expect, it } from "vitest";
import type { Lane, LaneEnd, LaneNews, Way } from "../../../proxy-image/src/net/lane.ts";
import { harmless } from "../../../proxy-image/src/net/sockets.ts";
import { Lanes } from "../../../proxy-image/src/runtime/lanes.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { targetSettings } from "../../support/proxy.ts";

const quiet: LaneNews = { dialling: 0, spliced: 0, joined: 0, trouble: undefined, handed: [], ended: [] };
const end: LaneEnd = {
  reason: "closed",
  heldMs: 1,
  splicedMs: 1,
  bytesUp: 0,
  bytesDown: 0,
  stranger: false,
  address: () => "",
};
const [mapping] = targetSettings(22).ports;
const PORT = mapping?.listen ?? 0;

class FakeLane implements Lane {
  held = 0;
  spliced = 0;
  news: LaneNews = quiet;
  readonly ways: Way[] = [];
  readonly calls: string[] = [];

  open(way: Way): void {
    this.ways.push(way);
  }

  shut(): LaneNews {
    const { news } = this;
    this.news = { ...news, joined: 0, trouble: undefined, handed: [], ended: [] };
    return news;
  }

  recall(): void {
    this.calls.push("recall");
  }

  cut(): void {
    this.calls.push("cut");
  }

  close(): void {
    this.calls.push("close");
  }
}

let clock: ManualClock;
let lane: FakeLane;
let lanes: Lanes;
let heard: unknown[];

beforeEach(() => {
  clock = new ManualClock();
  lane = new FakeLane();
  heard = [];
  lanes = new Lanes({
    clock,
    onHanded: (_, { heldMs }) => heard.push(["handed", heldMs]),
    onEnded: (_, { reason }) => heard.push(["ended", reason]),
    onTrouble: (_, { message }) => heard.push(["trouble", message]),
    onJoined: (count) => heard.push(["joined", count]),
  });
  if (mapping) lanes.add(mapping, lane);
});

describe("the lanes of a target", () => {
  it("open only to an address that has answered, and as long as that is fresh", () => {
    lanes.open([PORT], 4);
    expect(lane.ways).toEqual([]);
    lanes.learn(PORT, "192.0.2.1");
    clock.advance(4_000);
    lanes.open([PORT], 4);
    expect(lane.ways).toEqual([{ address: "192.0.2.1", port: 22, forMs: 6_000, dials: 4 }]);
    clock.advance(6_000);
    lanes.open([PORT], 4);
    expect(lane.ways).toHaveLength(1);
  });

  it("open for as many connections as may be made beside those that are", () => {
    lanes.learn(PORT, "192.0.2.1");
    lane.held = 3;
    lanes.open([PORT], 4);
    lanes.open([PORT], 0);
    expect(lane.ways.map(({ dials }) => dials)).toEqual([7]);
  });

  it("tell core what has changed, and nothing where nothing has", () => {
    lane.news = { ...quiet, dialling: 1, spliced: 2, joined: 2 };
    const event = { type: "lane", port: PORT, clients: 3, answered: true, left: false };
    expect(lanes.shut()).toEqual({ events: [event], handed: 0 });
    expect(lanes.shut()).toEqual({ events: [], handed: 0 });
    lane.news = { ...quiet, dialling: 1, spliced: 1, ended: [end] };
    expect(lanes.shut().events).toEqual([{ ...event, clients: 2, answered: false, left: true }]);
    expect(heard).toEqual([
      ["joined", 2],
      ["ended", "closed"],
    ]);
  });

  it("tell core nothing of a stranger who has left but that he is gone", () => {
    lane.news = { ...quiet, spliced: 1, joined: 1 };
    lanes.shut();
    lane.news = { ...quiet, ended: [{ ...end, stranger: true }] };
    expect(lanes.shut().events).toMatchObject([{ clients: 0, answered: false, left: false }]);
  });

  it("count whom they hand over until he has arrived", () => {
    const client = { socket: new Socket(), target: undefined, heldMs: 7 };
    lane.news = { ...quiet, handed: [client], trouble: new Error("EMFILE") };
    expect(lanes.shut()).toMatchObject({ events: [{ clients: 1, left: false }], handed: 1 });
    expect(lanes.shut()).toMatchObject({ events: [{ clients: 0, left: false }], handed: 0 });
    expect(heard).toEqual([
      ["handed", 7],
      ["trouble", "EMFILE"],
    ]);
  });

  it("take back those on their way, where there are any", () => {
    lanes.recall(PORT);
    lane.held = 1;
    lanes.recall(PORT);
    lanes.recall(PORT + 1);
    expect(lane.calls).toEqual(["recall"]);
  });

  it("end whom they hand over when nobody is there to serve him", () => {
    const [socket, target] = [harmless(new Socket()), new Socket()];
    lane.news = { ...quiet, handed: [{ socket, target, heldMs: 0 }] };
    lanes.discard();
    expect([socket.destroyed, target.destroyed]).toEqual([true, true]);
    expect(heard).toEqual([]);
  });
});

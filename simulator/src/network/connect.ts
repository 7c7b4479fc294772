import net from "node:net";
import type { Clock } from "../model.ts";
import type { PickedReplica } from "./mesh.ts";
import type { RecordedConnection, Recorder } from "./recorder.ts";
import { type Relay, relay } from "./relay.ts";

/** Where a sidecar's own connections to its container come from. */
export const sidecarAddress = "127.0.0.6";

export interface Route {
  port: number;
  /** The source address that the container sees. */
  localAddress: string;
}

/** Connects an accepted, still paused socket to a replica. A replica that refuses is a reset for the caller. */
export function relayTo(
  client: net.Socket,
  picked: PickedReplica,
  route: Route,
  record: RecordedConnection,
  context: { recorder: Recorder; clock: Clock; silenceCutMs: number | undefined },
): void {
  const { recorder, clock, silenceCutMs } = context;
  const replica = net.connect({
    host: picked.address,
    port: route.port,
    localAddress: route.localAddress,
    allowHalfOpen: true,
    noDelay: true,
  });
  let phase: "connecting" | "relaying" | "ended" = "connecting";
  let inner: Relay | undefined;
  const outer: Relay = {
    cut: (how) => {
      if (inner !== undefined) return inner.cut(how);
      replica.destroy();
      if (how === "reset") client.resetAndDestroy();
      else client.destroy();
    },
  };
  picked.attach(outer);
  const end = () => {
    if (phase === "ended") return;
    phase = "ended";
    picked.detach(outer);
    recorder.end(record, clock.now());
  };
  const failed = () => {
    record.outcome = "failed";
    client.removeListener("close", left);
    refuseAfterAccept(client, "reset", record, recorder, clock);
    end();
  };
  const left = () => {
    replica.destroy();
    end();
  };
  replica.once("error", failed);
  client.once("close", left);
  replica.once("connect", () => {
    if (phase !== "connecting") return;
    phase = "relaying";
    replica.removeListener("error", failed);
    client.removeListener("close", left);
    const events = {
      onBytes: (direction: "in" | "out", count: number) => {
        if (direction === "in") record.bytesIn += count;
        else record.bytesOut += count;
      },
      onEnd: end,
    };
    const silence = silenceCutMs === undefined ? undefined : { clock, cutMs: silenceCutMs };
    inner = relay(client, replica, events, silence);
  });
}

/** How much a mute connection swallows before its sender is slowed down. */
const muteBytes = 64 * 1024;

/** How long a mute connection is kept after its caller has said goodbye. */
const farewellMs = 10_000;

/** Accepted and never answered, however long it lives and whatever boots meanwhile. */
export function keepMute(
  client: net.Socket,
  record: RecordedConnection,
  recorder: Recorder,
  clock: Clock,
): void {
  let cancel = () => {};
  client.on("data", (chunk: Buffer) => {
    record.bytesIn += chunk.length;
    if (record.bytesIn >= muteBytes) client.pause();
  });
  // A caller that has said all it had to say still gets no answer; an end from here would be one.
  client.on("end", () => {
    recorder.end(record, clock.now());
    cancel = clock.after(farewellMs, () => client.destroy());
  });
  client.on("close", () => {
    cancel();
    recorder.end(record, clock.now());
  });
  client.resume();
}

/**
 * A sidecar accepts at once, and hears only a round trip later that nobody will serve: without that moment, callers
 * would see a connection that was never made. Real time, since it is the network's and not the platform's.
 */
const roundTripMs = 5;

/** Accepted, and then turned away. */
export function refuseAfterAccept(
  client: net.Socket,
  how: "close" | "reset",
  record: RecordedConnection,
  recorder: Recorder,
  clock: Clock,
): void {
  const timer = setTimeout(() => {
    if (how === "reset") client.resetAndDestroy();
    else client.destroy();
  }, roundTripMs);
  client.on("close", () => {
    clearTimeout(timer);
    recorder.end(record, clock.now());
  });
}

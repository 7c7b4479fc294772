import { once } from "node:events";
import net from "node:net";
import { createCatalogue, type Image } from "../../../simulator/src/images/catalogue.ts";
import { bannerEcho, functionImage } from "../../../simulator/src/images/function-image.ts";
import type { JsonObject, Resource, ResourceKey } from "../../../simulator/src/model.ts";
import {
  createPlatform,
  type LocalPlatform,
  type PlatformOptions,
} from "../../../simulator/src/platform/index.ts";
import { MemoryStore } from "../../../simulator/src/store/memory-store.ts";
import { SimulatorClock } from "../../../simulator/src/time/clock.ts";

export const org = "acme";
export const gvc = "shop";

export interface World {
  platform: LocalPlatform;
  store: MemoryStore;
  clock: SimulatorClock;
  /** Writes a workload document, a version further than the last. */
  write(name: string, spec: JsonObject): ResourceKey;
  /** Merges into `spec.defaultOptions` alone, as a proxy's PATCH does. */
  suspend(key: ResourceKey, suspend: boolean): void;
  /** Connects to a workload's mesh address as another workload. */
  dial(key: ResourceKey, port: number, from: string): net.Socket;
  /** The first line that a container of it writes and that fits, past lines included. */
  logLine(key: ResourceKey, fits: (text: string) => boolean): Promise<string>;
  dispose(): Promise<void>;
}

export function workloadKey(name: string, inGvc = gvc): ResourceKey {
  return { org, gvc: inGvc, kind: "workload", name };
}

/** A world with one GVC, a manual or a real clock, and echo servers that say who they are. */
export async function createWorld(
  options: Partial<PlatformOptions> & { paused?: boolean; locations?: string[]; more?: Image[] } = {},
): Promise<World> {
  const { paused = false, locations = ["aws-eu-1"], more = [], ...rest } = options;
  const store = new MemoryStore();
  const clock = new SimulatorClock({ paused });
  const echo = functionImage({
    name: "echo",
    run: (container) => bannerEcho(`${container.replica}\n`)(container),
  });
  const listeners = new Set<() => void>();
  const platform = createPlatform({
    store,
    clock,
    apiUrl: () => "http://127.0.0.1:1",
    images: createCatalogue(...more, echo),
    memoryLimits: "off",
    onLog: () => {
      for (const listener of listeners) listener();
    },
    ...rest,
  });
  await platform.start();
  store.put(
    { org, kind: "gvc", name: gvc },
    resource("gvc", gvc, 1, {
      alias: "abc123",
      spec: { staticPlacement: { locationLinks: locations.map((name) => `/org/${org}/location/${name}`) } },
    }),
  );
  const write = (name: string, spec: JsonObject): ResourceKey => {
    const key = workloadKey(name);
    const before = store.get(key);
    store.put(key, resource("workload", name, (before?.version ?? 0) + 1, { gvc, spec }));
    return key;
  };
  const sockets = new Set<net.Socket>();
  return {
    platform,
    store,
    clock,
    write,
    suspend: (key, suspend) => {
      const spec = store.get(key)?.spec as JsonObject;
      write(key.name, { ...spec, defaultOptions: { ...(spec.defaultOptions as JsonObject), suspend } });
    },
    dial: (key, port, from) => {
      const host = platform.meshAddress(key);
      const socket = net.connect({ host, port, localAddress: from, allowHalfOpen: true, noDelay: true });
      socket.on("error", () => {});
      sockets.add(socket);
      return socket;
    },
    logLine: (key, fits) =>
      new Promise((resolve) => {
        const look = () => {
          const line = platform.logs(key).find(({ text }) => fits(text));
          if (line === undefined) return;
          listeners.delete(look);
          resolve(line.text);
        };
        listeners.add(look);
        look();
      }),
    dispose: async () => {
      for (const socket of sockets) socket.destroy();
      await platform.dispose();
      clock.dispose();
    },
  };
}

export function resource(kind: string, name: string, version: number, more: JsonObject): Resource {
  const time = "2026-01-01T00:00:00.000Z";
  const envelope = { id: `${kind}-${name}`, kind, name, version, description: name, tags: {} };
  return { ...envelope, created: time, lastModified: time, ...more };
}

/** A standard workload that anybody in its GVC may call. */
export function echoSpec(more: JsonObject = {}): JsonObject {
  return {
    type: "standard",
    containers: [{ name: "main", image: "echo:1", ports: [{ number: 2022, protocol: "tcp" }] }],
    defaultOptions: { suspend: false, autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 } },
    firewallConfig: { internal: { inboundAllowType: "same-gvc" } },
    ...more,
  };
}

/** The first bytes that a socket says. */
export async function firstBytes(socket: net.Socket): Promise<string> {
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString();
}

/** How a socket ends: what it had read, and whether a reset ended it. */
export function ending(socket: net.Socket): Promise<{ text: string; reset: boolean; ended: boolean }> {
  const seen = { text: "", reset: false, ended: false };
  socket.on("data", (chunk: Buffer) => {
    seen.text += chunk.toString();
  });
  socket.on("end", () => {
    seen.ended = true;
    socket.end();
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    seen.reset = error.code === "ECONNRESET" || error.code === "EPIPE";
  });
  return new Promise((resolve) => socket.on("close", () => resolve(seen)));
}

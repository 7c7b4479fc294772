import { request } from "node:http";
import { afterEach } from "vitest";
import { documentsOnly } from "../../../simulator/src/api/documents-only.ts";
import {
  type RunningPlatform,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from "../../../simulator/src/index.ts";
import type { JsonObject, Platform, ResourceKey, Store } from "../../../simulator/src/model.ts";
import type { LocalPlatform } from "../../../simulator/src/platform/index.ts";

/** Nothing runs, but tokens and replicas can be made up: these tests are about the API alone. */
export class MadeUpPlatform implements Platform {
  readonly stopped: string[] = [];
  readonly replicaNames: string[] = [];
  readonly #inner: Platform;
  readonly #tokens = new Map<string, { workload: ResourceKey; address: string }>();

  constructor(store: Store) {
    this.#inner = documentsOnly(store);
  }

  /** A workload's token, worth something from that address alone. */
  token(workload: ResourceKey, address = "127.0.0.1"): string {
    const token = `token-of-${workload.name}-${this.#tokens.size}`;
    this.#tokens.set(token, { workload, address });
    return token;
  }

  workloadStatus(key: ResourceKey) {
    return this.#inner.workloadStatus(key);
  }

  deployments(key: ResourceKey) {
    return this.#inner.deployments(key);
  }

  replicas() {
    return this.replicaNames;
  }

  stopReplica(_key: ResourceKey, _location: string, replica: string) {
    this.stopped.push(replica);
  }

  workloadOf(token: string, remoteAddress: string) {
    const found = this.#tokens.get(token);
    return found && { workload: found.workload, attested: found.address === remoteAddress };
  }
}

export interface Response {
  status: number;
  // Answers are looked into with matchers.
  // biome-ignore lint/suspicious/noExplicitAny: the point of these tests is what the answers hold
  body: any;
  headers: NodeJS.Dict<string | string[]>;
}

export interface CallOptions {
  /** The whole header; the deployer's token, Bearer form, unless given. `null`: none. */
  authorization?: string | null;
  /** The address that the call comes from. */
  from?: string;
  signal?: AbortSignal;
  /** Sent as it is instead of as JSON. */
  raw?: string;
}

export class Api<P extends RunningPlatform = MadeUpPlatform> {
  readonly simulator: Simulator<P>;

  constructor(simulator: Simulator<P>) {
    this.simulator = simulator;
  }

  readonly get = (path: string, options?: CallOptions) => this.call("GET", path, undefined, options);
  readonly post = (path: string, body: unknown, options?: CallOptions) =>
    this.call("POST", path, body, options);
  readonly put = (path: string, body: unknown, options?: CallOptions) =>
    this.call("PUT", path, body, options);
  readonly patch = (path: string, body: unknown, options?: CallOptions) =>
    this.call("PATCH", path, body, options);
  readonly delete = (path: string, options?: CallOptions) => this.call("DELETE", path, undefined, options);

  call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Response> {
    const { authorization = `Bearer ${this.simulator.deployerToken}`, from, signal, raw } = options;
    const text = raw ?? (body === undefined ? "" : JSON.stringify(body));
    return new Promise((resolve, reject) => {
      const sent = request(
        `${this.simulator.apiUrl}${path}`,
        {
          method,
          agent: false,
          ...(from === undefined ? {} : { localAddress: from }),
          ...(signal === undefined ? {} : { signal }),
          headers: {
            ...(authorization === null ? {} : { authorization }),
            "content-length": Buffer.byteLength(text),
          },
        },
        (response) => {
          let received = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => {
            received += chunk;
          });
          response.on("error", reject);
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              body: received === "" ? undefined : JSON.parse(received),
              headers: response.headers,
            }),
          );
        },
      );
      sent.on("error", reject);
      sent.end(text);
    });
  }

  /** An identity, a target, and a policy that lets the identity edit it; and a proxy that has the identity. */
  async deploy(image = "echo:1"): Promise<{ target: ResourceKey; proxy: ResourceKey }> {
    await this.ok(this.post(`${home}/identity`, { name: "proxy" }));
    await this.ok(this.post(`${home}/workload`, workload("target", {}, image)));
    const proxy = workload("proxy", {
      identityLink: "//identity/proxy",
      firewallConfig: { external: { outboundAllowCIDR: ["0.0.0.0/0"] } },
    });
    await this.ok(this.post(`${home}/workload`, proxy));
    await this.ok(
      this.post("/org/local/policy", {
        name: "wake",
        targetKind: "workload",
        targetLinks: ["//gvc/demo/workload/target"],
        bindings: [{ permissions: ["edit"], principalLinks: ["//gvc/demo/identity/proxy"] }],
      }),
    );
    return { target: workloadKey("target"), proxy: workloadKey("proxy") };
  }

  async ok(answer: Promise<Response>): Promise<Response> {
    const response = await answer;
    if (response.status >= 300) throw new Error(`${response.status}: ${JSON.stringify(response.body)}`);
    return response;
  }
}

export const home = "/org/local/gvc/demo";

export const workloadKey = (name: string): ResourceKey => ({
  org: "local",
  gvc: "demo",
  kind: "workload",
  name,
});

/** A workload's document as a client sends it. */
export const workload = (name: string, spec: JsonObject = {}, image = "echo:1"): JsonObject => ({
  name,
  spec: {
    type: "standard",
    containers: [{ name: "main", image, ports: [{ number: 2222, protocol: "tcp" }] }],
    ...spec,
  },
});

const started: { dispose(): Promise<void> }[] = [];

/** A simulator for one test, gone with it. */
export async function startApi(options: SimulatorOptions = {}): Promise<Api> {
  const simulator = await startSimulator({ ...options, platform: ({ store }) => new MadeUpPlatform(store) });
  started.push(simulator);
  return new Api(simulator);
}

/** The same with workloads that run. */
export async function startWhole(options: SimulatorOptions = {}): Promise<Api<LocalPlatform>> {
  const simulator = await startSimulator(options);
  started.push(simulator);
  return new Api(simulator);
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((simulator) => simulator.dispose()));
});

import type { ResourceKey } from "../model.ts";
import { type BootHold, type FailureKind, LocalPlatform, type MuteBehaviour } from "../platform/index.ts";
import type { AnySimulator, Command, Input } from "./commands.ts";
import { choice, optionalNumber, optionalText, Refusal } from "./input.ts";

const failures: readonly FailureKind[] = [
  "image-pull",
  "crash-loop",
  "quota",
  "unschedulable",
  "never-ready",
  "secret-missing",
  "start-failed",
];
const mutes: readonly MuteBehaviour[] = ["silent", "close", "reset", "refuse"];

/** Boots that a person holds, by platform and workload. */
const holds = new WeakMap<LocalPlatform, Map<string, BootHold>>();

export const workloadCommands: readonly Command[] = [
  {
    method: "GET",
    path: "/workloads",
    help: "what runs, as the platform sees it",
    run: ({ store, platform, org }) =>
      store.list({ org, kind: "workload" }).map(({ key }) => ({
        gvc: key.gvc,
        name: key.name,
        ...platform.workloadStatus(key),
        replicas: Object.fromEntries(
          platform.deployments(key).map(({ name }) => [String(name), platform.replicas(key, String(name))]),
        ),
      })),
  },
  {
    method: "GET",
    path: "/workloads/:gvc/:name",
    help: "one of them, replica by replica",
    run: (simulator, input) => {
      const { platform, key } = find(simulator, input);
      return { ...platform.snapshot(key), connections: platform.connections(key) };
    },
  },
  {
    method: "GET",
    path: "/workloads/:gvc/:name/logs",
    help: "what its containers wrote",
    run: (simulator, input) => {
      const { platform, key } = find(simulator, input);
      return platform
        .logs(key)
        .map(({ replica, container, stream, text }) => ({ replica, container, stream, text }));
    },
  },
  {
    method: "POST",
    path: "/workloads/:gvc/:name/kill",
    help: 'ends a replica at once: {"replica"?, "location"?}',
    run: (simulator, input) => {
      const { platform, key } = find(simulator, input);
      platform.killReplica(key, { ...given("replica", input), ...given("location", input) });
    },
  },
  {
    method: "POST",
    path: "/workloads/:gvc/:name/fail",
    help: `{"kind", "message"?, "exitCode"?, "location"?}; kinds: ${failures.join(", ")}`,
    run: (simulator, input) => {
      const { platform, key } = find(simulator, input);
      const kind = choice(input.body, "kind", failures);
      if (kind === undefined) throw new Refusal('needs "kind"');
      const exitCode = optionalNumber(input.body, "exitCode");
      const failure = { kind, ...given("message", input), ...(exitCode === undefined ? {} : { exitCode }) };
      platform.fail(key, failure, optionalText(input.body, "location"));
    },
  },
  {
    method: "POST",
    path: "/workloads/:gvc/:name/recover",
    help: "takes that back",
    run: (simulator, input) => {
      const { platform, key } = find(simulator, input);
      platform.clear(key, optionalText(input.body, "location"));
    },
  },
  {
    method: "POST",
    path: "/workloads/:gvc/:name/boot",
    help: 'how long boots take from now on: {"ms": <n>}; or {"hold": true} and {"hold": false}',
    run: (simulator, input) => boot(simulator, input),
  },
  {
    method: "POST",
    path: "/workloads/:gvc/:name/mesh",
    help: `what the mesh does while nothing is ready: {"as"?: ${mutes.map((one) => `"${one}"`).join(" | ")}}`,
    run: (simulator, input) => {
      const { platform, key } = find(simulator, input);
      platform.setMute(key, choice(input.body, "as", mutes));
    },
  },
];

function boot(simulator: AnySimulator, input: Input): void {
  const { platform, key } = find(simulator, input);
  const ms = optionalNumber(input.body, "ms");
  if (ms !== undefined) platform.setBoot(key, { ms });
  const mine = holds.get(platform) ?? new Map<string, BootHold>();
  holds.set(platform, mine);
  const id = `${key.gvc}/${key.name}`;
  if (input.body.hold === true && !mine.has(id)) mine.set(id, platform.holdBoot(key));
  if (input.body.hold === false) {
    mine.get(id)?.release();
    mine.delete(id);
  }
}

function given<T extends string>(name: T, { body }: Input): { [key in T]?: string } {
  const value = optionalText(body, name);
  return (value === undefined ? {} : { [name]: value }) as { [key in T]?: string };
}

function find(
  { platform, store, org }: AnySimulator,
  { params }: Input,
): { platform: LocalPlatform; key: ResourceKey } {
  if (!(platform instanceof LocalPlatform)) throw new Refusal("no workload runs here");
  const key: ResourceKey = { org, kind: "workload", gvc: params.gvc ?? "", name: params.name ?? "" };
  if (!store.get(key)) throw new Refusal(`there is no workload ${key.gvc}/${key.name}`);
  return { platform, key };
}

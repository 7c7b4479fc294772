/** What a person or a test in another process can do to a running simulator: one entry a command. */
import type { ApiSwitches } from "../api/switches.ts";
import type { Grant } from "../api/tokens.ts";
import { asObject } from "../documents/json.ts";
import type { CallRecord } from "../faults/call.ts";
import type { Simulator } from "../index.ts";
import type { JsonObject } from "../model.ts";
import { faultCommands } from "./fault-commands.ts";
import { Refusal, text } from "./input.ts";

export interface Command {
  readonly method: "GET" | "POST" | "DELETE" | "PATCH";
  /** `:name` steps are parameters. */
  readonly path: string;
  readonly help: string;
  readonly run: (simulator: Simulator, input: Input) => unknown;
}

export interface Input {
  readonly params: { readonly [name: string]: string };
  readonly query: { readonly [name: string]: string };
  readonly body: JsonObject;
}

export const commands: readonly Command[] = [
  {
    method: "GET",
    path: "/calls",
    help: "every API call so far; ?path=<regular expression>, ?method=, ?since=<id>",
    run: (simulator, { query }) => simulator.recorder.calls.filter((call) => wanted(call, query)),
  },
  {
    method: "DELETE",
    path: "/calls",
    help: "forget them",
    run: (simulator) => simulator.recorder.clear(),
  },
  ...faultCommands,
  {
    method: "POST",
    path: "/api/down",
    help: 'the API goes away: {"as": "refuse" | "reset" | "silent" | <status>}',
    run: (simulator, { body }) => {
      const { as = "refuse" } = body;
      if (typeof as === "number" || as === "refuse" || as === "reset" || as === "silent")
        return simulator.down(as);
      throw new Refusal('"as" must be refuse, reset, silent or a status');
    },
  },
  { method: "POST", path: "/api/up", help: "and comes back", run: (simulator) => simulator.up() },
  {
    method: "GET",
    path: "/clock",
    help: "the simulator's time",
    run: ({ clock }) => ({
      now: new Date(clock.now()).toISOString(),
      phase: clock.phase,
      pending: clock.pending,
    }),
  },
  {
    method: "POST",
    path: "/clock",
    help: '{"do": "pause" | "resume"} or {"advanceMs": <n>}',
    run: ({ clock }, { body }) => {
      if (body.do === "pause") clock.pause();
      else if (body.do === "resume") clock.resume();
      else if (typeof body.advanceMs === "number" && body.advanceMs >= 0) clock.advance(body.advanceMs);
      else throw new Refusal('needs {"do": "pause" | "resume"} or {"advanceMs": <n>}');
    },
  },
  {
    method: "GET",
    path: "/switches",
    help: "how the open points of the platform are set",
    run: (simulator) => simulator.switches,
  },
  {
    method: "PATCH",
    path: "/switches",
    help: "sets some of them",
    run: (simulator, { body }) => setSwitches(simulator.switches, body),
  },
  {
    method: "POST",
    path: "/tokens",
    help: 'a service account: {"name": …, "grants": [{"kind", "permissions", "targetLinks"?}]}',
    run: (simulator, { body }) => {
      const grants = Array.isArray(body.grants) ? (body.grants as unknown as Grant[]) : [];
      return { token: simulator.createToken(text(body, "name"), grants) };
    },
  },
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
];

function wanted(call: CallRecord, query: Input["query"]): boolean {
  const { path, method, since } = query;
  if (path !== undefined && !new RegExp(path).test(call.path)) return false;
  return (method === undefined || method === call.method) && (since === undefined || call.id > Number(since));
}

/** Only known switches, and only values of the same type. */
function setSwitches(switches: ApiSwitches, body: JsonObject): ApiSwitches {
  const target = switches as unknown as JsonObject;
  for (const [name, value] of Object.entries(asObject(body))) {
    if (!(name in target)) throw new Refusal(`there is no switch "${name}"`);
    if (typeof value !== typeof target[name]) throw new Refusal(`"${name}" must be a ${typeof target[name]}`);
  }
  Object.assign(target, body);
  return switches;
}

/** What a person or a test in another process can do to a running simulator: one entry a command. */
import type { Grant } from "../api/tokens.ts";
import type { CallRecord } from "../faults/call.ts";
import type { RunningPlatform, Simulator } from "../index.ts";
import type { JsonObject } from "../model.ts";
import { LocalPlatform } from "../platform/index.ts";
import { faultCommands } from "./fault-commands.ts";
import { Refusal, text } from "./input.ts";
import { workloadCommands } from "./workload-commands.ts";

/** Whatever runs its workloads. */
export type AnySimulator = Simulator<RunningPlatform>;

export interface Command {
  readonly method: "GET" | "POST" | "DELETE" | "PATCH";
  /** `:name` steps are parameters. */
  readonly path: string;
  readonly help: string;
  readonly run: (simulator: AnySimulator, input: Input) => unknown;
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
    run: (simulator) => Object.assign({}, ...switchesOf(simulator)),
  },
  {
    method: "PATCH",
    path: "/switches",
    help: "sets some of them",
    run: (simulator, { body }) => setSwitches(switchesOf(simulator), body),
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
  ...workloadCommands,
];

function wanted(call: CallRecord, query: Input["query"]): boolean {
  const { path, method, since } = query;
  if (path !== undefined && !new RegExp(path).test(call.path)) return false;
  return (method === undefined || method === call.method) && (since === undefined || call.id > Number(since));
}

/** The API's, and those of the platform where it runs workloads. */
function switchesOf({ switches, platform }: AnySimulator): object[] {
  return platform instanceof LocalPlatform ? [switches, platform.switches] : [switches];
}

/** Only known switches, and only values of the same type. All or none are set. */
function setSwitches(sets: object[], body: JsonObject): object {
  const found = Object.entries(body).map(([name, value]) => {
    const set = sets.find((one) => name in one) as JsonObject | undefined;
    if (!set) throw new Refusal(`there is no switch "${name}"`);
    const type = set[name] === undefined ? "number" : typeof set[name];
    if (typeof value !== type) throw new Refusal(`"${name}" must be a ${type}`);
    return { set, name, value };
  });
  for (const { set, name, value } of found) set[name] = value;
  return Object.assign({}, ...sets);
}

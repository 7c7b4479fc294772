import { asObject } from "../documents/json.ts";
import type { CallMatch } from "../faults/call.ts";
import { type Ending, type Faults, failed, type Late, type Rule, type Stop } from "../faults/faults.ts";
import type { JsonObject } from "../model.ts";
import type { Command } from "./commands.ts";
import { choice, number, optionalNumber, optionalText, Refusal } from "./input.ts";

export const faultCommands: readonly Command[] = [
  {
    method: "GET",
    path: "/faults",
    help: "the faults in force, and what they hold",
    run: ({ faults }) => faults.list().map(describe),
  },
  {
    method: "POST",
    path: "/faults",
    help: [
      'a new one: {"do": …, "match": {"method"?, "path"?, "principal"?, "operation"?}, "times"?} where paths and',
      "principals are regular expressions and `do` is one of",
      '  "stop"        {"at": "received" | "applied" | "answered"}   held until released',
      '  "delay"       {"ms": <n>, "at"?}',
      '  "fail"        {"status": <n>, "message"?, "retryAfterSeconds"?, "at"?: "received" | "applied"}',
      '  "reset"       {"at"?}                                       the connection is reset',
      '  "rate-limit"  {"retryAfterSeconds"?}                        429',
      '  "quota"                                                     429 that clients do not retry',
      '  "late"        {"answer"?: "reset" | <status>}               let down now, applied at …/apply',
    ].join("\n"),
    run: ({ faults }, { body }) => describe(addFault(faults, body)),
  },
  {
    method: "DELETE",
    path: "/faults",
    help: "no more faults; what is held goes on",
    run: ({ faults }) => faults.clear(),
  },
  {
    method: "DELETE",
    path: "/faults/:id",
    help: "one of them",
    run: ({ faults }, { params }) => find(faults, params.id).remove(),
  },
  {
    method: "POST",
    path: "/faults/:id/release",
    help: 'what a stop holds goes on; or ends with {"status": <n>} or {"reset": true}',
    run: ({ faults }, { params, body }) => {
      const rule = find(faults, params.id);
      if (!("release" in rule)) throw new Refusal("that is no stop");
      (rule as Stop).release(ending(body));
    },
  },
  {
    method: "POST",
    path: "/faults/:id/apply",
    help: "what a late one keeps is applied now",
    run: ({ faults }, { params }) => {
      const rule = find(faults, params.id);
      if (!("apply" in rule)) throw new Refusal("that is no late one");
      (rule as Late).apply();
    },
  },
];

function addFault(faults: Faults, body: JsonObject): Rule {
  const match = readMatch(asObject(body.match));
  const times = optionalNumber(body, "times");
  const limited = times === undefined ? {} : { times };
  const retryAfterSeconds = optionalNumber(body, "retryAfterSeconds");
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const message = optionalText(body, "message");
  const said = message === undefined ? {} : { message };
  const point = choice(body, "at", ["received", "applied", "answered"]);
  const early = point === "applied" ? { at: point } : {};
  switch (body.do) {
    case "stop":
      return faults.stopAt(match, point ?? "received", limited);
    case "delay":
      return faults.delay(match, number(body, "ms"), { ...(point ? { at: point } : {}), ...limited });
    case "fail":
      return faults.fail(match, { status: number(body, "status"), ...said, ...retry, ...limited, ...early });
    case "reset":
      return faults.reset(match, { ...limited, ...early });
    case "rate-limit":
      return faults.rateLimit(match, { ...retry, ...limited });
    case "quota":
      return faults.quota(match, { ...said, ...limited });
    case "late": {
      const answer = typeof body.answer === "number" ? body.answer : "reset";
      return faults.applyLate(match, { answer, ...limited });
    }
    default:
      throw new Refusal('"do" must be one of stop, delay, fail, reset, rate-limit, quota, late');
  }
}

function readMatch(match: JsonObject): CallMatch {
  const method = optionalText(match, "method");
  const path = optionalText(match, "path");
  const principal = optionalText(match, "principal");
  const operation = optionalText(match, "operation");
  return {
    ...(method === undefined ? {} : { method }),
    ...(path === undefined ? {} : { path: pattern(path) }),
    ...(principal === undefined ? {} : { principal: pattern(principal) }),
    ...(operation === undefined ? {} : { operation }),
  };
}

function pattern(source: string): RegExp {
  try {
    return new RegExp(source);
  } catch (error) {
    throw new Refusal((error as Error).message);
  }
}

function ending(body: JsonObject): Ending | undefined {
  if (body.reset === true) return { type: "reset" };
  return body.status === undefined ? undefined : failed({ status: number(body, "status") });
}

function find(faults: Faults, id: string | undefined): Rule {
  const rule = faults.find(Number(id));
  if (!rule) throw new Refusal(`there is no fault ${id}`);
  return rule;
}

const describe = (rule: Rule): JsonObject => ({
  id: rule.id,
  what: rule.what,
  taken: rule.taken,
  ...("held" in rule
    ? { held: (rule as Stop).held.map((call) => `${call.method} ${call.path} (call ${call.id})`) }
    : {}),
});

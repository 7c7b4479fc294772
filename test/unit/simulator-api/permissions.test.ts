import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { newResource } from "../../../simulator/src/api/envelope.ts";
import { loadKinds } from "../../../simulator/src/api/load-kinds.ts";
import { normalisePolicy, policyProblems } from "../../../simulator/src/documents/policy-rules.ts";
import type { JsonObject } from "../../../simulator/src/model.ts";
import { permissionsOf } from "../../../simulator/src/permissions/catalogue.ts";
import {
  anonymous,
  builtinPolicies,
  expand,
  isGranted,
  type Need,
  refusal,
} from "../../../simulator/src/permissions/decide.ts";

const link = "/org/o/gvc/g/workload/target";
const identity = "/org/o/gvc/g/identity/proxy";
const principal = { name: identity, links: [identity] };
const resource = newResource("workload", "target", { tags: { asleep: "yes" } }, 0);
const need = (permission: string, more: Partial<Need> = {}): Need => ({
  org: "o",
  kind: "workload",
  permission,
  link,
  resource,
  ...more,
});
const catalogue = permissionsOf(
  ["configureLoadBalancer", "connect", "exec", "exec.runCronWorkload", "exec.stopReplica"],
  { exec: ["exec.runCronWorkload", "exec.stopReplica"] },
);
const binding = (...permissions: string[]): JsonObject => ({ permissions, principalLinks: [identity] });
const policy = (more: JsonObject): JsonObject => ({ targetKind: "workload", targetLinks: [link], ...more });

describe("implied permissions", () => {
  it.each([
    ["edit", ["edit", "view"]],
    ["view", ["view"]],
    ["exec", ["exec", "exec.runCronWorkload", "exec.stopReplica"]],
    ["manage", catalogue.items.map(({ name }) => name)],
    ["unheard-of", ["unheard-of"]],
  ])("%s", (permission, held) => {
    expect([...expand([permission], catalogue)].sort()).toEqual([...held].sort());
  });

  it("edit never brings the load balancer, nor deletion", () => {
    const held = expand(["edit"], catalogue);
    expect([held.has("configureLoadBalancer"), held.has("delete"), held.has("exec")]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe("a policy", () => {
  const create = need("create", { resource: undefined, wholeKind: true });
  const rows: [string, JsonObject, Need, boolean][] = [
    ["grants on a listed link", policy({ bindings: [binding("edit")] }), need("edit"), true],
    ["grants what is implied", policy({ bindings: [binding("edit")] }), need("view"), true],
    ["grants nothing more", policy({ bindings: [binding("edit")] }), need("delete"), false],
    [
      "adds up its bindings",
      policy({ bindings: [binding("view"), binding("delete")] }),
      need("delete"),
      true,
    ],
    [
      "is about its kind alone",
      policy({ targetKind: "identity", bindings: [binding("edit")] }),
      need("edit"),
      false,
    ],
    [
      "is about its links alone",
      policy({ targetLinks: [`${link}2`], bindings: [binding("edit")] }),
      need("edit"),
      false,
    ],
    [
      "may be about all",
      policy({ targetLinks: [], target: "all", bindings: [binding("edit")] }),
      need("edit"),
      true,
    ],
    ["about all lets one create", policy({ target: "all", bindings: [binding("create")] }), create, true],
    ["about a link does not", policy({ bindings: [binding("create")] }), create, false],
    [
      "may select by query",
      policy({
        targetLinks: [],
        targetQuery: { spec: { match: "all", terms: [{ op: "=", tag: "asleep", value: "yes" }] } },
        bindings: [binding("edit")],
      }),
      need("edit"),
      true,
    ],
    [
      "selects nothing that is not there",
      policy({ targetLinks: [], targetQuery: { spec: { terms: [] } }, bindings: [binding("edit")] }),
      need("edit", { resource: undefined }),
      false,
    ],
    [
      "without the GVC in its principal grants nothing",
      policy({ bindings: [{ permissions: ["edit"], principalLinks: ["/org/o/identity/proxy"] }] }),
      need("edit"),
      false,
    ],
    [
      "with an unknown permission grants nothing",
      policy({ bindings: [binding("wake")] }),
      need("edit"),
      false,
    ],
    ["without bindings grants nothing", policy({}), need("view"), false],
  ];
  it.each(rows)("%s", (_title, given, wanted, expected) => {
    expect(isGranted(principal, wanted, [given], catalogue)).toBe(expected);
    expect(isGranted(anonymous, wanted, [given], catalogue)).toBe(false);
  });

  it("of the platform's own lets superusers do everything and viewers look", () => {
    const builtin = builtinPolicies("o", ["workload"]);
    const member = (group: string) => ({ name: "x", links: ["x", `/org/o/group/${group}`] });
    expect(isGranted(member("superusers"), need("configureLoadBalancer"), builtin, catalogue)).toBe(true);
    expect(isGranted(member("viewers"), need("view"), builtin, catalogue)).toBe(true);
    expect(isGranted(member("viewers"), need("edit"), builtin, catalogue)).toBe(false);
  });

  it("refuses in words that clients look for", () => {
    const text = refusal(principal, need("edit"));
    expect(text).toContain("not granted [edit]");
    expect(text).toContain(identity);
    expect(refusal(anonymous, need("edit"))).toContain("anonymous");
  });
});

describe("a policy document", () => {
  const key = { org: "o", kind: "policy", name: "wake" };
  const make = (body: JsonObject) =>
    normalisePolicy(newResource("policy", "wake", { targetKind: "workload", ...body }, 0), key);
  const grantable = new Set(catalogue.items.map(({ name }) => name));
  const paths = (
    body: JsonObject,
    unknown: "refuse" | "store" = "refuse",
    known: typeof grantable | undefined = grantable,
  ) => policyProblems(make(body), undefined, known, unknown).map(({ path }) => path);

  it("is kept with sorted permissions and full links", () => {
    const kept = make({
      targetLinks: ["//gvc/g/workload/target"],
      bindings: [
        { permissions: ["view", "edit"], principalLinks: ["//gvc/g/identity/proxy", "//group/viewers"] },
      ],
    });
    expect(kept.targetLinks).toEqual([link]);
    expect(kept.bindings).toEqual([
      { permissions: ["edit", "view"], principalLinks: [identity, "/org/o/group/viewers"] },
    ]);
    expect(kept.origin).toBe("default");
  });

  it.each([
    [{}, []],
    [{ target: "all", targetLinks: [link] }, ["target"]],
    [{ target: "all", targetQuery: {} }, ["target"]],
    [{ target: "all", targetLinks: [] }, []],
    [{ targetLinks: ["bare"] }, ["targetLinks[0]"]],
    [{ bindings: [binding("wake")] }, ["bindings[0].permissions"]],
    [{ bindings: [{ permissions: ["edit"], principalLinks: ["bare"] }] }, ["bindings[0].principalLinks[0]"]],
  ] as [JsonObject, string[]][])("%j has problems %j", (body, expected) => {
    expect(paths(body)).toEqual(expected);
  });

  it("with an unknown permission is stored where that reading is chosen", () => {
    expect(paths({ bindings: [binding("wake")] }, "store")).toEqual([]);
  });

  it("needs a kind, and keeps it", () => {
    expect(policyProblems(make({}), undefined, undefined, "refuse").map(({ path }) => path)).toEqual([
      "targetKind",
    ]);
    const before = make({ targetKind: "identity" });
    expect(policyProblems(make({}), before, grantable, "refuse").map(({ path }) => path)).toEqual([
      "targetKind",
    ]);
  });
});

describe("what can be granted", () => {
  it("is what the platform's documentation lists", async () => {
    const kinds = await loadKinds();
    const names = (kind: string) => kinds.get(kind)?.permissions.items.map(({ name }) => name);
    expect(names("workload")).toEqual([
      "configureLoadBalancer",
      "connect",
      "create",
      "delete",
      "edit",
      "exec",
      "exec.runCronWorkload",
      "exec.stopReplica",
      "manage",
      "view",
    ]);
    expect(names("identity")).toEqual(["create", "delete", "edit", "manage", "use", "view"]);
    expect(names("secret")).toEqual(["create", "delete", "edit", "manage", "reveal", "use", "view"]);
    expect(names("policy")).toEqual(["create", "delete", "edit", "manage", "view"]);
    expect(kinds.get("secret")?.permissions.implied.edit).toEqual(["view", "reveal"]);
    expect([...kinds.keys()]).toEqual([
      "gvc",
      "identity",
      "ipset",
      "location",
      "org",
      "policy",
      "secret",
      "workload",
    ]);
  });

  it("grows by a file, and by nothing else", async () => {
    const folder = await mkdtemp(join(tmpdir(), "kinds-"));
    try {
      const permissions = { items: [], implied: {} };
      const kind = { kind: "volumeset", scope: "gvc", permissions, fields: {} };
      await writeFile(join(folder, "volumeset.ts"), `export const kind = ${JSON.stringify(kind)};`);
      expect((await loadKinds(pathToFileURL(`${folder}/`))).get("volumeset")).toEqual(kind);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

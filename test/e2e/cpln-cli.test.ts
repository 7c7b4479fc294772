import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CallRecord } from "../../simulator/src/faults/call.ts";
import { type Simulator, startSimulator } from "../../simulator/src/index.ts";
import { type CplnCli, cplnMissing, cplnRequired, startCpln } from "../support/cpln-cli.ts";

/**
 * An outside witness: the platform's own command line, unchanged, against the local API. What it prints and what it
 * exits with is its judgement on our answers. The tests build on each other, as a person's session does.
 */
const title = cplnMissing ? `the real cpln (not run: ${cplnMissing})` : "the real cpln";

if (cplnMissing !== undefined && cplnRequired) {
  it("finds the real cpln", () => {
    throw new Error(cplnMissing);
  });
}

describe.skipIf(cplnMissing !== undefined)(title, { timeout: 60_000 }, () => {
  let simulator: Simulator;
  let cpln: CplnCli;
  const key = { org: "local", gvc: "demo", kind: "workload", name: "sftp" };
  const item = "/org/local/gvc/demo/workload/sftp";
  const document = {
    kind: "workload",
    name: "sftp",
    gvc: "demo",
    spec: {
      type: "standard",
      containers: [{ name: "main", image: "echo-banner:1", ports: [{ number: 2222, protocol: "tcp" }] }],
      defaultOptions: { suspend: false, autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 } },
    },
  };

  beforeAll(async () => {
    simulator = await startSimulator({
      locations: ["aws-us-west-2", "aws-eu-central-1"],
      gvcs: [{ name: "demo", locations: ["aws-us-west-2"] }],
      workloads: { graceMs: 50, bootMs: 0 },
    });
    cpln = await startCpln(simulator, { gvc: "demo" });
  });
  afterAll(async () => {
    await cpln?.dispose();
    await simulator?.dispose();
  });

  /** The calls that a command made. */
  const during = async (command: () => Promise<unknown>): Promise<readonly CallRecord[]> => {
    const before = simulator.recorder.calls.length;
    await command();
    return simulator.recorder.calls.slice(before);
  };
  const bodyOf = (calls: readonly CallRecord[], method: string) =>
    calls.find((call) => call.method === method)?.body;

  it("applies a file, twice", async () => {
    const file = await cpln.file("workload.yaml", document);
    expect(await cpln.ok("apply", "-f", file)).toContain(`Created ${item}`);
    expect(await cpln.ok("apply", "-f", file)).toContain("Updated workload 'sftp'");
    await simulator.platform.when(key, ({ ready }) => ready === 1);
  });

  it("sends a service account's token with Bearer", () => {
    expect(new Set(simulator.recorder.calls.map(({ headerForm }) => headerForm))).toEqual(
      new Set(["bearer"]),
    );
  });

  it("gets it, as a table and as JSON, and finds it ready", async () => {
    expect(await cpln.ok("workload", "get", "sftp")).toMatch(/\|sftp +\|sftp +\|demo +\|true +\|/);
    expect(await cpln.ok("workload", "get")).toMatch(/\|sftp +\|/);
    expect(await cpln.json("workload", "get", "sftp")).toMatchObject({
      name: "sftp",
      version: 2,
      status: { ready: true, readyLatest: true },
    });
  });

  it("lists deployments and replicas", async () => {
    expect(await cpln.ok("workload", "get-deployments", "sftp")).toContain("aws-us-west-2");
    const [replica = ""] = simulator.platform.replicas(key, "aws-us-west-2");
    expect(await cpln.ok("workload", "replica", "get", "sftp")).toContain(replica);
  });

  it("stops and starts it", async () => {
    const calls = await during(() => cpln.ok("workload", "stop", "sftp"));
    expect(bodyOf(calls, "PATCH")).toEqual({ spec: { defaultOptions: { suspend: true } } });
    await simulator.platform.when(key, ({ suspendedStatus }) => suspendedStatus === "suspended");
    await cpln.ok("workload", "start", "sftp");
    await simulator.platform.when(key, ({ ready }) => ready === 1);
  });

  it("stops a replica", async () => {
    const [replica = ""] = simulator.platform.replicas(key, "aws-us-west-2");
    const place = ["--replica-name", replica, "--location", "aws-us-west-2"];
    expect(await cpln.ok("workload", "replica", "stop", "sftp", ...place)).toContain(replica);
    await simulator.platform.when(key, ({ replicas }) => !replicas.some(({ name }) => name === replica));
  });

  it("patches with a file", async () => {
    const file = await cpln.file("patch.json", { tags: { patched: "yes" } });
    expect(await cpln.ok("workload", "patch", "sftp", "-f", file)).toContain('patched="yes"');
  });

  it("updates with texts for numbers and with its array operators", async () => {
    const set = (text: string) => ["--set", text];
    const calls = await during(() =>
      cpln.ok(
        "workload",
        "update",
        "sftp",
        ...set("spec.defaultOptions.autoscaling.maxScale=2"),
        ...set("spec.containers.main.env.WORD.value=x"),
      ),
    );
    expect(JSON.stringify(bodyOf(calls, "PATCH"))).toContain("$patch/containers");
    const { spec, version } = await cpln.json("workload", "get", "sftp");
    expect(spec.defaultOptions.autoscaling.maxScale).toBe(2);
    expect(spec.containers[0]).toMatchObject({ image: "echo-banner:1", env: [{ name: "WORD", value: "x" }] });
    expect(bodyOf(calls, "PATCH")).toMatchObject({ version: version - 1 });
  });

  it("is told of a version that went stale between its GET and its PATCH", async () => {
    const stop = simulator.faults.stopAt({ method: "PATCH", path: item }, "received");
    const update = cpln.run("workload", "update", "sftp", "--set", "description=late");
    await stop.reached;
    const authorization = simulator.deployerToken;
    const body = JSON.stringify({ tags: { other: "hand" } });
    const other = await fetch(simulator.apiUrl + item, { method: "PATCH", headers: { authorization }, body });
    expect(other.status).toBe(200);
    stop.release();
    const { code, stdout, stderr } = await update;
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining("stale")]);
  });

  it("tags and untags", async () => {
    expect(await cpln.ok("workload", "tag", "sftp", "--tag", "a=b")).toContain('a="b"');
    expect(await cpln.ok("workload", "tag", "sftp", "--remove-tag", "a")).not.toContain('a="b"');
    await cpln.ok("workload", "force-redeployment", "sftp");
    const { tags } = await cpln.json("workload", "get", "sftp");
    expect(Object.keys(tags)).toEqual(expect.arrayContaining(["cpln/deployTimestamp", "patched"]));
  });

  it("creates, clones, queries and deletes workloads", async () => {
    const created = await cpln.ok(
      "workload",
      "create",
      "--name",
      "web",
      "--image",
      "echo-banner:1",
      "--port",
      "8080",
    );
    expect(created).toMatch(/\|web +\|/);
    expect(await cpln.ok("workload", "clone", "sftp", "--name", "copy")).toMatch(/\|copy +\|Clone of sftp/);
    const found = await cpln.json("workload", "query", "--property", "name=copy");
    expect(found.items.map(({ name }: { name: string }) => name)).toEqual(["copy"]);
    await cpln.ok("workload", "delete", "copy", "web");
    const { code, stdout, stderr } = await cpln.run("workload", "get", "copy");
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining("NOT_FOUND")]);
  });

  it("shows permissions and what happened", async () => {
    const { items, implied } = await cpln.json("workload", "permissions");
    expect(items.map(({ name }: { name: string }) => name)).toContain("configureLoadBalancer");
    expect(implied.edit).toEqual(["view"]);
    expect(await cpln.ok("workload", "eventlog", "sftp")).toContain('operation="edit"');
  });

  it("makes an identity and a policy that lets it wake the workload", async () => {
    expect(await cpln.ok("identity", "create", "--name", "proxy")).toMatch(/\|proxy +\|/);
    await cpln.ok("policy", "create", "--name", "wake", "--target-kind", "workload", "--resource", "sftp");
    const binding = ["--permission", "edit", "--identity", "//gvc/demo/identity/proxy"];
    await cpln.ok("policy", "add-binding", "wake", ...binding);
    expect(await cpln.json("policy", "get", "wake")).toMatchObject({
      targetLinks: [item],
      bindings: [{ permissions: ["edit"], principalLinks: ["/org/local/gvc/demo/identity/proxy"] }],
    });
  });

  it("adds a location to the GVC", async () => {
    await cpln.ok("gvc", "add-location", "demo", "--location", "aws-eu-central-1");
    expect(await cpln.ok("gvc", "get", "demo")).toContain("aws-eu-central-1");
    await simulator.platform.when(key, ({ locations }) => locations.length === 2);
    expect(await cpln.ok("org", "get", "local")).toContain("/org/local");
    expect(await cpln.ok("location", "get")).toContain("aws-us-west-2");
  });

  it("passes calls through", async () => {
    expect(await cpln.json("rest", "get", item)).toMatchObject({ name: "sftp" });
    const file = await cpln.file("rest.json", { description: "by rest" });
    expect(await cpln.json("rest", "patch", item, "-f", file)).toMatchObject({ description: "by rest" });
  });

  it("is refused what its token may not do, in words that name it", async () => {
    const token = simulator.createToken("viewer", [{ kind: "workload", permissions: ["view"] }]);
    const viewer = await startCpln(simulator, { gvc: "demo", token });
    const { code, stdout, stderr } = await viewer.run("workload", "stop", "sftp");
    await viewer.dispose();
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining("not granted [edit]")]);
  });

  it("deletes what a file describes", async () => {
    const file = await cpln.file("workload.yaml", document);
    expect(await cpln.ok("delete", "-f", file)).toContain("Deleted workload 'sftp'");
    expect(simulator.store.get(key)).toBeUndefined();
    expect(simulator.recorder.notImplemented).toEqual([]);
  });
});

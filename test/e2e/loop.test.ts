/** The whole loop of the sftp example, by the real engine and a real SFTP client, from the first up to the destroy. */
import { createHash, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectPeer } from "../support/client.ts";
import { changes, Place, watchCreated } from "./support/place.ts";

let place: Place;

beforeAll(async () => {
  place = await Place.open();
});

afterAll(() => place?.dispose());

/** Each of these goes on from where the one before it has ended. */
describe("the sftp example", () => {
  it("creates exactly these resources, and the target runs nowhere", async () => {
    const { created, onEvent } = watchCreated();
    await place.stack.up({ onEvent });
    expect(created.sort()).toEqual([
      "cpln-scale-to-zero:index:ScaleToZeroTcp sftp",
      "cpln:index/gvc:Gvc gvc",
      "cpln:index/identity:Identity sftp-identity",
      "cpln:index/policy:Policy sftp-policy",
      "cpln:index/workload:Workload sftp",
      "cpln:index/workload:Workload sftp-proxy",
    ]);
    await place.ready();
    expect(place.simulator.platform.snapshot(place.target)).toMatchObject({
      suspendedStatus: "suspended",
      replicas: [],
    });
  });

  it("has nothing to do in a second up", async () => {
    const { summary } = await place.stack.up();
    expect(changes(summary.resourceChanges)).toEqual({});
    expect(place.accepted).toEqual([]);
  });

  it("wakes for an SFTP client, which gets back what it sent", async () => {
    const local = join(place.session.dir, "sent.bin");
    const back = join(place.session.dir, "back.bin");
    await writeFile(local, randomBytes(4 * 1024 * 1024));
    await place.client.roundTrip(await place.endpoint(), { local, remote: "upload.bin", back });
    expect(await sha256(back)).toBe(await sha256(local));
    expect(place.accepted).toEqual(["wake"]);
    expect(await place.logged("ready")).toMatchObject({ generation: 1, evidence: "nobody_then_answer" });
  });

  it("is suspended when nobody is connected", async () => {
    await place.suspended();
    await place.logged("suspended");
    expect(place.accepted).toEqual(["wake", "suspend"]);
  });

  it("shows no difference for what the proxy has flipped, and leaves it so", async () => {
    const { changeSummary } = await place.stack.preview();
    expect(changes(changeSummary)).toEqual({});
  });

  it("says that its policy is missing, and holds its clients; an up brings it back and they are served", async () => {
    const policy = place.simulator.store
      .list({ org: place.target.org, kind: "policy" })
      .find(
        ({ resource }) =>
          resource.origin !== "builtin" &&
          resource.targetKind === "workload" &&
          JSON.stringify(resource).includes("sftp-proxy"),
      );
    if (policy === undefined) throw new Error("there is no such policy");
    const from = place.lines.length;
    await byHand("DELETE", `/org/${place.target.org}/policy/${policy.key.name}`);

    const { host, port } = await place.endpoint();
    const client = await connectPeer(port, { host });
    client.write("SSH-2.0-held\r\n");
    const failed = await place.logged(["write_failed", "read_failed"], { from });
    expect(failed).toMatchObject({ kind: "denied", message: expect.stringMatching(/identity\/sftp/) });
    const health = await place.health();
    expect(health).toMatchObject({ held: 1, spliced: 0, lifecycle: "serving" });
    expect(health.targets[0]?.conditions[0]).toMatchObject({
      type: expect.stringMatching(/^(reads|writes)_failing$/),
      reason: expect.stringMatching(/^denied: HTTP 403: .*(edit|view).*identity\/sftp/),
    });
    expect(client.bytesReceived).toBe(0);

    const { summary } = await place.stack.up();
    expect(changes(summary.resourceChanges)).toEqual({ create: 1 });
    expect(await client.text(4)).toBe("SSH-");
    // Each condition that goes is a line: one that comes between the two looks is not waited for in vain.
    for (let seen = from; (await place.health()).targets[0]?.conditions.length !== 0; )
      seen = place.lines.indexOf(await place.logged("api_recovered", { from: seen })) + 1;
    client.end();
  });

  it("leaves the platform empty when it is destroyed, target and all", async () => {
    await place.stack.destroy();
    const kinds = ["gvc", "workload", "identity", "policy"];
    const left = kinds.flatMap((kind) => place.simulator.store.list({ org: place.target.org, kind }));
    expect(left.map(({ key }) => key.name)).toEqual([]);
    // The grace of what is ending.
    place.simulator.clock.advance(100_000);
    await place.simulator.platform.when(place.target, ({ replicas }) => replicas.length === 0);
  });
});

async function sha256(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}

async function byHand(method: string, path: string): Promise<void> {
  const authorization = `Bearer ${place.simulator.deployerToken}`;
  const response = await fetch(place.simulator.apiUrl + path, { method, headers: { authorization } });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
}

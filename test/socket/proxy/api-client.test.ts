import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TargetApi } from "../../../proxy-image/src/cpln/api.ts";
import { CplnClient } from "../../../proxy-image/src/cpln/client.ts";
import { CALL_LIMIT_MS } from "../../../proxy-image/src/cpln/http.ts";
import type { Clock } from "../../../proxy-image/src/runtime/clock.ts";
import { systemClock } from "../../../proxy-image/src/runtime/clock.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { json, nothing, type StubAnswer, StubApi, workloadDocument } from "../../support/stub-api.ts";
import { deadPort } from "../../support/target.ts";

const TOKEN = "a-token";
const PATH = "/org/org-1/gvc/demo/workload/sftp";

let stub: StubApi;

beforeEach(async () => {
  stub = await StubApi.start();
});

afterEach(async () => {
  await stub.stop();
});

interface Options {
  endpoint?: string;
  /** Whether the proxy knows its own location. */
  placed?: boolean;
  clock?: Clock;
}

function api({ endpoint = stub.url, placed = true, clock = systemClock }: Options = {}): TargetApi {
  const platform = {
    endpoint,
    org: "org-1",
    gvc: "own",
    workload: "proxy",
    location: placed ? "loc-1" : undefined,
    token: TOKEN,
  };
  return new CplnClient(platform, clock).target({ gvc: "demo", workload: "sftp" });
}

describe("calls", () => {
  it("read the workload", async () => {
    stub.answer = json(200, workloadDocument({ suspend: true, version: 7 }));
    expect(await api().readWorkload()).toMatchObject({ ok: true, value: { version: 7, suspended: true } });
    expect(stub.calls).toEqual([{ method: "GET", path: PATH, authorization: TOKEN, body: "" }]);
  });

  it("read the deployment of the own location, or all where that is unknown", async () => {
    stub.answer = json(200, { status: { lastProcessedVersion: 3, versions: [] } });
    expect(await api().readDeployment()).toMatchObject({ ok: true, value: { lastProcessedVersion: 3 } });
    stub.answer = json(200, { kind: "list", items: [{ status: { lastProcessedVersion: 4 } }] });
    const unplaced = api({ placed: false });
    expect(await unplaced.readDeployment()).toMatchObject({ ok: true, value: { lastProcessedVersion: 4 } });
    expect(stub.calls.map(({ path }) => path)).toEqual([`${PATH}/deployment/loc-1`, `${PATH}/deployment`]);
  });

  it("write exactly one field, and the version where one is given", async () => {
    stub.answer = json(200, workloadDocument({ version: 8 }));
    expect(await api().writeSuspend(false, undefined)).toEqual({ ok: true, value: 8 });
    expect(await api().writeSuspend(true, 8)).toEqual({ ok: true, value: 8 });
    expect(stub.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `PATCH ${PATH}`,
      `PATCH ${PATH}`,
    ]);
    expect(stub.calls.map(({ body }) => JSON.parse(body))).toEqual([
      { spec: { defaultOptions: { suspend: false } } },
      { version: 8, spec: { defaultOptions: { suspend: true } } },
    ]);
  });

  it("count as accepted even when the answer holds no workload", async () => {
    stub.answer = (_call, response) => response.writeHead(202).end("accepted");
    expect(await api().writeSuspend(true, 1)).toEqual({ ok: true, value: undefined });
  });
});

describe("failures", () => {
  const said = (message: string) => ({ status: 0, message, code: "x", id: "1" });

  it.each<[string, StubAnswer, object]>([
    ["404", json(404, said("no such workload")), { kind: "missing", message: "HTTP 404: no such workload" }],
    ["409", json(409, said("stale")), { kind: "conflict" }],
    ["429", json(429, said("slow down"), { "retry-after": "7" }), { kind: "throttled", retryAfterMs: 7000 }],
    ["429 without a time", json(429, {}), { kind: "throttled", retryAfterMs: undefined }],
    ["429 of a quota", json(429, said("Quota exceeded")), { kind: "quota" }],
    ["400", json(400, said("bad")), { kind: "invalid" }],
    ["302", json(302, {}), { kind: "invalid" }],
    [
      "503",
      json(503, "upstream connect error", { "retry-after": "2" }),
      { kind: "server", retryAfterMs: 2000 },
    ],
    ["200 that is no workload", json(200, { hello: 1 }), { kind: "invalid" }],
    [
      "an answer that is too large",
      (_call, response) => void response.writeHead(200).write(Buffer.alloc(2 * 1024 * 1024, "x")),
      { kind: "invalid" },
    ],
    [
      "a reset before the answer",
      (_call, _response, request) => void request.socket.resetAndDestroy(),
      { kind: "broken" },
    ],
    [
      "an end in the middle of the answer",
      (_call, response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write("{", () => response.destroy());
      },
      { kind: "broken" },
    ],
  ])("are told apart: %s", async (_name, answer, failure) => {
    stub.answer = answer;
    expect(await api().readWorkload()).toEqual({ ok: false, failure: expect.objectContaining(failure) });
    expect(stub.calls).toHaveLength(1);
  });

  it("to connect mean that nothing was sent", async () => {
    const endpoint = `http://127.0.0.1:${await deadPort()}`;
    expect(await api({ endpoint }).writeSuspend(true, 1)).toMatchObject({ failure: { kind: "unreachable" } });
    expect(await api({ endpoint: "http://name.invalid" }).readWorkload()).toMatchObject({
      failure: { kind: "unreachable" },
    });
  });

  it("to answer in time leave the outcome open", async () => {
    const clock = new ManualClock();
    stub.answer = nothing;
    const answer = api({ clock }).writeSuspend(true, 1);
    await stub.called(1);
    clock.advance(CALL_LIMIT_MS);
    expect(await answer).toMatchObject({ ok: false, failure: { kind: "timeout" } });
    expect(clock.pending).toBe(0);
  });

  it("to speak HTTP are an answer that can't be understood", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.end("SSH-2.0-OpenSSH\r\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    expect(await api({ endpoint: `http://127.0.0.1:${port}` }).readWorkload()).toMatchObject({
      failure: { kind: "invalid" },
    });
    server.close();
  });
});

describe("the authorization header", () => {
  const only =
    (accepted: string): StubAnswer =>
    (call, response, request) =>
      (call.authorization === accepted ? json(200, workloadDocument()) : json(403, { message: "anonymous" }))(
        call,
        response,
        request,
      );

  it("is the bare token, and Bearer where only that is taken, which is remembered", async () => {
    const client = api();
    stub.answer = only(`Bearer ${TOKEN}`);
    expect((await client.readWorkload()).ok).toBe(true);
    expect((await client.readWorkload()).ok).toBe(true);
    expect(stub.calls.map(({ authorization }) => authorization)).toEqual([
      TOKEN,
      `Bearer ${TOKEN}`,
      `Bearer ${TOKEN}`,
    ]);
  });

  it("takes turns while both forms are denied, one call each, and says who was denied", async () => {
    const client = api();
    const named = "identity proxy is not granted [edit]";
    stub.answer = (call, response, request) =>
      json(403, { message: call.authorization === TOKEN ? named : "anonymous is not granted [edit]" })(
        call,
        response,
        request,
      );
    for (let n = 0; n < 3; n++) {
      expect(await client.writeSuspend(false, undefined)).toMatchObject({
        failure: { kind: "denied", message: `HTTP 403: ${named}` },
      });
    }
    expect(stub.calls).toHaveLength(4);
    stub.answer = only(TOKEN);
    const answers = [await client.readWorkload(), await client.readWorkload(), await client.readWorkload()];
    expect(answers.filter(({ ok }) => ok).length).toBeGreaterThanOrEqual(2);
    expect(answers[2]?.ok).toBe(true);
  });
});

import { once } from "node:events";
import ssh2, { type Client } from "ssh2";
import { afterEach, describe, expect, test } from "vitest";
import { sshImage } from "../../../simulator/src/images/index.ts";
import type { JsonObject } from "../../../simulator/src/model.ts";
import { createWorld, echoSpec, type World } from "./world.ts";

let world: World;
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await world.dispose();
});

const probe = { tcpSocket: { port: 2022 }, initialDelaySeconds: 0, periodSeconds: 1 };
const spec = (env: JsonObject[] = []) =>
  echoSpec({
    type: "stateful",
    containers: [
      {
        name: "main",
        image: "example/openssh-server:1",
        ports: [{ number: 2022, protocol: "tcp" }],
        readinessProbe: probe,
        volumes: [{ uri: "cpln://volumeset/files", path: "/data" }],
        env,
      },
    ],
  });

async function start(env: JsonObject[] = [], sshd: string | false = false) {
  const image = { ...sshImage({ sshd }), bootMs: 0 };
  world = await createWorld({ more: [image], probeTimeScale: 0.1, graceMs: 0 });
  const key = world.write("target", spec(env));
  await world.platform.when(key, (seen) => seen.ready === 1);
  return key;
}

async function connect(key: Parameters<World["dial"]>[0], more: ssh2.ConnectConfig = {}): Promise<Client> {
  const { address } = world.platform.impersonate(key);
  const client = new ssh2.Client();
  clients.push(client);
  const ready = once(client, "ready");
  client.connect({ sock: world.dial(key, 2022, address), username: "anybody", ...more });
  await ready;
  return client;
}

const call = <T>(run: (done: (error: Error | null | undefined, value?: T) => void) => void) =>
  new Promise<T>((resolve, reject) => run((error, value) => (error ? reject(error) : resolve(value as T))));

describe("the SSH server", () => {
  test("keeps files over a suspend, on its volume, and its host key", async () => {
    const key = await start();
    const keys: string[] = [];
    const hostVerifier = (hostKey: Buffer) => keys.push(hostKey.toString("base64")) > 0;
    const client = await connect(key, { hostVerifier });
    const sftp = await call<ssh2.SFTPWrapper>((done) => client.sftp(done));
    const content = Buffer.alloc(300_000, "scale to zero ");
    await call((done) => sftp.writeFile("/report.txt", content, (error) => done(error)));
    await call((done) => sftp.mkdir("/box", (error) => done(error)));
    await call((done) => sftp.rename("/report.txt", "/box/report.txt", (error) => done(error)));
    world.suspend(key, true);
    await world.platform.when(key, (seen) => seen.replicas.length === 0);
    world.suspend(key, false);
    await world.platform.when(key, (seen) => seen.ready === 1);
    const again = await connect(key, { hostVerifier });
    const files = await call<ssh2.SFTPWrapper>((done) => again.sftp(done));
    const list = await call<ssh2.FileEntryWithStats[]>((done) => files.readdir("/box", done));
    expect(list.map(({ filename, attrs }) => [filename, attrs.size])).toEqual([
      ["report.txt", content.length],
    ]);
    expect(await call<Buffer>((done) => files.readFile("/box/report.txt", done))).toEqual(content);
    await expect(call((done) => files.readFile("/../../etc/passwd", done))).rejects.toThrow("No such file");
    expect(new Set(keys).size).toBe(1);
  });

  test("runs commands among its files", async () => {
    const key = await start();
    const client = await connect(key);
    // All of it may come at once, so the listeners are there before the promise is.
    const [said, code] = await call<[unknown[], unknown[]]>((done) =>
      client.exec("echo hello; exit 3", (error, channel) => {
        if (error !== undefined) return done(error);
        return Promise.all([once(channel, "data"), once(channel, "exit")]).then(
          (seen) => done(null, seen),
          done,
        );
      }),
    );
    expect([String(said[0]), code[0]]).toEqual(["hello\n", 3]);
  });

  test("with PUBLIC_KEY lets in that key alone", async () => {
    const pair = () => ssh2.utils.generateKeyPairSync("ed25519");
    const mine = pair();
    const key = await start([{ name: "PUBLIC_KEY", value: mine.public }]);
    await connect(key, { privateKey: mine.private });
    await expect(connect(key, { privateKey: pair().private })).rejects.toThrow("authentication");
    await expect(connect(key)).rejects.toThrow("authentication");
  });

  test("a machine whose sshd cannot run is served all the same", async () => {
    const mine = ssh2.utils.generateKeyPairSync("ed25519");
    const key = await start([{ name: "PUBLIC_KEY", value: mine.public }], "/bin/false");
    await connect(key, { privateKey: mine.private });
  });
});

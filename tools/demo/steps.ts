import { createHash, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { type Place, user } from "./place.ts";
import type { SftpClient } from "./sftp-client.ts";

/** Short, so that the demo shows an idle-down within its time; the defaults are 5m and 90. */
const idleHold = "3s";
const graceSeconds = 5;
const fileBytes = 8 * 1024 * 1024;

/** `pulumi up` of the example. Answers what it made, in words. */
export async function up(place: Place, client: SftpClient, signal: AbortSignal): Promise<string> {
  const { say, stack, simulator, target, proxy } = place;
  say.section("pulumi up");
  await stack.setAllConfig({
    user: { value: user },
    publicKey: { value: client.publicKey },
    idleHold: { value: idleHold },
    terminationGracePeriodSeconds: { value: String(graceSeconds) },
  });
  const made = new Map<string, number>();
  await stack.up({ signal, onEvent: (event) => tell(place, event, made) });
  await simulator.platform.when(proxy, ({ ready }) => ready > 0);
  await simulator.platform.settled();
  const { suspendedStatus } = simulator.platform.snapshot(target);
  say.claim(suspendedStatus === "suspended", "the target exists and runs nowhere");
  const refresh = await stack.refresh({ signal });
  say.claim(refresh.summary.result === "succeeded", "a refresh records the load balancer's address");
  return [...made].map(([type, count]) => `${count} ${type}`).join(", ");
}

function tell(
  { say }: Place,
  { resOutputsEvent, diagnosticEvent }: EngineEvent,
  made: Map<string, number>,
): void {
  if (diagnosticEvent?.severity === "warning" || diagnosticEvent?.severity === "error") {
    say.line("pulumi", diagnosticEvent.message.replace(/<\{%[^%]*%\}>/g, "").trim());
  }
  const step = resOutputsEvent?.metadata;
  if (step?.op !== "create" || step.type.startsWith("pulumi:")) return;
  const type = step.type.split(":").at(-1) ?? step.type;
  made.set(type, (made.get(type) ?? 0) + 1);
  say.line("pulumi", `created ${type} ${step.urn.split("::").at(-1)}`);
}

/** The same transfer to the suspended server and to the running one. Answers both times in seconds. */
export async function coldAndWarm(
  place: Place,
  client: SftpClient,
  signal: AbortSignal,
): Promise<{ cold: number; warm: number }> {
  const { say } = place;
  say.section("a client connects to the suspended server");
  const cold = await transfer(place, client, "cold", signal);
  say.section("and again while it is awake");
  const warm = await transfer(place, client, "warm", signal);
  const banner = await firstLine(await place.endpoint(), signal);
  say.line("server", `says ${banner}`);
  if (process.env.REQUIRE_REAL_PEERS === "1")
    say.claim(banner.includes("OpenSSH"), "the server is a real OpenSSH");
  say.claim(warm < cold, "the warm transfer was faster than the cold one");
  return { cold, warm };
}

async function transfer(
  place: Place,
  client: SftpClient,
  name: string,
  signal: AbortSignal,
): Promise<number> {
  const { say, session } = place;
  signal.throwIfAborted();
  const local = join(session.dir, `${name}.bin`);
  const back = join(session.dir, `${name}.back`);
  await writeFile(local, randomBytes(fileBytes));
  const startedAt = Date.now();
  say.line("client", "connects, uploads 8 MiB and brings them back");
  await client.roundTrip(await place.endpoint(), { local, remote: "upload.bin", back });
  const seconds = (Date.now() - startedAt) / 1000;
  say.line("client", "has finished");
  const [sent, received] = await Promise.all([sha256(local), sha256(back)]);
  say.claim(sent === received, `what came back is what was sent (SHA-256 ${sent.slice(0, 12)}…)`);
  return seconds;
}

/** What the server says of itself, through the proxy. */
function firstLine({ host, port }: { host: string; port: number }, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, signal });
    socket.setEncoding("utf8").once("error", reject);
    socket.once("close", () => reject(new Error("the server closed the connection without a word")));
    // An SSH client says who it is before it hears the server; who says nothing wakes nobody.
    socket.write("SSH-2.0-demo\r\n");
    socket.once("data", (text) => {
      socket.destroy();
      resolve(String(text).split("\r\n")[0] ?? "");
    });
  });
}

async function sha256(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}

/** Waits for the suspend that follows when nobody is connected. */
export async function idleDown(place: Place, signal: AbortSignal): Promise<void> {
  const { say, simulator, target } = place;
  say.section(`nobody is connected any more (idle-hold ${idleHold})`);
  const suspended = () => simulator.platform.snapshot(target).suspendedStatus === "suspended";
  if (!suspended()) await place.logged("suspended", signal);
  say.claim(suspended(), "the target is suspended again");
  const writes = simulator.recorder
    .matching({ method: "PATCH" })
    .filter(({ path, status }) => path.endsWith("/workload/sftp") && status === 200);
  say.claim(writes.length === 2, "one un-suspend and one suspend were all that the proxy wrote");
}

/** The program unchanged, the target flipped twice meanwhile. */
export async function secondUp(place: Place, signal: AbortSignal): Promise<void> {
  const { say, stack } = place;
  say.section("pulumi up once more");
  const { summary } = await stack.up({ signal });
  const changes = Object.entries(summary.resourceChanges ?? {}).filter(([op]) => op !== "same");
  say.claim(changes.length === 0, "nothing to do: the diff is empty");
}

export async function destroy({ say, stack, simulator }: Place): Promise<void> {
  say.section("pulumi destroy");
  await stack.destroy({ remove: true });
  const left = ["gvc", "workload", "identity", "policy"].flatMap((kind) =>
    simulator.store.list({ org: simulator.org, kind }),
  );
  say.claim(left.length === 0, "the platform is as empty as before");
}

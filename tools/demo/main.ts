/**
 * `npm run demo`: the whole loop on this machine. A local Control Plane, a real `pulumi up` of the sftp example, a
 * real SFTP client that uploads to the suspended server through the proxy, the idle-down that follows, and a second
 * `pulumi up` that finds nothing to do. `--keep` leaves it running until Ctrl-C. Exits with 0 if all of it held.
 */
import { buildAll } from "../build.ts";
import { openEngineSession } from "../engine/session.ts";
import { Narrator } from "./narrator.ts";
import { openPlace, type Place } from "./place.ts";
import { sftpClient } from "./sftp-client.ts";
import { coldAndWarm, destroy, idleDown, secondUp, up } from "./steps.ts";

const keep = process.argv.includes("--keep");
const say = new Narrator();

process.exitCode = await demo();

async function demo(): Promise<number> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(signal));
  try {
    await using stack = new AsyncDisposableStack();
    const session = stack.adopt(await openEngineSession(), (opened) => opened.dispose());
    // Compiling the native plane would be the longer half of a newcomer's first minute, and changes nothing to see.
    await buildAll({ native: false });
    const place = stack.adopt(await openPlace(session, say), (opened) => opened.dispose());
    await run(place, stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return 130;
    console.error(error);
    return 1;
  }
  for (const failure of say.failed) console.error(`demo: did not hold: ${failure}`);
  return say.failed.length === 0 ? 0 : 1;
}

async function run(place: Place, stop: AbortSignal): Promise<void> {
  const client = await sftpClient(place.session.dir);
  const { engine } = place.session;
  say.title("An SFTP server that is suspended until somebody connects");
  say.fact("engine", `Pulumi ${engine.version} (${engine.source})`);
  say.fact("platform", `a local Control Plane at ${place.simulator.apiUrl}`);
  say.fact("client", client.description);

  const created = await up(place, client, stop);
  const seconds = await coldAndWarm(place, client, stop);
  await idleDown(place, stop);
  await secondUp(place, stop);

  say.title("What was seen");
  say.table([
    ["created", created],
    [
      "cold transfer",
      `${seconds.cold.toFixed(1)} s, of which ${(place.boot / 1000).toFixed(1)} s are the server's boot`,
    ],
    ["warm transfer", `${seconds.warm.toFixed(1)} s`],
  ]);
  if (keep) {
    const { host, port, user } = await place.endpoint();
    say.section(
      `Kept running: sftp -P ${port} ${user}@${host} (with the key in ${place.session.dir}). Ctrl-C ends it.`,
    );
    await new Promise((resolve) => stop.addEventListener("abort", resolve));
    return;
  }
  await destroy(place);
}

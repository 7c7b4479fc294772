import { once } from "node:events";
import { readdirSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { capture } from "../../../tools/lib/run.ts";
import { addonFile } from "../../../tools/native.ts";
import { eventually } from "../../support/eventually.ts";
import { describeNative, openNativePlane, Switchboard, spliced } from "../../support/native.ts";

/** What a script of its own, in a process or a worker, starts with. */
const PRELUDE = `
  const net = require("node:net");
  const { SplicePlane } = require(${JSON.stringify(addonFile)});
  const fd = (socket) => socket._handle.fd;
  const pair = () => new Promise((resolve) => {
    const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (accepted) => {
      server.close();
      resolve([accepted, dialled]);
    });
    let dialled;
    server.listen(0, "127.0.0.1", () => {
      dialled = new net.Socket({ allowHalfOpen: true });
      dialled.pause();
      dialled.connect(server.address().port, "127.0.0.1");
    });
  });
`;

const runScript = (script: string) =>
  capture(process.execPath, ["-e", `${PRELUDE}(async () => {${script}})()`]);

const descriptors = () => readdirSync("/proc/self/fd").length;

describeNative("the addon in its process", () => {
  it("keeps no process alive by itself, and none from ending in the middle of a session", async () => {
    const idle = await runScript(`new SplicePlane({}, () => {}, () => {}, () => {}); console.log("over");`);
    expect(idle).toMatchObject({ code: 0, stdout: "over\n", stderr: "" });
    const busy = await runScript(`
      const plane = new SplicePlane({}, () => {}, () => {}, () => {});
      const [[client, a], [b, target]] = [await pair(), await pair()];
      plane.add(fd(a), fd(b));
      a.destroy(); b.destroy();
      client.on("error", () => {}); target.on("error", () => {});
      target.resume();
      target.once("data", () => process.exit(7));
      client.write("x");
    `);
    expect(busy).toMatchObject({ code: 7, stderr: "" });
  });

  it("refuses what is no session, by the error's name, and goes on", async () => {
    const { stdout, stderr } = await runScript(`
      const plane = new SplicePlane({}, () => {}, () => {}, () => {});
      const codes = [];
      const attempt = (...args) => { try { plane.add(...args); } catch (error) { codes.push(error.code); } };
      const [a, b] = await pair();
      const file = require("node:fs").openSync("/dev/null");
      attempt(-1, fd(a)); attempt(fd(a), file); attempt(9999, fd(a)); attempt(fd(a), "socket");
      plane.end(12345, true); plane.unwatch(12345);
      plane.stop(); plane.stop();
      attempt(fd(a), fd(b));
      console.log(codes.join(), plane.live, plane.counts(1));
      process.exit();
    `);
    expect(stderr).toBe("");
    expect(stdout).toBe("EBADF,ENOTSOCK,EBADF,NumberExpected,ECANCELED 0 undefined\n");
  });

  it("counts what was delivered", async () => {
    const { stdout, stderr } = await runScript(`
      const plane = new SplicePlane({}, (...end) => { console.log(...end.slice(1)); process.exit(); }, () => {}, () => {});
      const [[client, a], [b, target]] = [await pair(), await pair()];
      const id = plane.add(fd(a), fd(b), Buffer.from("12"), null);
      a.destroy(); b.destroy();
      client.end("345");
      let got = "";
      target.on("data", (chunk) => { got += chunk; if (got === "12345") look(); });
      target.resume();
      const look = () => {
        const { bytesUp, bytesDown, idleMs } = plane.counts(id);
        if (bytesUp < 5) return setImmediate(look);
        console.log(bytesUp, bytesDown, idleMs >= 0, plane.stats().bytesUp, plane.stats().live);
        target.end("6");
        client.resume();
        setInterval(() => {}, 1000);
      };
    `);
    expect(stderr).toBe("");
    expect(stdout).toBe("5 0 true 5 1\n0 0 5 1\n");
  });

  it("ends its sessions by resets when a worker is ended, and leaves nothing", async () => {
    const accepted: Socket[] = [];
    const server = createServer(
      { allowHalfOpen: true },
      (socket) => void accepted.push(socket.on("error", () => {})),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const before = descriptors();
    const script = `${PRELUDE}
      const { parentPort } = require("node:worker_threads");
      const plane = new SplicePlane({}, () => {}, () => {}, () => {});
      const dial = () => new Promise((resolve) => {
        const socket = new net.Socket({ allowHalfOpen: true });
        socket.pause();
        socket.connect(${port}, "127.0.0.1", () => resolve(socket));
      });
      (async () => {
        for (let session = 0; session < 5; session++) {
          const [a, b] = [await dial(), await dial()];
          plane.watch(fd(a));
          plane.add(fd(a), fd(b));
          a.destroy(); b.destroy();
        }
        parentPort.postMessage("ready");
        setInterval(() => {}, 1000);
      })();
    `;
    for (let round = 0; round < 5; round++) {
      const worker = new Worker(script, { eval: true });
      await once(worker, "message");
      await eventually(() => accepted.length === 10);
      const [one, other] = [accepted[0], accepted[1]];
      const heard = once(other as Socket, "data");
      one?.write("x");
      expect(String((await heard)[0])).toBe("x");
      const ends = accepted
        .splice(0)
        .map((socket) => new Promise((resolve) => socket.resume().on("close", resolve)));
      await worker.terminate();
      // Whether each was closed by an error.
      expect(await Promise.all(ends)).toEqual(Array(10).fill(true));
    }
    server.close();
    await once(server, "close");
    await eventually(() => descriptors() <= before);
  });

  it("gives every descriptor back after a storm of abrupt ends", async () => {
    const board = await Switchboard.open();
    const plane = openNativePlane();
    const before = descriptors();
    for (let round = 0; round < 40; round++) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          const legs = await board.legs();
          const { end, splice } = spliced(plane, legs);
          const [one, other] =
            index % 2 === 0 ? [legs.atClient, legs.atTarget] : [legs.atTarget, legs.atClient];
          one.write(Buffer.alloc((round * 977 + index) % 200_000));
          const act = (round + index) % 5;
          if (act === 0) one.reset();
          else if (act === 1) other.reset();
          else if (act === 2) one.socket.destroy();
          else if (act === 3) splice.cut();
          else one.end();
          if (act === 2 || act === 4) other.end();
          await end;
          one.socket.destroy();
          other.socket.destroy();
        }),
      );
    }
    const { live, pipes, idlePipes } = plane.stats();
    expect({ live, pipes }).toEqual({ live: 0, pipes: idlePipes });
    await eventually(() => descriptors() <= before + 2 * pipes);
    plane.stop();
    await board.close();
  });
});

import { spawn } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { fromRoot } from "../../../tools/lib/root.ts";

const main = fromRoot("simulator", "src", "main.ts");

/** Runs the program until it has said everything that it says at its start. */
function start(...args: string[]) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = new Promise<number | null>((resolve) => void child.once("exit", resolve));
  let text = "";
  const said = new Promise<string>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (text.includes("Ctrl-C ends it.")) resolve(text);
    });
  });
  return { child, exited, said, printed: () => text };
}

const nothing = { connection: "close" };

it("says where everything is, answers there, and ends on Ctrl-C", async () => {
  const { child, exited, said } = start("--org", "mine", "--gvc", "one", "--gvc", "two", "--token", "given");
  const text = await said;
  const [api = ""] = /http:\S+/.exec(text.slice(text.indexOf("API"))) ?? [];
  const [control = ""] = /http:\S+/.exec(text.slice(text.indexOf("control "))) ?? [];
  expect(text).toContain(`CPLN_ENDPOINT=${api} CPLN_ORG=mine CPLN_TOKEN=given`);
  const gvcs = await fetch(`${api}/org/mine/gvc`, { headers: { ...nothing, authorization: "given" } });
  const { items } = (await gvcs.json()) as { items: { name: string }[] };
  expect(items.map(({ name }) => name)).toEqual(["one", "two"]);
  const calls = await fetch(`${control}/calls`, { headers: nothing });
  expect(await calls.json()).toMatchObject([{ path: "/org/mine/gvc" }]);
  child.kill("SIGINT");
  expect(await exited).toBe(0);
});

it("can leave workloads alone", async () => {
  const { child, exited, said } = start("--documents-only", "--quiet");
  const text = await said;
  const [control = ""] = /http:\S+/.exec(text.slice(text.indexOf("control "))) ?? [];
  const refused = await fetch(`${control}/workloads/demo/any/kill`, { method: "POST", headers: nothing });
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining("no workload runs here"),
  ]);
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
});

it("explains its options", async () => {
  const { exited, printed } = start("--help");
  expect(await exited).toBe(0);
  expect(printed()).toContain("--documents-only");
});

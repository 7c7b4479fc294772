/**
 * The code that wakes a target at a destroy travels in the stack's state: only what was compiled can be taken for
 * that, so this is about the built package.
 */
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import * as cpln from "@pulumiverse/cpln";
import { afterAll, beforeAll, expect, it } from "vitest";
import type * as component from "../../src/index.ts";
import { engineEnv, ensureEngine } from "../../tools/engine/index.ts";
import { fromRoot } from "../../tools/lib/root.ts";
import { withInlineStack } from "../support/engine.ts";
import { org, proxyArgs, useDocuments } from "./component-support.ts";

const documents = useDocuments("prod");
const { ScaleToZeroTcp } = createRequire(fromRoot("package.json"))("cpln-scale-to-zero") as typeof component;

let plugins: string;
beforeAll(async () => {
  // The official engine brings this provider along; one that was built here does not.
  plugins = await mkdtemp(join(tmpdir(), "cpln-dynamic-"));
  const name = "pulumi-resource-pulumi-nodejs";
  await symlink(fromRoot("node_modules", "@pulumi", "pulumi", name), join(plugins, name));
});
afterAll(() => rm(plugins, { recursive: true, force: true }));

const suspend = (target: string) =>
  documents.call("PATCH", `/org/${org}/gvc/prod/workload/${target}`, {
    spec: { defaultOptions: { suspend: true } },
  });

async function env(): Promise<Record<string, string>> {
  return {
    ...documents.env,
    // The dynamic provider looks for the SDK from the project's folder on.
    NODE_PATH: fromRoot("node_modules"),
    PATH: [plugins, engineEnv(await ensureEngine()).PATH].join(delimiter),
  };
}

it("a destroy wakes the target once the proxy is gone, and changes nothing before", async () => {
  await documents.createTarget("prod", "sftp", "sftp-proxy");
  const program = async () => {
    new ScaleToZeroTcp("sftp", { ...proxyArgs("prod", "sftp"), wakeOnDestroy: true });
  };
  await withInlineStack(
    program,
    async (stack) => {
      await stack.up();
      await suspend("sftp");
      const { changeSummary } = await stack.preview();
      expect(Object.keys(changeSummary)).toEqual(["same"]);
      documents.it.recorder.clear();
      await stack.destroy();
      const calls = documents.it.recorder
        .matching({ method: ["DELETE", "PATCH"] })
        .map((call) => `${call.method} ${call.path.split("/").slice(-2).join("/")}`);
      expect(calls[0]).toBe("DELETE workload/sftp-proxy");
      expect(calls).toContain("PATCH workload/sftp");
      expect(calls).toHaveLength(4);
      expect(documents.suspended("prod", "sftp")).toBe(false);
    },
    { env: await env() },
  );
});

it("one that has no token of its own fails and can be repeated; a target that is gone needs no waking", async () => {
  await documents.createTarget("prod", "poor", "poor-proxy");
  await documents.createTarget("prod", "gone", "poor-proxy");
  const { CPLN_TOKEN: token = "", ...rest } = await env();
  const { target: _, ports: __, ...args } = proxyArgs("prod", "");
  const targets = ["poor", "gone"].map((target, index) => ({
    target,
    ports: [{ port: 2200 + index, target: 2222 }],
  }));
  const program = async () => {
    // As those do who don't have the token in their environment.
    const provider = new cpln.Provider("own", { org, token });
    new ScaleToZeroTcp("poor", { ...args, targets, wakeOnDestroy: true }, { provider });
  };
  await withInlineStack(
    program,
    async (stack) => {
      await stack.up();
      await suspend("poor");
      await documents.call("DELETE", `/org/${org}/gvc/prod/workload/gone`);
      await expect(stack.destroy()).rejects.toThrow(/CPLN_TOKEN is not set, so .*\/workload\/poor/);
      expect(documents.suspended("prod", "poor")).toBe(true);
      stack.workspace.envVars.CPLN_TOKEN = token;
      await stack.destroy();
      expect(documents.suspended("prod", "poor")).toBe(false);
    },
    { env: rest },
  );
});

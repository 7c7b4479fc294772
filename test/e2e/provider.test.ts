/** The local provider under the real engine, against the simulator's API. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import type { Stack } from "@pulumi/pulumi/automation/index.js";
import * as cpln from "@pulumiverse/cpln";
import { describe, expect, it } from "vitest";
import { schema } from "../../simulator/provider/registry.ts";
import { fromRoot } from "../../tools/lib/root.ts";
import { pulumiCli, withInlineStack } from "../support/engine.ts";
import { org, useSimulator, watch, workloads, written } from "./provider-support.ts";

const simulator = useSimulator();

/** What the file backend holds. An export by the Automation API would show secrets. */
async function stateAtRest(stack: Stack): Promise<string> {
  const backend = fileURLToPath(stack.workspace.envVars.PULUMI_BACKEND_URL ?? "");
  const files = await readdir(backend, { recursive: true, withFileTypes: true });
  const states = files.filter((file) => file.isFile() && file.name.startsWith(`${stack.name}.`));
  const texts = await Promise.all(states.map((file) => readFile(join(file.parentPath, file.name), "utf8")));
  return texts.join("\n");
}

describe("a GVC, an identity, a workload and a policy", () => {
  const program = async () => {
    const gvc = new cpln.Gvc("place", {
      name: "place",
      locations: ["aws-us-west-2"],
      env: { B: "2", A: "1" },
    });
    const identity = new cpln.Identity("proxy", { name: "proxy", gvc: gvc.name });
    const workload = new cpln.Workload("served", {
      ...written("sftp"),
      gvc: gvc.name,
      tags: { "team/owner": "files" },
      identityLink: identity.selfLink,
      firewallSpec: {
        external: { inboundAllowCidrs: ["10.2.0.0/16", "10.1.0.0/16"] },
        internal: {
          inboundAllowType: "workload-list",
          inboundAllowWorkloads: ["//gvc/place/workload/proxy"],
        },
      },
      rolloutOptions: [{ maxSurgeReplicas: "1" }],
    });
    new cpln.Policy("wake", {
      name: "wake",
      gvc: gvc.name,
      targetKind: "workload",
      targetLinks: [workload.name],
      bindings: [{ permissions: ["edit"], principalLinks: [identity.selfLink] }],
    });
    return { selfLink: workload.selfLink, id: workload.id, cplnId: workload.cplnId };
  };

  it("are previewed without a call, created, left alone, refreshed and destroyed", async () => {
    await withInlineStack(
      program,
      async (stack) => {
        const planned = watch();
        await stack.preview({ onEvent: planned.onEvent });
        expect(planned.steps).toEqual(["create place", "create proxy", "create served", "create wake"]);
        expect(simulator.it.recorder.calls).toEqual([]);

        const { outputs } = await stack.up();
        expect(outputs.selfLink?.value).toBe(`/org/${org}/gvc/place/workload/sftp`);
        expect(outputs.id?.value).toBe("sftp");
        expect(outputs.cplnId?.value).toMatch(/^[0-9a-f-]{36}$/);
        expect(simulator.asked("POST")).toEqual([
          `POST /org/${org}/gvc`,
          `POST /org/${org}/gvc/place/identity`,
          `POST /org/${org}/gvc/place/workload`,
          `POST /org/${org}/policy`,
        ]);
        expect(simulator.it.store.get({ org, kind: "policy", name: "wake" })).toMatchObject({
          targetLinks: [`/org/${org}/gvc/place/workload/sftp`],
          bindings: [{ principalLinks: [`/org/${org}/gvc/place/identity/proxy`] }],
        });

        simulator.it.recorder.clear();
        await stack.up({ expectNoChanges: true });
        expect(simulator.it.recorder.calls).toEqual([]);

        await stack.refresh({ expectNoChanges: true });
        await stack.up({ expectNoChanges: true, refresh: true });
        expect(simulator.asked("POST", "PATCH", "DELETE")).toEqual([]);

        await stack.destroy();
        expect(simulator.asked("DELETE")).toHaveLength(4);
        expect(simulator.it.store.get({ org, kind: "gvc", name: "place" })).toBeUndefined();
      },
      { env: simulator.env },
    );
    expect(simulator.it.recorder.notImplemented).toEqual([]);
  });
});

describe("a resource that changes under the program", () => {
  it("is made again after it was deleted, and replaced create-first", async () => {
    let type = "standard";
    let options: pulumi.CustomResourceOptions = {};
    const program = async () => {
      new cpln.Workload("sftp", written("sftp", { type }), options);
    };
    await withInlineStack(
      program,
      async (stack) => {
        await stack.up();
        await simulator.call("DELETE", `${workloads}/sftp`);
        const { steps, onEvent } = watch();
        await stack.up({ refresh: true, onEvent });
        expect(steps).toContain("create sftp");
        expect(simulator.spec("sftp")).toBeDefined();

        type = "stateful";
        await expect(stack.up()).rejects.toThrow('workload "sftp" already exists');
        options = { deleteBeforeReplace: true };
        await stack.up();
        expect(simulator.spec("sftp")?.type).toBe("stateful");
      },
      { env: simulator.env },
    );
  });
});

describe("an import", () => {
  it("takes GVC:NAME, and leaves a workload that is already as written alone", async () => {
    await simulator.call("POST", workloads, {
      name: "sftp",
      description: "sftp",
      spec: {
        type: "standard",
        supportDynamicTags: false,
        containers: [{ name: "main", image: "sftp:1", ports: [{ number: 2022, protocol: "tcp" }] }],
        defaultOptions: {
          capacityAI: false,
          debug: false,
          suspend: true,
          timeoutSeconds: 5,
          autoscaling: {
            metric: "disabled",
            target: 95,
            minScale: 1,
            maxScale: 5,
            scaleToZeroDelay: 300,
            maxConcurrency: 0,
          },
        },
      },
    });
    simulator.it.recorder.clear();
    let id = "demo:nope";
    const program = async () => {
      const workload = new cpln.Workload("sftp", written("sftp", { suspend: true }), { import: id });
      return { id: workload.id };
    };
    await withInlineStack(
      program,
      async (stack) => {
        await expect(stack.up()).rejects.toThrow("'demo:nope' does not exist");
        id = "demo:sftp";
        const { steps, onEvent } = watch();
        const { outputs } = await stack.up({ onEvent });
        expect(steps).toEqual(["import sftp"]);
        expect(outputs.id?.value).toBe("sftp");
        expect(simulator.asked("POST", "PATCH")).toEqual([]);
        await stack.preview({ expectNoChanges: true });
      },
      { env: simulator.env },
    );
  });
});

describe("what goes wrong", () => {
  it("is told in the API's own words, keeps what was made, and is over with the next try", async () => {
    const message = 'denied: "create" was not granted on workloads, says "the policy"';
    const failing = simulator.it.faults.fail(
      { method: "POST", path: /workload$/ },
      { status: 403, message, times: 1 },
    );
    const program = async () => {
      const identity = new cpln.Identity("proxy", { name: "proxy", gvc: "demo" });
      new cpln.Workload("sftp", { ...written("sftp"), identityLink: identity.selfLink });
    };
    await withInlineStack(
      program,
      async (stack) => {
        const failure = await stack.up().then(
          () => "",
          (error: Error) => error.message,
        );
        expect(failure).toMatch(/error: .*status: 403, body: /);
        expect(failure).toContain(JSON.stringify(message));
        failing.remove();
        const { steps, onEvent } = watch();
        await stack.up({ onEvent });
        expect(steps).toEqual(["create sftp"]);
      },
      { env: simulator.env },
    );
  });

  it("is told before any call where the inputs say so, all of it at once", async () => {
    const program = async () => {
      new cpln.Workload("sftp", { name: "s1", gvc: "demo", type: "cron", options: {} });
    };
    await withInlineStack(
      program,
      async (stack) => {
        const failure = await stack.preview().then(
          () => "",
          (error: Error) => error.message,
        );
        expect(failure).toContain("property name value {s1} has a problem");
        expect(simulator.it.recorder.calls).toEqual([]);
      },
      { env: simulator.env },
    );
  });

  it("rejects a lookup of what is not there", async () => {
    const program = async () => {
      await cpln.getWorkload({ gvc: "demo", name: "nobody" });
    };
    await withInlineStack(program, (stack) => expect(stack.preview()).rejects.toThrow("status: 404"), {
      env: simulator.env,
    });
  });
});

describe("a secret", () => {
  it("reaches the API in clear and the state never, in a variable or as a secret", async () => {
    const password = "correct-horse-battery";
    const program = async () => {
      const base = written("sftp");
      new cpln.Workload("sftp", {
        ...base,
        containers: [
          { name: "main", image: "sftp:1", env: { PASSWORD: pulumi.secret(password), USER_NAME: "files" } },
        ],
      });
      new cpln.Secret("key", { name: "key", opaque: pulumi.secret({ payload: password }) });
    };
    await withInlineStack(
      program,
      async (stack) => {
        await stack.up();
        expect(simulator.spec("sftp")?.containers[0]?.env).toContainEqual({
          name: "PASSWORD",
          value: password,
        });
        await stack.refresh();
        const state = await stateAtRest(stack);
        expect(state).toContain(`"cpln://secret/key"`);
        expect(state).not.toContain(password);
        expect(state).not.toContain(simulator.it.deployerToken);
        await stack.up({ expectNoChanges: true, refresh: true });
      },
      { env: simulator.env },
    );
  });
});

describe("a provider that the program configures", () => {
  it("needs nothing of the environment, keeps its token secret, and may move without replacing anything", async () => {
    let endpoint = simulator.it.apiUrl;
    const program = async () => {
      const token = simulator.it.deployerToken;
      const provider = new cpln.Provider("platform", { org, endpoint, token });
      const workload = new cpln.Workload("sftp", written("sftp"), { provider });
      return { link: workload.selfLink };
    };
    await withInlineStack(program, async (stack) => {
      await stack.up();
      expect(simulator.spec("sftp")).toBeDefined();
      expect(await stateAtRest(stack)).not.toContain(simulator.it.deployerToken);

      endpoint = endpoint.replace("127.0.0.1", "localhost");
      const { steps, onEvent } = watch();
      const { summary } = await stack.up({ onEvent });
      expect(steps).toEqual([]);
      expect(summary.resourceChanges).toEqual({ update: 1, same: 2 });

      endpoint = "http://192.0.2.1";
      await expect(stack.up()).rejects.toThrow("only to a Control Plane on this machine");
    });
  });
});

describe("the plugin's folder", () => {
  it("gives its schema to the engine", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "cpln-schema-"));
    try {
      const plugin = fromRoot("simulator", "provider", "pulumi-resource-cpln");
      const { stdout } = await pulumiCli(["package", "get-schema", plugin], { cwd });
      const told = JSON.parse(stdout) as ReturnType<typeof schema>;
      expect(Object.keys(told.resources)).toEqual(Object.keys(schema().resources));
      expect(Object.keys(told.functions)).toEqual(Object.keys(schema().functions));
    } finally {
      await rm(cwd, { recursive: true });
    }
  });
});

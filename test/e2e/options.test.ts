/**
 * Pulumi's own options on the component, under the real engine where mocks can't tell. Those that say what goes and
 * when are in leaving.test.ts.
 */
import * as pulumi from "@pulumi/pulumi";
import type { PulumiFn, Stack } from "@pulumi/pulumi/automation/index.js";
import * as cpln from "@pulumiverse/cpln";
import { expect, it } from "vitest";
import { ScaleToZeroTcp } from "../../src/index.ts";
import { withInlineStack } from "../support/engine.ts";
import { everySecret } from "../support/mocks.ts";
import { proxyArgs, useDocuments } from "./component-support.ts";
import { watch } from "./provider-support.ts";

const documents = useDocuments("prod", "other");

/** A stack whose program the test may change between two operations. */
async function withProgram(
  first: PulumiFn,
  use: (stack: Stack, next: (program: PulumiFn) => void) => Promise<void>,
) {
  let program = first;
  await withInlineStack(
    () => program(),
    (stack) => use(stack, (another) => (program = another)),
    { env: documents.env },
  );
}

async function steps(
  operation: (onEvent: ReturnType<typeof watch>["onEvent"]) => Promise<unknown>,
): Promise<string[]> {
  const seen = watch();
  await operation(seen.onEvent);
  return seen.steps.sort();
}

const of = (name: string, opts?: pulumi.ComponentResourceOptions, change: object = {}): PulumiFn => {
  return async () => {
    const made = new ScaleToZeroTcp(name, { ...proxyArgs("prod", name), preflight: false, ...change }, opts);
    return { proxy: made.workloadLink, urn: made.urn };
  };
};

it("instances never collide; transforms, dependsOn and a lookup by URN do what they say", async () => {
  const transform: pulumi.ResourceTransform = ({ type, props, opts }) =>
    type.startsWith("cpln:") ? { props: { ...props, tags: { cost: "files" } }, opts } : undefined;
  const program: PulumiFn = async () => {
    const first = new cpln.Identity("first", { gvc: "prod", name: "first" });
    await of("one", { dependsOn: [first] })();
    return of("two", { dependsOn: [first], transforms: [transform] })();
  };
  await withProgram(program, async (stack, next) => {
    documents.it.recorder.clear();
    const { outputs } = await stack.up();
    const [earliest] = documents.it.recorder.matching({ method: ["POST"] });
    expect(earliest?.body).toMatchObject({ name: "first" });
    for (const name of ["one", "two"]) {
      const tags = name === "two" ? { cost: "files" } : {};
      expect(documents.get("workload", `${name}-proxy`, "prod")?.tags).toMatchObject(tags);
      expect(documents.get("identity", `${name}-proxy`, "prod")?.tags).toMatchObject(tags);
      expect(documents.get("policy", `${name}-proxy-prod`)?.tags).toMatchObject(tags);
    }
    expect(documents.get("workload", "one-proxy", "prod")?.tags).not.toHaveProperty("cost");

    next(async () => {
      await program();
      const again = new ScaleToZeroTcp("two", {} as never, { urn: outputs.urn?.value });
      return { link: again.workloadLink, ports: again.ports };
    });
    const changes: string[] = [];
    const looked = await stack.up({
      refresh: true,
      onEvent: ({ resourcePreEvent }) => {
        const { op = "", type = "" } = resourcePreEvent?.metadata ?? {};
        if (type.startsWith("cpln:")) changes.push(op);
      },
    });
    expect([...new Set(changes)].sort()).toEqual(["refresh", "same"]);
    expect(looked.outputs.link?.value).toBe("/org/acme/gvc/prod/workload/two-proxy");
    expect(looked.outputs.ports?.value).toBe("22");
  });
});

it("protect keeps all of it until it is taken off", async () => {
  await withProgram(of("kept", { protect: true }), async (stack, next) => {
    await stack.up();
    await expect(stack.destroy()).rejects.toThrow(/protected/);
    expect(documents.get("workload", "kept-proxy", "prod")).toBeDefined();
    next(of("kept"));
    await stack.up();
    await stack.destroy();
    expect(documents.get("workload", "kept-proxy", "prod")).toBeUndefined();
  });
});

it("aliases rename it, and move it under a parent, without touching anything", async () => {
  const names = { workloadName: "alpha-proxy", identityName: "alpha-proxy", policyName: "alpha-proxy-prod" };
  await withProgram(of("alpha", {}, names), async (stack, next) => {
    await stack.up();
    const renamed = { ...names, target: "alpha" };
    next(of("beta", { aliases: [{ name: "alpha" }] }, renamed));
    expect(await steps((onEvent) => stack.up({ onEvent }))).toEqual([]);
    next(async () => {
      const parent = new pulumi.ComponentResource("test:index:Team", "team");
      await of("beta", { parent, aliases: [{ parent: pulumi.rootStackResource }] }, renamed)();
    });
    const moved = await steps((onEvent) => stack.up({ onEvent }));
    expect(moved).toEqual(["create team"]);
  });
});

it("ignoreChanges is about the component alone; transforms carry it to a child", async () => {
  const toWorkload =
    (more: pulumi.CustomResourceOptions): pulumi.ResourceTransform =>
    ({ type, props, opts }) =>
      type === "cpln:index/workload:Workload" ? { props, opts: { ...opts, ...more } as never } : undefined;
  await withProgram(of("ignoring"), async (stack, next) => {
    await stack.up();
    next(of("ignoring", { ignoreChanges: ["description"] }, { tags: { a: "b" } }));
    expect((await steps((onEvent) => stack.up({ onEvent }))).map((step) => step.split(":")[0])).toEqual([
      "update ignoring-identity",
      "update ignoring-policy",
      "update ignoring-proxy",
    ]);
    next(
      of(
        "ignoring",
        { transforms: [toWorkload({ ignoreChanges: ["containers"] })] },
        { tags: { a: "b" }, idleHold: "10m" },
      ),
    );
    expect(await steps((onEvent) => stack.preview({ onEvent }))).toEqual([]);
  });
});

it("providers reach the children and the lookups of a preview", async () => {
  const { CPLN_TOKEN: token, ...env } = documents.env;
  await documents.createTarget("prod", "elsewhere", "elsewhere-proxy");
  const forms: ((provider: cpln.Provider) => pulumi.ComponentResourceOptions)[] = [
    (provider) => ({ provider }),
    (provider) => ({ providers: [provider] }),
    (provider) => ({ providers: { cpln: provider } }),
  ];
  let form = 0;
  const said: string[] = [];
  await withInlineStack(
    async () => {
      const provider = new cpln.Provider("own", { org: "acme", token });
      new ScaleToZeroTcp("elsewhere", proxyArgs("prod", "elsewhere"), forms[form]?.(provider));
    },
    async (stack) => {
      const onEvent = ({ diagnosticEvent }: { diagnosticEvent?: { message: string; severity: string } }) => {
        if (diagnosticEvent && diagnosticEvent.severity !== "debug") said.push(diagnosticEvent.message);
      };
      await stack.up({ onEvent });
      for (form = 1; form < forms.length; form += 1) {
        const { changeSummary } = await stack.preview({ onEvent });
        expect(Object.keys(changeSummary)).toEqual(["same"]);
      }
    },
    { env: { ...env, CPLN_TOKEN: "s.nobody" } },
  );
  expect(said.filter((each) => /not granted|skipped/.test(each))).toEqual([]);
});

it("a preview fails by what the platform says of the target", async () => {
  await documents.createTarget("prod", "closed", "another-proxy", 2022);
  const program: PulumiFn = async () => void new ScaleToZeroTcp("closed", proxyArgs("prod", "closed"));
  await withProgram(program, async (stack) => {
    const refused = await stack.preview().then(String, (error: Error) => error.message);
    expect(refused).toContain("ports[0].target: prod/closed does not declare port 2222, but 2022");
    expect(refused).toContain(
      'target: prod/closed does not let the proxy "//gvc/prod/workload/closed-proxy" in',
    );
  });
});

it("what came as a secret is one wherever it is in the state", async () => {
  const secrets = {
    env: { PASSWORD: pulumi.secret("hush-env") },
    tags: { note: pulumi.secret("hush-tag") },
    targetHost: pulumi.secret("hush.host"),
    image: pulumi.secret("registry.example.invalid/hush-image:1"),
    allow: pulumi.secret(["10.47.11.0/24"]),
  };
  await withProgram(of("quiet", {}, secrets), async (stack) => {
    await stack.up();
    const made = JSON.stringify(documents.get("workload", "quiet-proxy", "prod"));
    // An export shows secrets, and marks them as the state does.
    const state = await stack.exportStack();
    for (const text of ["hush-env", "hush-tag", "hush.host", "hush-image", "10.47.11"]) {
      expect(made).toContain(text);
      expect(JSON.stringify(state)).toContain(text);
      expect(everySecret(state, text), text).toBe(true);
    }
  });
});

it("a preview goes through with arguments that only the update can tell", async () => {
  const program: PulumiFn = async () => {
    const earlier = new cpln.Identity("earlier", { gvc: "prod", name: "earlier" });
    const later = <T>(value: T): pulumi.Output<T> => earlier.cplnId.apply(() => value);
    const args = {
      ...proxyArgs("prod", "later"),
      targetGvc: "other",
      idleHold: "10m",
      tags: { team: "files" },
    };
    const late = Object.fromEntries(Object.entries(args).map(([name, value]) => [name, later(value)]));
    new ScaleToZeroTcp("later", late as never);
  };
  await withProgram(program, async (stack) => {
    const { changeSummary } = await stack.preview();
    // The stack, the identity before, the component and its three.
    expect(changeSummary).toEqual({ create: 6 });
    await stack.up();
    expect(documents.get("workload", "later-proxy", "prod")?.tags).toMatchObject({ team: "files" });
    expect(JSON.stringify(documents.get("policy", "later-proxy-prod"))).toContain(
      "/gvc/other/workload/later",
    );
    await stack.preview({ expectNoChanges: true });
  });
});

/** `suspend` belongs to the proxy: what each operation of Pulumi makes of its flips, cell by cell, and the way out. */
import * as cpln from "@pulumiverse/cpln";
import { describe, expect, it } from "vitest";
import { ignoreSuspend, liveSuspend, ScaleToZeroTcp } from "../../src/index.ts";
import { withInlineStack } from "../support/engine.ts";
import { type Cell, cells, type Moment, moments, type Operation } from "../support/suspend-cells.ts";
import { org, proxyArgs, useDocuments } from "./component-support.ts";
import { watch } from "./provider-support.ts";

const documents = useDocuments("prod", "drift");

/** A flip as the proxy makes it: by an identity that may edit, and nothing else. */
async function flip(gvc: string, name: string, suspend: boolean): Promise<void> {
  const path = `/org/${org}/gvc/${gvc}/workload/${name}`;
  const token = documents.it.createToken(`hand-${name}`, [
    { kind: "workload", permissions: ["edit"], targetLinks: [path] },
  ]);
  const response = await fetch(documents.it.apiUrl + path, {
    method: "PATCH",
    headers: { authorization: token },
    body: JSON.stringify({ spec: { defaultOptions: { suspend } } }),
  });
  expect(response.status).toBe(200);
}

const target = (gvc: string, name: string, suspend: unknown, word = "one"): cpln.WorkloadArgs => ({
  name,
  gvc,
  type: "standard",
  containers: [
    { name: "main", image: "sftp:1", ports: [{ number: 2222, protocol: "tcp" }], env: { WORD: word } },
  ],
  options: { capacityAi: false, autoscaling: { metric: "disabled" }, suspend: suspend as boolean },
  firewallSpec: { internal: { inboundAllowType: "same-gvc" } },
});

describe.each<Operation>(["up", "refresh", "up --refresh"])("%s", (operation) => {
  const rows = cells.filter((cell) => cell.operation === operation);
  const all = rows.flatMap((cell, index) =>
    moments.map((moment) => ({
      cell,
      moment,
      name: `${operation.replaceAll(/\W+/g, "-")}-${index}-${moment}`,
    })),
  );

  it("does what the table says, whatever the proxy did before", async () => {
    let again = false;
    const program = async () => {
      for (const { cell, moment, name } of all) {
        const recorded = moment === "connected";
        const suspend = cell.way === "liveSuspend" && again ? liveSuspend({ gvc: "drift", name }) : recorded;
        const word = again && cell.change ? "two" : "one";
        new cpln.Workload(
          name,
          target("drift", name, suspend, word),
          cell.way === "ignoreSuspend" ? { ignoreChanges: ignoreSuspend } : {},
        );
      }
    };
    await withInlineStack(
      program,
      async (stack) => {
        await stack.up();
        for (const { moment, name } of all) await flip("drift", name, moment === "suspended");
        again = true;
        const { steps, onEvent } = watch();
        if (operation === "refresh") await stack.refresh({ onEvent });
        else await stack.up({ refresh: operation === "up --refresh", onEvent });
        expect(all.map((each) => [each.name, seen(each, steps)])).toEqual(
          all.map((each) => [each.name, { shown: each.cell.shown, stays: each.cell.stays }]),
        );
      },
      { env: documents.env },
    );
  });

  function seen({ name, moment }: { cell: Cell; moment: Moment; name: string }, steps: string[]) {
    const update = steps.find((step) => step.startsWith(`update ${name}: `));
    const shown =
      update
        ?.replace(/^.*?: /, "")
        .split(" ")
        .sort() ?? [];
    return { shown, stays: documents.suspended("drift", name) === (moment === "suspended") };
  }
});

describe("to retire the component", () => {
  it("with the target awake, declare it awake, without ignoring, and refresh", async () => {
    let retired = false;
    const program = async () => {
      const made = new cpln.Workload(
        "retired",
        target("prod", "retired", !retired),
        retired ? {} : { ignoreChanges: ignoreSuspend },
      );
      if (!retired) new ScaleToZeroTcp("retired", { ...proxyArgs("prod", ""), target: made });
    };
    await withInlineStack(
      program,
      async (stack) => {
        await stack.up();
        await flip("prod", "retired", false);
        await stack.refresh();
        await flip("prod", "retired", true);
        retired = true;
        const { steps, onEvent } = watch();
        await stack.up({ refresh: true, onEvent });
        expect(
          steps.filter((step) => step.includes("retired") && !step.startsWith("refresh")).sort(),
        ).toEqual([
          "delete retired",
          "delete retired-identity",
          "delete retired-policy",
          "delete retired-proxy",
          "update retired: options.suspend",
        ]);
        expect(documents.suspended("prod", "retired")).toBe(false);
      },
      { env: documents.env },
    );
  });

  it("a destroy leaves a target of elsewhere as it is", async () => {
    await documents.createTarget("prod", "outside", "outside-proxy");
    await withInlineStack(
      async () => void new ScaleToZeroTcp("outside", proxyArgs("prod", "outside")),
      async (stack) => {
        await stack.up();
        await flip("prod", "outside", true);
        await stack.destroy();
        expect(documents.suspended("prod", "outside")).toBe(true);
      },
      { env: documents.env },
    );
  });
});

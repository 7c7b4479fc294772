/** What `pulumi up` makes of a suspend that another hand has flipped: the public provider's matrix, row by row. */
import type { CustomResourceOptions } from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import { describe, expect, it } from "vitest";
import { withInlineStack } from "../support/engine.ts";
import { useSimulator, type Written, watch, workloads, written } from "./provider-support.ts";

const simulator = useSimulator();

interface Row {
  /** What the program says of the workload at first, and when it runs again. */
  first: Written;
  second?: Written;
  options?: CustomResourceOptions;
}
interface Outcome {
  changed: string | undefined;
  sent: number;
  suspended: boolean | undefined;
}

const ignored = { ignoreChanges: ["options.suspend"] };
const image = "containers[0].image";

/** All workloads are created awake, suspended behind Pulumi's back, and deployed again. */
async function deployAgain(rows: Record<string, Row>, refresh: boolean): Promise<Record<string, Outcome>> {
  const names = Object.keys(rows);
  const workloadOf = (index: number) => `target-${index}`;
  let again = false;
  const program = async () => {
    for (const [index, { first, second, options }] of Object.values(rows).entries())
      new cpln.Workload(
        workloadOf(index),
        written(workloadOf(index), again ? (second ?? first) : first),
        options,
      );
  };
  return withInlineStack(
    program,
    async (stack) => {
      await stack.up();
      for (const index of names.keys())
        await simulator.call("PATCH", `${workloads}/${workloadOf(index)}`, {
          spec: { defaultOptions: { suspend: true } },
        });
      again = true;
      simulator.it.recorder.clear();
      const { steps, onEvent } = watch();
      await stack.up({ refresh, onEvent });
      const sent = simulator.asked("PATCH");
      return Object.fromEntries(
        names.map((name, index) => [
          name,
          {
            changed: steps
              .find((step) => step.startsWith(`update ${workloadOf(index)}: `))
              ?.replace(/^.*: /, ""),
            sent: sent.filter((call) => call.endsWith(`/${workloadOf(index)}`)).length,
            suspended: simulator.spec(workloadOf(index))?.defaultOptions.suspend,
          },
        ]),
      );
    },
    { env: simulator.env },
  );
}

describe("a suspend that another hand flipped", () => {
  it("is not seen without a refresh, and undone by the next change of anything else", async () => {
    const outcome = await deployAgain(
      {
        "nothing changed": { first: { suspend: false } },
        "nothing changed, ignored": { first: { suspend: false }, options: ignored },
        "the image changed": { first: { suspend: false }, second: { suspend: false, image: "sftp:2" } },
        "the image changed, ignored": {
          first: { suspend: false },
          second: { suspend: false, image: "sftp:2" },
          options: ignored,
        },
        "the image changed, left out and ignored": {
          first: {},
          second: { image: "sftp:2" },
          options: ignored,
        },
      },
      false,
    );
    expect(outcome).toEqual({
      "nothing changed": { changed: undefined, sent: 0, suspended: true },
      "nothing changed, ignored": { changed: undefined, sent: 0, suspended: true },
      "the image changed": { changed: image, sent: 1, suspended: false },
      "the image changed, ignored": { changed: image, sent: 1, suspended: false },
      "the image changed, left out and ignored": { changed: image, sent: 1, suspended: false },
    });
  });

  it("is undone after a refresh unless it is ignored, and then sent again as it is", async () => {
    const outcome = await deployAgain(
      {
        "nothing changed": { first: { suspend: false } },
        "nothing changed, left out": { first: {} },
        "nothing changed, ignored": { first: { suspend: false }, options: ignored },
        "nothing changed, left out and ignored": { first: {}, options: ignored },
        "the image changed, ignored": {
          first: { suspend: false },
          second: { suspend: false, image: "sftp:2" },
          options: ignored,
        },
        "the program follows": { first: { suspend: false }, second: { suspend: true } },
      },
      true,
    );
    expect(outcome).toEqual({
      "nothing changed": { changed: "options.suspend", sent: 1, suspended: false },
      "nothing changed, left out": { changed: "options.suspend", sent: 1, suspended: false },
      "nothing changed, ignored": { changed: undefined, sent: 0, suspended: true },
      "nothing changed, left out and ignored": { changed: undefined, sent: 0, suspended: true },
      "the image changed, ignored": { changed: image, sent: 1, suspended: true },
      "the program follows": { changed: undefined, sent: 0, suspended: true },
    });
  });

  it("shows once, and stays, where the program reads it with getWorkload", async () => {
    let first = true;
    const program = async () => {
      const live = first ? undefined : await cpln.getWorkload({ gvc: "demo", name: "target" });
      new cpln.Workload("target", written("target", { suspend: live?.options?.[0]?.suspend ?? false }));
    };
    await withInlineStack(
      program,
      async (stack) => {
        await stack.up();
        first = false;
        await simulator.call("PATCH", `${workloads}/target`, { spec: { defaultOptions: { suspend: true } } });
        const { steps, onEvent } = watch();
        await stack.up({ onEvent });
        expect(steps).toEqual(["update target: options.suspend"]);
        expect(simulator.spec("target")?.defaultOptions.suspend).toBe(true);
        await stack.preview({ expectNoChanges: true });
      },
      { env: simulator.env },
    );
  });
});

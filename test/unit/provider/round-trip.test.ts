import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decode } from "../../../simulator/provider/mapping/decode.ts";
import { diff } from "../../../simulator/provider/mapping/diff.ts";
import { encode } from "../../../simulator/provider/mapping/encode.ts";
import { check, fill } from "../../../simulator/provider/mapping/inputs.ts";
import type { ResourceKind } from "../../../simulator/provider/mapping/kind.ts";
import { kinds } from "../../../simulator/provider/registry.ts";
import { canonical } from "../../../simulator/src/documents/json.ts";
import { answered, inputsOf } from "./arbitrary.ts";

const secretKinds = ["opaque", "userpass", "dictionary", "keypair", "tls"];

/** A secret holds exactly one kind of data. */
const onlyOneSecret = (inputs: Record<string, unknown>) => {
  const [first, ...rest] = secretKinds.filter((key) => inputs[key] !== undefined);
  for (const key of rest) delete inputs[key];
  if (first === undefined) inputs.dictionary = {};
  return inputs;
};

const filledInputs = (kind: ResourceKind) =>
  inputsOf(kind).map((written) => {
    const usable = kind.name === "Secret" ? onlyOneSecret({ ...written }) : written;
    return fill(kind, usable as typeof written, written.name ?? null);
  });

const named = (kind: ResourceKind) => [kind.name, kind] as const;
/** A policy's link in full comes back as its last segment, unless the program is there to say otherwise. */
const importable = kinds.filter((kind) => kind.name !== "Policy");

describe.each(kinds.map(named))("%s", (_, kind) => {
  const inputs = filledInputs(kind);

  it("reads back what the program wrote, whatever form the API keeps it in", () => {
    fc.assert(
      fc.property(inputs, (filled) => {
        const document = answered(encode(kind, filled, "acme"), kind);
        const read = decode(kind, document, filled, "acme");
        expect(canonical(read.inputs)).toBe(canonical(filled));
        expect(diff(kind, filled, read.inputs)).toEqual([]);
      }),
    );
  });

  it("has every input among the outputs, and every output that is promised", () => {
    fc.assert(
      fc.property(inputs, (filled) => {
        const { outputs } = decode(kind, answered(encode(kind, filled, "acme"), kind), filled, "acme");
        expect(outputs).toMatchObject(filled);
        const promised = Object.entries(kind.fields).filter(([, field]) => field.filled || field.required);
        for (const [property] of promised) expect(outputs).toHaveProperty([property]);
      }),
    );
  });

  it("settles inputs once: filling twice changes nothing", () => {
    fc.assert(
      fc.property(inputs, (filled) => {
        expect(canonical(fill(kind, filled, filled.name ?? null))).toBe(canonical(filled));
        const shape = check(kind, filled).filter(({ reason }) =>
          /is needed here|no such property/.test(reason),
        );
        expect(shape.filter(({ reason }) => !reason.includes("autoscaling"))).toEqual([]);
      }),
    );
  });
});

describe.each(importable.map(named))("%s, imported", (_, kind) => {
  const inputs = filledInputs(kind);

  it("would send the same document in an update", () => {
    fc.assert(
      fc.property(inputs, (filled) => {
        const sent = encode(kind, filled, "acme");
        const prior = kind.scope === "gvc" ? { gvc: filled.gvc } : {};
        const imported = decode(kind, answered(sent, kind), prior, "acme").inputs;
        const again = answered(encode(kind, imported, "acme"), kind);
        expect(canonical(again)).toBe(canonical(answered(sent, kind)));
      }),
    );
  });
});

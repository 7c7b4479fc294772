/** A query over resources: which ones a policy targets, which locations a GVC spans. */
import { block, blocks, text } from "./fields.ts";

export const query = (type: string, wire?: string) =>
  block(
    type,
    {
      fetch: text({ default: "items" }),
      spec: block(`${type}Spec`, {
        match: text({ default: "all" }),
        terms: blocks(`${type}SpecTerm`, {
          op: text({ default: "=" }),
          property: text(),
          rel: text(),
          tag: text(),
          value: text(),
        }),
      }),
    },
    wire === undefined ? {} : { wire },
  );

/** What every kind has, and the patch that most kinds take. */
import type { JsonObject } from "../../src/model.ts";
import { selfLink, tags } from "./codecs.ts";
import { type Fields, map, text } from "./fields.ts";

export const entity = (fields: Fields): Fields => ({
  name: text({ filled: true }),
  description: text({ filled: true }),
  tags: map({ filled: true, default: {}, codec: tags }),
  ...fields,
  cplnId: text({ computed: true, filled: true, wire: "id" }),
  selfLink: text({ computed: true, filled: true, wire: "links", codec: selfLink }),
});

/** Tags and the parts named are replaced, the rest is merged. */
export const patchReplacing =
  (...parts: string[]) =>
  ({ tags: allTags, ...document }: JsonObject): JsonObject => ({
    ...Object.fromEntries(
      Object.entries(document).map(([key, value]) => [parts.includes(key) ? `$replace/${key}` : key, value]),
    ),
    "$replace/tags": allTags,
  });

/** The values that are not simply copied between a program's inputs and a document. */
import type { Json, JsonObject } from "../../src/model.ts";
import type { Codec } from "./fields.ts";

const isText = (value: Json | undefined): value is string => typeof value === "string";
const lastSegment = (link: string) => link.slice(link.lastIndexOf("/") + 1);

export const asObject = (value: Json | undefined): JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
export const asList = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

/** `env`, HTTP headers: a map in a program, a list sorted by name in a document. */
export const namedValues: Codec = {
  encode: (value) =>
    Object.entries(asObject(value))
      .map(([name, item]) => ({ name, value: item }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
  decode: (value) =>
    Object.fromEntries(
      asList(value)
        .map(asObject)
        .map((item) => [String(item.name), item.value ?? ""]),
    ),
};

/** A list of one in a program, one object in a document. */
export const wrapped: Codec = {
  encode: (value) => asList(value)[0] ?? null,
  decode: (value) => (Array.isArray(value) ? value : [value]),
};

/** A JSON text in a program, the value itself in a document. */
export const jsonText: Codec = {
  encode: (value) => (isText(value) ? JSON.parse(value) : value),
  decode: (value) => JSON.stringify(value),
  refuses: (value) => {
    try {
      JSON.parse(String(value));
      return undefined;
    } catch {
      return "JSON text is needed here";
    }
  },
};

/** Sent as written; the short form `//…` stands again when the document holds its long form. */
export const link: Codec = {
  encode: (value) => value,
  decode: (value) => value,
  matches: (prior, value, { org }) =>
    isText(prior) && prior.startsWith("//") && value === `/org/${org}${prior.slice(1)}`,
};

const orgLink = (kind: string): Codec => ({
  encode: (value, { org }) => (isText(value) ? `/org/${org}/${kind}/${value}` : value),
  decode: (value) => (isText(value) ? lastSegment(value) : value),
});

/** A bare name in a program, a link in a document. */
export const locationName = orgLink("location");
export const secretName = orgLink("secret");

/** A bare name becomes a link; a link stays as written. */
export const ipSetLink: Codec = {
  encode: (value, { org }) =>
    isText(value) && !value.startsWith("/") ? `/org/${org}/ipset/${value}` : value,
  decode: (value) => value,
  matches: (prior, value, { org }) => isText(prior) && value === `/org/${org}/ipset/${lastSegment(prior)}`,
};

/** Tags that are the platform's or the provider's own: never shown, and taken from no program. */
const hiddenTags = [
  "cpln/managedByTerraform",
  "cpln/terraformProviderVersion",
  "cpln/deployTimestamp",
  "cpln/aws",
  "cpln/azure",
  "cpln/docker",
  "cpln/gcp",
  "cpln/tls",
  "cpln/city",
  "cpln/continent",
  "cpln/country",
  "cpln/state",
];

const shownTags = (value: Json) =>
  Object.fromEntries(
    Object.entries(asObject(value)).filter(([tag]) => !hiddenTags.some((hidden) => tag.startsWith(hidden))),
  );

export const tags: Codec = {
  encode: (value) => ({
    ...shownTags(value),
    "cpln/managedByTerraform": "true",
    "cpln/terraformProviderVersion": "",
  }),
  decode: (value) =>
    Object.fromEntries(Object.entries(shownTags(value)).map(([tag, item]) => [tag, tagText(item)])),
};

const tagText = (value: Json | undefined) =>
  isText(value) ? value : value === null || value === undefined ? "" : JSON.stringify(value);

/** The document's own link, out of its list of links. */
export const selfLink: Codec = {
  encode: (value) => value,
  decode: (value) =>
    asList(value)
      .map(asObject)
      .find((item) => item.rel === "self")?.href ?? "",
};

/** Secrets of the kinds that examples use. The API gives their data away only under `-reveal`. */
import type { JsonObject } from "../../src/model.ts";
import { asObject } from "../mapping/codecs.ts";
import { entity, patchReplacing } from "../mapping/entity.ts";
import { block, map, text } from "../mapping/fields.ts";
import type { ResourceKind } from "../mapping/kind.ts";

/** Input property to the document's `type`. */
const types: Record<string, string> = {
  opaque: "opaque",
  userpass: "userpass",
  dictionary: "dictionary",
  keypair: "keypair",
  tls: "tls",
};
const given = (inputs: JsonObject) =>
  Object.keys(types).filter((key) => inputs[key] !== undefined && inputs[key] !== null);

const encoding = text({ default: "plain" });
const hidden = (required = false) => text({ secret: true, ...(required ? { required } : {}) });

export const resource: ResourceKind = {
  token: "cpln:index/secret:Secret",
  name: "Secret",
  kind: "secret",
  scope: "org",
  readSuffix: "/-reveal",
  fields: entity({
    opaque: block("SecretOpaque", { payload: hidden(true), encoding }, { wire: "data.opaque" }),
    userpass: block(
      "SecretUserpass",
      { username: text({ required: true }), password: hidden(true), encoding },
      { wire: "data.userpass" },
    ),
    dictionary: map({ wire: "data.dictionary" }),
    keypair: block(
      "SecretKeypair",
      { secretKey: hidden(true), publicKey: text(), passphrase: hidden() },
      { wire: "data.keypair" },
    ),
    tls: block(
      "SecretTls",
      { key: hidden(), cert: text({ required: true }), chain: text() },
      { wire: "data.tls" },
    ),
    dictionaryAsEnvs: map({ computed: true, filled: true }),
    secretLink: text({ computed: true, filled: true }),
  }),
  check: (inputs) =>
    given(inputs).length === 1
      ? []
      : [{ property: "opaque", reason: `exactly one of ${Object.keys(types).join(", ")} is needed` }],
  replaceOn: ["name"],
  patch: patchReplacing("data"),
  finish: (document, inputs) => {
    const [kind] = given(inputs);
    if (kind === undefined) return document;
    return { ...document, type: types[kind], data: asObject(document.data)[kind] };
  },
  open: (document) => {
    const name = String(document.name);
    const kind = Object.keys(types).find((key) => types[key] === document.type);
    const entries = kind === "dictionary" ? Object.keys(asObject(document.data)) : [];
    return {
      ...document,
      data: kind === undefined ? {} : { [kind]: document.data },
      secretLink: `cpln://secret/${name}`,
      dictionaryAsEnvs: Object.fromEntries(entries.map((key) => [key, `cpln://secret/${name}.${key}`])),
    };
  },
};

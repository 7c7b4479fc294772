/** The provider's configuration: what the program says, else the environment. */
import { isIPv4 } from "node:net";
import type { JsonObject } from "../src/model.ts";
import type { Failure } from "./mapping/kind.ts";
import { isUnknown } from "./mapping/values.ts";

export interface Settings {
  org: string;
  endpoint: string;
  token: string;
}

type Environment = Record<string, string | undefined>;

const variables = { org: "CPLN_ORG", endpoint: "CPLN_ENDPOINT", token: "CPLN_TOKEN" } as const;

/** This is a stand-in: it speaks to a platform on this machine and to no other. */
const isLocal = (endpoint: string) => {
  const host = URL.canParse(endpoint) ? new URL(endpoint).hostname : "";
  return host === "localhost" || host === "[::1]" || (isIPv4(host) && host.startsWith("127."));
};

const foreign = (endpoint: string) =>
  `the local cpln provider speaks only to a Control Plane on this machine, not to ${endpoint}`;

/** What can be refused as soon as the program says it. */
export function checkSettings({ endpoint }: JsonObject): Failure[] {
  if (typeof endpoint !== "string" || endpoint === "" || isUnknown(endpoint) || isLocal(endpoint)) return [];
  return [{ property: "endpoint", reason: foreign(endpoint) }];
}

/** Throws at the first use rather than when configured: a preview may not know the settings yet. */
export function settingsFrom(args: JsonObject, environment: Environment): () => Settings {
  const setting = (name: keyof typeof variables): string => {
    const given = args[name];
    if (isUnknown(given)) throw new Error(`the provider's \`${name}\` is not known yet`);
    if (typeof given === "string" && given !== "") return given;
    const fallback = environment[variables[name]];
    if (fallback) return fallback;
    throw new Error(`the provider needs \`${name}\`, or ${variables[name]} in its environment`);
  };
  return () => {
    const endpoint = setting("endpoint");
    if (!isLocal(endpoint)) throw new Error(foreign(endpoint));
    return { org: setting("org"), endpoint, token: setting("token") };
  };
}

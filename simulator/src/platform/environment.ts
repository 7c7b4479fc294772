import { fileURLToPath } from "node:url";
import type { ResourceKey, Store } from "../model.ts";
import { list, object, text } from "./json.ts";
import { secretReference, secretValue } from "./secrets.ts";
import type { ContainerSpec } from "./spec.ts";

export interface InjectedFacts {
  workload: ResourceKey;
  location: string;
  replica: string;
  address: string;
  token: string;
  apiUrl: string;
  globalEndpoint: string;
  gvcAlias: string;
  workloadVersion: number;
  isFirstContainer: boolean;
  type: string;
  nameServer: { address: string; port: number };
}

const preload = fileURLToPath(new URL("../network/preload.cjs", import.meta.url));

/** The variables that the platform itself puts into a container, in the forms that were seen there. */
export function injectedEnvironment(container: ContainerSpec, facts: InjectedFacts): Record<string, string> {
  const { org, gvc = "", name } = facts.workload;
  const provider = facts.location.split("-")[0] ?? "";
  return {
    CPLN_TOKEN: facts.token,
    CPLN_ENDPOINT: facts.apiUrl,
    CPLN_GLOBAL_ENDPOINT: facts.globalEndpoint,
    CPLN_ORG: org,
    CPLN_GVC: gvc,
    CPLN_GVC_ALIAS: facts.gvcAlias,
    CPLN_LOCATION: `/org/${org}/location/${facts.location}`,
    CPLN_PROVIDER: provider,
    CPLN_WORKLOAD: `/org/${org}/gvc/${gvc}/workload/${name}`,
    CPLN_WORKLOAD_VERSION: String(facts.workloadVersion),
    CPLN_IMAGE: container.image,
    CPLN_NAME: container.name,
    ...(facts.isFirstContainer ? { CPLN_MAIN: "true" } : {}),
    HOSTNAME: facts.replica,
  };
}

/** What stands in for the sidecar: where to listen, where to call from, whom to ask for names. */
function localEnvironment(facts: InjectedFacts, nodeOptions: string): Record<string, string> {
  return {
    LISTEN_HOST: facts.address,
    SIMULATOR_ADDRESS: facts.address,
    SIMULATOR_NAME_SERVER: `${facts.nameServer.address}:${facts.nameServer.port}`,
    NODE_OPTIONS: `${nodeOptions} --require=${JSON.stringify(preload)}`.trim(),
  };
}

export type EnvironmentResult =
  | { kind: "complete"; env: Record<string, string> }
  | { kind: "secret-missing"; secret: string };

/** The document's own variables, the GVC's below them where they are inherited, and references resolved. */
export function documentEnvironment(
  store: Store,
  workload: ResourceKey,
  container: ContainerSpec,
  mayReveal: (secret: string) => boolean,
): EnvironmentResult {
  const gvc = store.get({ org: workload.org, kind: "gvc", name: workload.gvc ?? "" });
  const inherited = container.inheritEnv ? list(object(gvc?.spec).env).map(object) : [];
  const entries = [
    ...inherited.map((item) => ({ name: text(item.name) ?? "", value: String(item.value ?? "") })),
    ...container.env,
  ].filter((item) => item.name !== "");
  const env: Record<string, string> = {};
  for (const { name, value } of entries) {
    const reference = secretReference(value);
    if (reference === undefined) {
      env[name] = value;
      continue;
    }
    const revealed = mayReveal(reference.name) ? secretValue(store, workload.org, reference) : undefined;
    if (revealed === undefined) return { kind: "secret-missing", secret: reference.name };
    env[name] = revealed;
  }
  return { kind: "complete", env };
}

/** `PORT` is set where the document does not set it, to the first declared port of a standard workload. */
export function assembleEnvironment(
  container: ContainerSpec,
  facts: InjectedFacts,
  own: Record<string, string>,
): Record<string, string> {
  const first = container.ports[0];
  const port = first !== undefined && facts.type !== "stateful" ? { PORT: String(first.number) } : {};
  const local = localEnvironment(facts, own.NODE_OPTIONS ?? "");
  return { ...port, ...own, ...local, ...injectedEnvironment(container, facts) };
}

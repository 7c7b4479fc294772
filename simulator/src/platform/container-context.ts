import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ContainerContext } from "../images/catalogue.ts";
import type { ResourceKey } from "../model.ts";
import type { PlatformContext } from "./context.ts";
import { assembleEnvironment } from "./environment.ts";
import { object, text } from "./json.ts";
import { secretReference, secretValue } from "./secrets.ts";
import type { ContainerSpec } from "./spec.ts";
import type { Replica } from "./transitions/state.ts";

export interface ContainerOwner {
  key: ResourceKey;
  location: string;
  replica: Replica;
  address: string;
  token: string;
  globalEndpoint: string;
  /** The document's own variables, resolved. */
  env: Record<string, string>;
  log: ContainerContext["log"];
}

/** What an image is given to start one container; makes the folders that it names. */
export async function containerContext(
  spec: ContainerSpec,
  context: PlatformContext,
  owner: ContainerOwner,
): Promise<ContainerContext> {
  const { options, block } = context;
  const { key, location, replica, address } = owner;
  const { org, gvc = "", name } = key;
  const home = join(context.scratch, org, gvc, name, location);
  const scratch = join(home, "replicas", address, spec.name);
  await mkdir(scratch, { recursive: true });
  const gvcDocument = options.store.get({ org, kind: "gvc", name: gvc });
  const facts = {
    workload: key,
    location,
    replica: replica.name,
    address,
    token: owner.token,
    apiUrl: options.apiUrl(),
    globalEndpoint: owner.globalEndpoint,
    gvcAlias: text(object(gvcDocument).alias) ?? gvc,
    workloadVersion: replica.workloadVersion,
    isFirstContainer: replica.spec.containers[0]?.name === spec.name,
    type: replica.spec.type,
    nameServer: block.nameServer,
  };
  return {
    workload: key,
    location,
    replica: replica.name,
    container: spec.name,
    image: spec.image,
    address,
    ports: spec.ports.map((port) => port.number),
    env: assembleEnvironment(spec, facts, owner.env),
    args: spec.args,
    memoryBytes: options.memoryLimits === "off" ? 0 : spec.memoryBytes,
    scratch,
    volumes: await makeVolumes(spec, context, owner, { home, scratch }),
    clock: options.clock,
    log: owner.log,
    ...(spec.command === undefined ? {} : { command: spec.command }),
    ...(spec.workingDir === undefined ? {} : { workingDir: spec.workingDir }),
  };
}

/** A volume set outlives its replicas; a secret is a file; anything else is empty and goes with the replica. */
async function makeVolumes(
  spec: ContainerSpec,
  { options }: PlatformContext,
  { key, replica }: ContainerOwner,
  { home, scratch }: { home: string; scratch: string },
): Promise<Record<string, string>> {
  const volumes: Record<string, string> = {};
  for (const [position, { uri, path }] of spec.volumes.entries()) {
    const set = /^cpln:\/\/volumeset\/(.+)$/.exec(uri)?.[1];
    const place =
      set === undefined
        ? join(scratch, `volume-${position}`)
        : join(home, "volumes", set, String(replica.index));
    volumes[path] = place;
    const secret = secretReference(uri);
    if (secret === undefined) await mkdir(place, { recursive: true });
    else await writeFile(place, secretValue(options.store, key.org, secret) ?? "");
  }
  return volumes;
}

/**
 * A local Control Plane in this process. `startSimulator` wires the rooms together and answers a handle; disposing
 * of it ends everything that it started.
 */

import { may } from "./api/authorise.ts";
import type { ApiContext } from "./api/context.ts";
import { documentsOnly } from "./api/documents-only.ts";
import { createJournal } from "./api/journal.ts";
import { loadKinds } from "./api/load-kinds.ts";
import { type GvcSeed, seed } from "./api/seed.ts";
import { ApiServer, type Outage } from "./api/server.ts";
import { type ApiSwitches, strictSwitches } from "./api/switches.ts";
import { type Grant, Tokens } from "./api/tokens.ts";
import { Faults } from "./faults/faults.ts";
import { Recorder } from "./faults/recorder.ts";
import { builtInImages, type Image, type ImageCatalogue } from "./images/index.ts";
import type { Platform, ResourceKey, Store } from "./model.ts";
import { createPlatform, type LocalPlatform, type PlatformOptions } from "./platform/index.ts";
import { MemoryStore } from "./store/memory-store.ts";
import { SimulatorClock } from "./time/clock.ts";

/** A platform that has a life: started when the API listens, disposed after it has stopped. */
export type RunningPlatform = Platform & { start?(): Promise<void>; dispose?(): Promise<void> };

/** What a platform is made from. */
export interface PlatformSeams {
  store: Store;
  clock: SimulatorClock;
  /** Known once the API listens. */
  apiUrl: () => string;
  /** Whether a workload's identity may reveal a secret. */
  mayReveal: (workload: ResourceKey, secret: string) => boolean;
}

/** How workloads run, beyond what the simulator itself gives the platform. */
export type WorkloadOptions = Omit<PlatformOptions, "store" | "clock" | "apiUrl" | "mayReveal" | "images"> & {
  /** What image names run: the built-in ones unless told; a plain array comes before those. */
  images?: ImageCatalogue | Image[];
};

export interface SimulatorOptions {
  org?: string;
  locations?: string[];
  /** Each in all locations, unless it names its own. */
  gvcs?: (string | GvcSeed)[];
  host?: string;
  /** A free one unless told. */
  port?: number;
  clock?: SimulatorClock;
  /** Open points on the API's side; `workloads.switches` holds the platform's. */
  switches?: Partial<ApiSwitches>;
  /** Instead of a made-up one. */
  deployerToken?: string;
  workloads?: WorkloadOptions;
}

/** Another platform than the one that runs workloads as processes: `nothingRuns`, or a test's own. */
export type PlatformFactory<P extends RunningPlatform> = (seams: PlatformSeams) => P;

/** For work on documents alone: nothing is started, deployments say so. */
export const nothingRuns: PlatformFactory<Platform> = ({ store }) => documentsOnly(store);

export interface Simulator<P extends RunningPlatform = LocalPlatform> extends AsyncDisposable {
  readonly apiUrl: string;
  readonly org: string;
  /** Of a superuser: may do everything. */
  readonly deployerToken: string;
  /** A service account that may do what its grants say, and nothing else. Answers its token. */
  createToken(name: string, grants: Grant[]): string;
  readonly recorder: Recorder;
  readonly store: Store;
  readonly platform: P;
  readonly faults: Faults;
  readonly clock: SimulatorClock;
  /** May be changed at any time. */
  readonly switches: ApiSwitches;
  /** The API goes away; `up()` brings it back at the same URL. */
  down(outage?: Outage): Promise<void>;
  up(): Promise<void>;
  readonly outage: Outage | undefined;
  dispose(): Promise<void>;
}

export function startSimulator<P extends RunningPlatform>(
  options: SimulatorOptions & { platform: PlatformFactory<P> },
): Promise<Simulator<P>>;
export function startSimulator(options?: SimulatorOptions): Promise<Simulator>;
export async function startSimulator(
  options: SimulatorOptions & { platform?: PlatformFactory<RunningPlatform> } = {},
): Promise<Simulator<RunningPlatform>> {
  const {
    org = "local",
    host = "127.0.0.1",
    port = 0,
    locations = ["aws-us-west-2"],
    gvcs = ["demo"],
  } = options;
  const clock = options.clock ?? new SimulatorClock();
  const store = new MemoryStore();
  const tokens = new Tokens(store, () => clock.now());
  const switches: ApiSwitches = { ...strictSwitches, ...options.switches };
  const faults = new Faults(clock);
  const recorder = new Recorder();
  const kinds = await loadKinds();
  seed(store, { org, locations, gvcs }, clock.now());

  let server: ApiServer | undefined;
  const apiUrl = (): string => server?.url ?? `http://${host}:${port}`;
  const mayReveal = (workload: ResourceKey, secret: string): boolean => revealed(context, workload, secret);
  const seams: PlatformSeams = { store, clock, apiUrl, mayReveal };
  const platform: RunningPlatform = options.platform?.(seams) ?? processes(seams, options.workloads);
  const context: ApiContext = {
    store,
    platform,
    clock,
    kinds,
    orgs: [org],
    switches,
    tokens,
    journal: createJournal(),
    url: apiUrl,
  };
  server = new ApiServer({ context, faults, recorder }, { host, port });
  const listening = server;
  const deployerToken = tokens.create({
    org,
    name: "deployer",
    groups: ["superusers"],
    ...(options.deployerToken === undefined ? {} : { token: options.deployerToken }),
  });

  let disposed: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    faults.dispose();
    await listening.dispose();
    await platform.dispose?.();
    clock.dispose();
  };
  const dispose = (): Promise<void> => (disposed ??= end());
  try {
    await listening.listen();
    await platform.start?.();
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    get apiUrl() {
      return apiUrl();
    },
    get outage() {
      return listening.outage;
    },
    org,
    deployerToken,
    createToken: (name, grants) => tokens.create({ org, name, grants }),
    recorder,
    store,
    platform,
    faults,
    clock,
    switches,
    down: (outage) => listening.down(outage),
    up: () => listening.up(),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

function processes(seams: PlatformSeams, options: WorkloadOptions = {}): LocalPlatform {
  const { images = [] } = options;
  return createPlatform({
    ...options,
    ...seams,
    images: Array.isArray(images) ? builtInImages({ more: images }) : images,
  });
}

/** A workload sees a secret's data when its identity holds `reveal` on it. */
function revealed(context: ApiContext, workload: ResourceKey, secret: string): boolean {
  const identity = context.store.get(workload)?.spec as { identityLink?: string } | undefined;
  const link = identity?.identityLink;
  if (link === undefined) return false;
  const key = { org: workload.org, kind: "secret", name: secret };
  const need = {
    org: key.org,
    kind: "secret",
    permission: "reveal",
    link: `/org/${key.org}/secret/${secret}`,
  };
  return may({ name: link, links: [link] }, { ...need, resource: context.store.get(key) }, context);
}

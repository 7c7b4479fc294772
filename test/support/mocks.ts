/**
 * Pulumi's own mocks, with the provider's outputs filled in and everything that a program registers recorded as the
 * engine would get it.
 */
import * as pulumi from "@pulumi/pulumi";

export const ORG = "acme";
export const PROJECT = "shop";
export const STACK = "test";

export interface Registered {
  type: string;
  name: string;
  /** The parent's URN; empty for the stack's own children. */
  parent: string;
  provider: string;
  dependencies: string[];
  /** As sent: unknowns and secrets in the engine's notation. */
  inputs: Record<string, unknown>;
  /** How often outputs were registered for it. */
  outputsRegistered: number;
  options: { protect: boolean; ignoreChanges: string[]; aliases: number; retainOnDelete: boolean };
}

export interface MockOptions {
  preview?: boolean;
  /** What the platform says of a workload. */
  statuses?: Record<string, unknown>[];
  /** Answers to invokes. */
  call?: (token: string, inputs: Record<string, unknown>) => Record<string, unknown>;
}

/** What the engine sends in place of a value that it doesn't know yet. */
export const UNKNOWN = pulumi.runtime.unknownValue as unknown as string;
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

/** Begins a program of its own. Call it before anything is constructed. */
export async function startMocks(options: MockOptions = {}): Promise<Registered[]> {
  const registered: Registered[] = [];
  await pulumi.runtime.setMocks(
    {
      call: ({ token, inputs }) => options.call?.(token, inputs) ?? {},
      newResource: ({ type, name, inputs }) => ({
        id: String(reveal(inputs.name) ?? name),
        state: { ...inputs, ...computed(type, inputs, options) },
      }),
    },
    PROJECT,
    STACK,
    options.preview ?? false,
  );
  record(registered);
  return registered;
}

function computed(
  type: string,
  inputs: Record<string, unknown>,
  options: MockOptions,
): Record<string, unknown> {
  const kind = /^cpln:index\/(\w+):/.exec(type)?.[1];
  if (kind === undefined || options.preview) return {};
  const scope = kind === "policy" || kind === "gvc" ? "" : `/gvc/${reveal(inputs.gvc)}`;
  const own = { selfLink: `/org/${ORG}${scope}/${kind}/${reveal(inputs.name)}`, cplnId: `${kind}-id` };
  return kind === "workload" ? { ...own, statuses: options.statuses ?? [] } : own;
}

interface Request {
  getType(): string;
  getName(): string;
  getParent(): string;
  getProvider(): string;
  getDependenciesList(): string[];
  getObject(): { toJavaScript(): Record<string, unknown> };
  getProtect(): boolean;
  getIgnorechangesList(): string[];
  getAliasesList(): unknown[];
  getRetainondelete(): boolean;
  getUrn(): string;
}
type Handler = (request: Request, callback: unknown) => unknown;

/** Mocks tell less of a registration than the engine gets: parents, providers and dependencies are noted here. */
function record(registered: Registered[]): void {
  const monitor = pulumi.runtime.getMonitor() as unknown as Record<
    "registerResource" | "registerResourceOutputs",
    Handler
  >;
  const register = monitor.registerResource.bind(monitor);
  const outputs = monitor.registerResourceOutputs.bind(monitor);
  monitor.registerResource = (request, callback) => {
    registered.push({
      type: request.getType(),
      name: request.getName(),
      parent: request.getParent(),
      provider: request.getProvider(),
      dependencies: request.getDependenciesList(),
      inputs: request.getObject().toJavaScript(),
      outputsRegistered: 0,
      options: {
        protect: request.getProtect(),
        ignoreChanges: request.getIgnorechangesList(),
        aliases: request.getAliasesList().length,
        retainOnDelete: request.getRetainondelete(),
      },
    });
    return register(request, callback);
  };
  monitor.registerResourceOutputs = (request, callback) => {
    const name = request.getUrn().split("::").at(-1);
    const type = request.getUrn().split("::")[2]?.split("$").at(-1);
    const found = registered.find((each) => each.name === name && each.type === type);
    // A component whose constructor threw registers too, by then perhaps in another test's program.
    if (!found) return (callback as (error: null, response: object) => void)(null, {});
    found.outputsRegistered += 1;
    return outputs(request, callback);
  };
}

export const settledValue = <T>(output: pulumi.Output<T>): Promise<pulumi.Unwrap<T>> =>
  new Promise((resolve) => {
    pulumi.output(output).apply((value) => resolve(value as pulumi.Unwrap<T>));
  });

/** An output that a preview can't tell yet. */
export function unknownOutput<T>(): pulumi.Output<T> {
  type Constructor = new (
    resources: Set<pulumi.Resource>,
    value: Promise<unknown>,
    isKnown: Promise<boolean>,
    isSecret: Promise<boolean>,
    allResources: Promise<Set<pulumi.Resource>>,
  ) => pulumi.Output<T>;
  const OutputClass = pulumi.Output as unknown as Constructor;
  return new OutputClass(
    new Set(),
    Promise.resolve(undefined),
    Promise.resolve(false),
    Promise.resolve(false),
    Promise.resolve(new Set()),
  );
}

const isSecret = (value: unknown): value is { value: unknown } =>
  typeof value === "object" && value !== null && (value as Record<string, unknown>)[SIGNATURE] === SECRET;

/** Whether what was sent is marked as a secret, as a whole or in every part that holds this text. */
export function everySecret(value: unknown, text: string): boolean {
  if (isSecret(value)) return true;
  if (typeof value === "string" || typeof value === "number") return !String(value).includes(text);
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every((each) => everySecret(each, text));
}

/** What was sent, without the marks of secrets. */
export function reveal(value: unknown): unknown {
  if (isSecret(value)) return reveal(value.value);
  if (Array.isArray(value)) return value.map(reveal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, reveal(each)]));
}

/** Waits for what `registerOutputs` sends after the constructor returned. */
export async function outputsRegistered(registered: readonly Registered[], name: string): Promise<void> {
  while (!registered.find((each) => each.name === name)?.outputsRegistered) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Runs what must fail later than it was called, and gives the error that the program would have ended with. */
export async function failureOf(program: () => unknown): Promise<Error> {
  const listeners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  try {
    return await new Promise<Error>((resolve) => {
      process.on("unhandledRejection", (reason) => resolve(reason as Error));
      program();
    });
  } finally {
    // The same failure may surface once more, through another output that waits for it.
    await new Promise((resolve) => setImmediate(resolve));
    process.removeAllListeners("unhandledRejection");
    for (const listener of listeners) process.on("unhandledRejection", listener);
  }
}

import type { Clock, ResourceKey } from "../model.ts";

/** What an image name runs here. The first entry that matches wins. */
export interface Image {
  /** In words, for people: the demo prints it. */
  description: string;
  matches(image: string): boolean;
  /** From a replica's creation to its processes starting. */
  bootMs?: number;
  /** Whether the image holds `sh` and `sleep`, which the platform's own default preStop needs. */
  hasShell: boolean;
  start(context: ContainerContext): Promise<RunningContainer>;
}

export interface ContainerContext {
  workload: ResourceKey;
  location: string;
  replica: string;
  container: string;
  image: string;
  /** The replica's own address: listen there, and start outgoing connections from there. */
  address: string;
  ports: number[];
  env: Record<string, string>;
  /** From the document; an image has its own where they are absent. */
  command?: string;
  args: string[];
  workingDir?: string;
  memoryBytes: number;
  /** A folder of this container's own, gone with the simulator. */
  scratch: string;
  /** Where a mounted volume lives on this machine, by its path in the container. */
  volumes: Record<string, string>;
  clock: Clock;
  log(stream: "stdout" | "stderr", text: string): void;
}

export interface RunningContainer {
  pid?: number;
  /** Settles once, however the container ended. */
  exited: Promise<ContainerExit>;
  /** Runs a command in the container's environment: preStop, postStart, exec probes. */
  exec(command: string[]): Execution;
  signal(name: "SIGTERM" | "SIGINT"): void;
  /** Ends everything at once; settles when nothing is left. */
  kill(reason?: string): Promise<void>;
}

export interface ContainerExit {
  exitCode: number;
  /** `Completed`, `Error` or `OOMKilled`, as in a deployment's `restarts.reason`. */
  reason: string;
}

export interface Execution {
  exitCode: Promise<number>;
  kill(): void;
}

export interface ImageCatalogue {
  find(image: string): Image | undefined;
  list(): Image[];
}

/** Earlier entries win, so a test's own images go first. */
export function createCatalogue(...images: Image[]): ImageCatalogue {
  return {
    find: (name) => images.find((image) => image.matches(name)),
    list: () => [...images],
  };
}

/** `name`, `name:tag`, `registry/name:tag` and `//image/name:tag` all match `name`. */
export function matchesName(name: string): (image: string) => boolean {
  return (image) => {
    const withoutDigest = image.split("@")[0] ?? image;
    const last = withoutDigest.slice(withoutDigest.lastIndexOf("/") + 1);
    return last.split(":")[0] === name || withoutDigest.split(":")[0] === name;
  };
}

import type { DeploymentSnapshot, ProbeOutcome } from "../../proxy-image/src/core/types.ts";
import type { WriteCall } from "./core-platform.ts";
import type { Luck, Timeline } from "./core-time.ts";

/** What a connection to a target that nobody runs meets. */
export type Nobody = Exclude<ProbeOutcome, "answered" | "unready" | "unreachable">;

export interface TargetSettings {
  ports: readonly number[];
  nobody: Nobody;
  /** The deployment goes on to be called ready while the replicas of a suspended target drain. */
  readyWhileDraining: boolean;
  /** For so long after a port has come up, and from when it is to end, it says that it does not serve. */
  unreadyMs: number;
  unreadyWhileDraining: boolean;
}

/** The replicas that one un-suspend brought up. */
export interface Generation {
  readonly number: number;
  readonly bornAt: number;
  /** When each port starts to answer; never is infinite. */
  readonly upAt: Map<number, number>;
  endedAt: number | undefined;
  diesAt: number;
  /** The write that ended it, if a proxy did. */
  endedBy: WriteCall | undefined;
  /** A newer generation was ended by somebody else than the one who ended this. */
  overtaken: boolean;
  /** Since when the platform says why it does not come up. */
  failure: DeploymentSnapshot["failure"];
}

/** What the next generation is going to be like. */
export interface Boots {
  /** Delay of each port in the order of the ports; the last one counts for the rest. */
  delaysMs: readonly number[];
  fails: "image_pull" | "crash_loop" | "quota" | "unschedulable" | undefined;
}

/** The workload's replicas: generations that boot, answer, drain and die. */
export class Target {
  readonly generations: Generation[] = [];
  boots: Boots = { delaysMs: [1_000], fails: undefined };
  private born = 0;

  private readonly time: Timeline;
  private readonly luck: Luck;
  readonly settings: TargetSettings;
  private readonly onDeath: (generation: Generation) => void;
  private readonly onChange: () => void;

  constructor(
    time: Timeline,
    luck: Luck,
    settings: TargetSettings,
    /** A generation's last replica is gone, with every connection to it. */
    onDeath: (generation: Generation) => void,
    /** The deployment has something new to say. */
    onChange: () => void,
  ) {
    this.time = time;
    this.luck = luck;
    this.settings = settings;
    this.onDeath = onDeath;
    this.onChange = onChange;
  }

  get current(): Generation | undefined {
    const newest = this.generations.at(-1);
    return newest?.endedAt === undefined ? newest : undefined;
  }

  start(): void {
    const { now } = this.time;
    const { delaysMs, fails } = this.boots;
    const upAt = new Map<number, number>();
    for (const [index, port] of this.settings.ports.entries()) {
      const delay = delaysMs[index] ?? delaysMs.at(-1) ?? 0;
      upAt.set(port, fails ? Number.POSITIVE_INFINITY : now + delay);
    }
    const generation: Generation = {
      number: ++this.born,
      bornAt: now,
      upAt,
      endedAt: undefined,
      diesAt: Number.POSITIVE_INFINITY,
      endedBy: undefined,
      overtaken: false,
      failure: undefined,
    };
    this.generations.push(generation);
    if (this.generations.length > 6) this.generations.shift();
    if (fails) {
      this.time.at(now + this.luck.between(500, 8_000), () => {
        if (firstUp(generation) !== Number.POSITIVE_INFINITY) return;
        generation.failure = { reason: fails, message: `simulated ${fails}` };
        this.onChange();
      });
    } else {
      this.time.at(firstUp(generation), this.onChange);
    }
  }

  end(graceMs: number, endedBy: WriteCall | undefined): void {
    const generation = this.current;
    if (!generation) return;
    const { now } = this.time;
    generation.endedAt = now;
    generation.diesAt = now + graceMs;
    generation.endedBy = endedBy;
    for (const older of this.generations) {
      if (older !== generation && older.endedBy?.by !== endedBy?.by) older.overtaken = true;
    }
    for (const [port, up] of generation.upAt) {
      if (up > now) generation.upAt.set(port, Number.POSITIVE_INFINITY);
    }
    this.time.at(generation.diesAt, () => {
      this.onDeath(generation);
      this.onChange();
    });
  }

  /** What made the current generation fail is gone: it boots from here. */
  heal(): void {
    this.boots = { delaysMs: this.boots.delaysMs, fails: undefined };
    const generation = this.current;
    if (!generation) return;
    for (const [index, port] of this.settings.ports.entries()) {
      const delay = this.boots.delaysMs[index] ?? this.boots.delaysMs.at(-1) ?? 0;
      const up = generation.upAt.get(port) ?? Number.POSITIVE_INFINITY;
      if (up > this.time.now + delay) generation.upAt.set(port, this.time.now + delay);
    }
    generation.failure = undefined;
    this.time.at(firstUp(generation), this.onChange);
    this.onChange();
  }

  /** Which generation takes a connection made now, or undefined where nobody would ever answer it. */
  answering(port: number): Generation | undefined {
    const { now } = this.time;
    for (let index = this.generations.length - 1; index >= 0; index -= 1) {
      const generation = this.generations[index] as Generation;
      // Once a newer generation has been up, nothing is sent to older ones.
      if (firstUp(generation) > Math.min(now, generation.diesAt)) continue;
      const up = (generation.upAt.get(port) ?? Number.POSITIVE_INFINITY) <= now;
      return now < generation.diesAt && up ? generation : undefined;
    }
    return undefined;
  }

  /** Whether who is connected by a generation now is served, or told that it does not serve. */
  serves(generation: Generation, port: number): boolean {
    const { unreadyMs, unreadyWhileDraining } = this.settings;
    if (generation.endedAt !== undefined && unreadyWhileDraining) return false;
    return this.time.now >= (generation.upAt.get(port) ?? Number.POSITIVE_INFINITY) + unreadyMs;
  }

  /** Which generation would serve whoever connected now. */
  serving(port: number): Generation | undefined {
    const generation = this.answering(port);
    return generation && this.serves(generation, port) ? generation : undefined;
  }

  deployment(version: number): DeploymentSnapshot {
    const { now } = this.time;
    const { current } = this;
    const draining = this.settings.readyWhileDraining
      ? this.generations.some((generation) => firstUp(generation) <= now && now < generation.diesAt)
      : false;
    return {
      lastProcessedVersion: version,
      ready: current ? firstUp(current) <= now : draining,
      failure: current?.failure,
    };
  }
}

export function firstUp(generation: Generation): number {
  let first = Number.POSITIVE_INFINITY;
  for (const up of generation.upAt.values()) first = Math.min(first, up);
  return first;
}

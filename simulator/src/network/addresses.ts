import { randomInt } from "node:crypto";
import dgram from "node:dgram";

/**
 * The name server's port, the same in every block: holding it is what makes a block ours. Below the ports that the
 * kernel hands out by itself, one of which would block every block at once.
 */
const claimPort = 15_353;
const tries = 60;

/**
 * One simulator's share of 127.0.0.0/8: a /16 that no other simulator on the machine uses, because each binds the
 * same UDP port on its block's first address, and the kernel gives that to one only, for as long as it lives.
 */
export class AddressBlock {
  /** Bound and ours: the name server answers on it. */
  readonly claim: dgram.Socket;
  readonly #prefix: string;
  #next = 256;

  private constructor(claim: dgram.Socket, prefix: string) {
    this.claim = claim;
    this.#prefix = prefix;
  }

  static async claim(): Promise<AddressBlock> {
    let last: unknown;
    // From a random place on, so that many simulators at once rarely ask for the same.
    const start = randomInt(1, 255);
    for (let offset = 0; offset < tries; offset += 1) {
      const second = ((start + offset) % 254) + 1;
      const prefix = `127.${second}`;
      try {
        return new AddressBlock(await bind(`${prefix}.0.53`), prefix);
      } catch (error) {
        last = error;
        if (code(error) === "EADDRNOTAVAIL") throw new AddressesUnavailable();
      }
    }
    throw new Error(`no free block of loopback addresses: ${String(last)}`);
  }

  get nameServer(): { address: string; port: number } {
    return { address: `${this.#prefix}.0.53`, port: claimPort };
  }

  get range(): string {
    return `${this.#prefix}.0.0/16`;
  }

  /** A fresh address. None is given twice, so that nobody is mistaken for a predecessor. */
  allocate(): string {
    let number = this.#next;
    // .0 and .255 look like networks and broadcasts to people.
    if (number % 256 === 0) number += 1;
    if (number % 256 === 255) number += 2;
    if (number > 65_534) throw new Error("this simulator has used up its loopback addresses");
    this.#next = number + 1;
    return `${this.#prefix}.${number >> 8}.${number & 255}`;
  }

  /** Whether an address belongs to this simulator's workloads. */
  holds(address: string): boolean {
    return address.startsWith(`${this.#prefix}.`);
  }

  async release(): Promise<void> {
    await new Promise<void>((resolve) => this.claim.close(() => resolve()));
  }
}

export class AddressesUnavailable extends Error {
  constructor() {
    super(
      "this machine cannot bind 127.x.y.z addresses other than 127.0.0.1, which the local platform needs " +
        "to tell workloads apart; run it on Linux, or add the addresses to the loopback interface",
    );
    this.name = "AddressesUnavailable";
  }
}

function bind(address: string): Promise<dgram.Socket> {
  const socket = dgram.createSocket("udp4");
  return new Promise((resolve, reject) => {
    socket.once("error", (error) => {
      socket.close();
      reject(error);
    });
    socket.bind(claimPort, address, () => {
      socket.removeAllListeners("error");
      resolve(socket);
    });
  });
}

function code(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/** `::ffff:127.1.2.3` and `127.1.2.3` are the same peer. */
export function plainAddress(address: string | undefined): string {
  const lower = (address ?? "").toLowerCase();
  return lower.startsWith("::ffff:") && lower.includes(".") ? lower.slice(7) : lower;
}

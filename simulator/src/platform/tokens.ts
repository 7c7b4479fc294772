import { randomBytes } from "node:crypto";
import type { ResourceKey } from "../model.ts";
import { plainAddress } from "../network/addresses.ts";
import type { MeshCaller } from "../network/mesh.ts";

interface Holder extends MeshCaller {
  address: string;
}

/** Who holds which token and lives at which address. A token is worth nothing from any other address. */
export class Callers {
  readonly #byToken = new Map<string, Holder>();
  readonly #byAddress = new Map<string, Holder>();

  admit(workload: ResourceKey, location: string, address: string): string {
    const token = randomBytes(32).toString("base64url");
    const holder = { workload, location, address };
    this.#byToken.set(token, holder);
    this.#byAddress.set(address, holder);
    return token;
  }

  dismiss(token: string): void {
    const holder = this.#byToken.get(token);
    if (holder === undefined) return;
    this.#byToken.delete(token);
    this.#byAddress.delete(holder.address);
  }

  at(address: string): Holder | undefined {
    return this.#byAddress.get(plainAddress(address));
  }

  attest(token: string, remoteAddress: string): { workload: ResourceKey; attested: boolean } | undefined {
    const holder = this.#byToken.get(token);
    if (holder === undefined) return undefined;
    return { workload: holder.workload, attested: holder.address === plainAddress(remoteAddress) };
  }
}

/** Tokens of people and service accounts. Workload tokens are the platform's to know. */
import { randomBytes } from "node:crypto";
import type { JsonObject, Store } from "../model.ts";
import type { Principal } from "../permissions/decide.ts";
import { newResource } from "./envelope.ts";

export interface Grant {
  /** `workload`, `policy`, … */
  kind: string;
  permissions: string[];
  /** Full links; everything of the kind when left out (which `create` needs). */
  targetLinks?: string[];
}

export interface TokenOptions {
  /** Of the service account. */
  name: string;
  org: string;
  /** Groups it is in: `superusers` may do everything, `viewers` may look. */
  groups?: string[];
  /** Policies written for it, so that what it may do is in the store like anyone's rights. */
  grants?: Grant[];
  /** A given token instead of a made-up one. */
  token?: string;
}

export class Tokens {
  readonly #known = new Map<string, Principal>();
  readonly #store: Store;
  readonly #now: () => number;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  find(token: string): Principal | undefined {
    return this.#known.get(token);
  }

  /** Makes a service account's token; its shape is that of the platform's keys. */
  create(options: TokenOptions): string {
    const { name, org, groups = [], grants = [] } = options;
    const link = `/org/${org}/serviceaccount/${name}`;
    const secret = Buffer.from(`${org}.${name}.${randomBytes(9).toString("hex")}`).toString("base64url");
    const token = options.token ?? `s.${secret}`;
    this.#known.set(token, {
      name: link,
      links: [link, ...groups.map((group) => `/org/${org}/group/${group}`)],
    });
    for (const grant of grants) this.#write(org, `grant-${name}-${grant.kind}`, grant, link);
    return token;
  }

  revoke(token: string): void {
    this.#known.delete(token);
  }

  #write(org: string, name: string, grant: Grant, principal: string): void {
    const body: JsonObject = {
      targetKind: grant.kind,
      origin: "default",
      ...(grant.targetLinks ? { targetLinks: grant.targetLinks } : { target: "all" }),
      bindings: [{ permissions: [...new Set(grant.permissions)].sort(), principalLinks: [principal] }],
    };
    this.#store.put({ org, kind: "policy", name }, newResource("policy", name, body, this.#now()));
  }
}

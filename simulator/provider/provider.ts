/** The provider's operations in plain values: what the engine asks, without gRPC. */
import type { Json, JsonObject } from "../src/model.ts";
import { ApiError, Client, type Surroundings } from "./client.ts";
import { decode, decodeFields } from "./mapping/decode.ts";
import { type Change, diff } from "./mapping/diff.ts";
import { encode } from "./mapping/encode.ts";
import { check, fill } from "./mapping/inputs.ts";
import type { Failure, ResourceKind } from "./mapping/kind.ts";
import { unknown } from "./mapping/values.ts";
import { kinds, lookups } from "./registry.ts";
import { type Settings, settingsFrom } from "./settings.ts";

export interface State {
  id: string;
  inputs: JsonObject;
  outputs: JsonObject;
}

const byToken = <T extends { token: string }>(list: readonly T[], token: string): T => {
  const found = list.find((item) => item.token === token);
  if (found === undefined) throw new Error(`the local cpln provider knows no ${token}`);
  return found;
};

const collection = (kind: ResourceKind, org: string, gvc: Json | undefined) =>
  kind.scope === "gvc" ? `/org/${org}/gvc/${gvc}/${kind.kind}` : `/org/${org}/${kind.kind}`;

/** What a create or an update can only say afterwards. */
const computed = (kind: ResourceKind) =>
  Object.entries(kind.fields)
    .filter(([, field]) => field.computed)
    .map(([name]) => name);

export class Provider {
  private settings: () => Settings = settingsFrom({}, process.env);
  private readonly around: Surroundings | undefined;

  constructor(around?: Surroundings) {
    this.around = around;
  }

  configure(args: JsonObject, environment: Record<string, string | undefined> = process.env): void {
    this.settings = settingsFrom(args, environment);
  }

  private client(): { client: Client; org: string } {
    const { org, endpoint, token } = this.settings();
    return { client: new Client({ endpoint, token }, this.around), org };
  }

  check(token: string, news: JsonObject, olds: JsonObject, autoName: () => string) {
    const kind = byToken(kinds, token);
    const inputs = fill(kind, news, news.name ?? olds.name ?? autoName());
    const failures: Failure[] = check(kind, inputs);
    return { inputs, failures };
  }

  diff(token: string, oldInputs: JsonObject, news: JsonObject): Change[] {
    return diff(byToken(kinds, token), oldInputs, news);
  }

  previewCreate(token: string, inputs: JsonObject): JsonObject {
    const kind = byToken(kinds, token);
    return { ...inputs, ...Object.fromEntries(computed(kind).map((name) => [name, unknown])) };
  }

  async create(token: string, inputs: JsonObject): Promise<State> {
    const kind = byToken(kinds, token);
    const { client, org } = this.client();
    const path = collection(kind, org, inputs.gvc);
    try {
      await client.create(path, encode(kind, inputs, org));
    } catch (error) {
      if (error instanceof ApiError && error.status === 409)
        throw new Error(
          `${kind.kind} "${inputs.name}" already exists: import it to bring it under management`,
        );
      throw error;
    }
    return this.readItem(kind, `${path}/${inputs.name}`, inputs, client, org);
  }

  previewUpdate(token: string, olds: JsonObject, news: JsonObject): JsonObject {
    const kind = byToken(kinds, token);
    return { ...news, ...Object.fromEntries(computed(kind).map((name) => [name, olds[name]])) };
  }

  async update(token: string, id: string, inputs: JsonObject): Promise<State> {
    const kind = byToken(kinds, token);
    const { client, org } = this.client();
    const path = `${collection(kind, org, inputs.gvc)}/${id}`;
    await client.patch(path, kind.patch(encode(kind, inputs, org)));
    return this.readItem(kind, path, inputs, client, org);
  }

  /** Undefined: it is gone. An import's `id` is `GVC:NAME` for what lives in a GVC. */
  async read(token: string, id: string, oldInputs: JsonObject, olds: JsonObject): Promise<State | undefined> {
    const kind = byToken(kinds, token);
    const { client, org } = this.client();
    const [name = id, gvc] = kind.scope === "gvc" && id.includes(":") ? id.split(":").reverse() : [id];
    const owner = gvc ?? oldInputs.gvc ?? olds.gvc;
    if (kind.scope === "gvc" && owner === undefined)
      throw new Error(`"${id}" does not say which GVC it is in: a ${kind.kind} is imported as GVC:NAME`);
    const prior = kind.scope === "gvc" ? { ...oldInputs, gvc: owner } : oldInputs;
    try {
      return await this.readItem(kind, `${collection(kind, org, owner)}/${name}`, prior, client, org);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  async delete(token: string, id: string, olds: JsonObject): Promise<void> {
    const kind = byToken(kinds, token);
    const { client, org } = this.client();
    await client.delete(`${collection(kind, org, olds.gvc)}/${id}`);
  }

  async invoke(token: string, args: JsonObject): Promise<JsonObject> {
    const lookup = byToken(lookups, token);
    const { client, org } = this.client();
    const document = await client.get(lookup.path(args, org));
    return decodeFields(lookup.result, document, args, org, "outputs");
  }

  private async readItem(
    kind: ResourceKind,
    path: string,
    prior: JsonObject,
    client: Client,
    org: string,
  ): Promise<State> {
    const document = await client.get(path + (kind.readSuffix ?? ""));
    return { id: String(document.name), ...decode(kind, document, prior, org) };
  }
}

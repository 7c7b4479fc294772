/** The platform's API as the public provider calls it: no versions, no polling, three codes that mean success. */
import type { Json, JsonObject } from "../src/model.ts";
import { isObject } from "./mapping/values.ts";

export class ApiError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface ClientOptions {
  endpoint: string;
  token: string;
}

/** What a test takes the place of: the network, and the time between attempts. */
export interface Surroundings {
  fetch: typeof fetch;
  wait: (milliseconds: number) => Promise<void>;
}

const attempts = 5;
const firstWaitMs = 2_000;
const timeoutMs = 90_000;
const success = [200, 201, 202];

const real: Surroundings = {
  fetch: (...args) => fetch(...args),
  wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

const bearer = (token: string) => `Bearer ${token.replace(/^bearer /i, "")}`;

export class Client {
  private readonly options: ClientOptions;
  private readonly around: Surroundings;

  constructor(options: ClientOptions, around: Surroundings = real) {
    this.options = options;
    this.around = around;
  }

  async get(path: string): Promise<JsonObject> {
    const answer = await this.call("GET", path);
    return isObject(answer) ? answer : {};
  }

  create(path: string, body: JsonObject): Promise<Json> {
    return this.retrying([429], "POST", path, body);
  }

  patch(path: string, body: JsonObject): Promise<Json> {
    return this.retrying([429], "PATCH", path, body);
  }

  delete(path: string): Promise<Json> {
    return this.retrying([429, 409], "DELETE", path);
  }

  private async retrying(again: number[], method: string, path: string, body?: JsonObject): Promise<Json> {
    let waitMs = firstWaitMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.call(method, path, body);
      } catch (error) {
        const worthIt =
          error instanceof ApiError && again.includes(error.status) && !error.message.includes("quota");
        if (!worthIt || attempt === attempts) throw error;
        await this.around.wait(waitMs);
        waitMs *= 2;
      }
    }
  }

  private async call(method: string, path: string, body?: JsonObject): Promise<Json> {
    const { endpoint, token } = this.options;
    const response = await this.around.fetch(endpoint.replace(/\/$/, "") + path, {
      method,
      headers: {
        authorization: bearer(token),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!success.includes(response.status))
      throw new ApiError(response.status, `status: ${response.status}, body: ${text}`);
    return text === "" ? null : JSON.parse(text);
  }
}

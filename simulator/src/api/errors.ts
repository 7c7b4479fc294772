/** The API's failures: one catalogue, so that statuses, codes and texts are told in one place. */
import { randomUUID } from "node:crypto";
import type { Problem } from "../documents/schema.ts";
import type { Json, JsonObject } from "../model.ts";

export const errorCodes = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "CONFLICT",
  429: "TOO_MANY_REQUESTS",
  500: "INTERNAL_SERVER_ERROR",
  501: "NOT_IMPLEMENTED",
  502: "BAD_GATEWAY",
  503: "SERVICE_UNAVAILABLE",
  504: "GATEWAY_TIMEOUT",
} as const;

export class ApiError extends Error {
  readonly status: number;
  readonly details: Json;
  readonly headers: { readonly [name: string]: string };
  /** Replaces the usual body: an open point of the platform, such as what a 409 holds. */
  readonly body: JsonObject | undefined;

  constructor(
    status: number,
    message: string,
    more: { details?: Json; headers?: { [name: string]: string }; body?: JsonObject } = {},
  ) {
    super(message);
    this.status = status;
    this.details = more.details ?? {};
    this.headers = more.headers ?? {};
    this.body = more.body;
  }

  toBody(): JsonObject {
    return this.body ?? errorBody(this.status, this.message, this.details);
  }
}

export const errorBody = (status: number, message: string, details: Json = {}): JsonObject => ({
  status,
  message,
  code: (errorCodes as { [status: number]: string })[status] ?? "ERROR",
  details,
  id: randomUUID(),
});

export const invalid = (message: string, details?: Json): ApiError =>
  new ApiError(400, message, details === undefined ? {} : { details });

export const invalidDocument = (problems: readonly Problem[]): ApiError =>
  invalid(
    problems.map((problem) => problem.message).join(". "),
    problems.map(({ path, message }) => ({ path, message })),
  );

export const badToken = (): ApiError => new ApiError(401, "The token is not valid");
export const denied = (message: string): ApiError => new ApiError(403, message);
export const notFound = (link: string): ApiError => new ApiError(404, `${link} does not exist`);
export const conflict = (message: string, details?: Json, body?: JsonObject): ApiError =>
  new ApiError(409, message, { ...(details === undefined ? {} : { details }), ...(body ? { body } : {}) });
export const notImplemented = (what: string): ApiError =>
  new ApiError(501, `${what} is not implemented by the local Control Plane`);

/** An API of prepared answers, in place of the network. */
import type { Surroundings } from "../../../simulator/provider/client.ts";
import type { Json, JsonObject } from "../../../simulator/src/model.ts";

export interface Call {
  method: string;
  url: string;
  authorization: string | null;
  body: Json | undefined;
}

/** A status alone, or a status with a body. */
export type Answer = number | [status: number, body: JsonObject];

export function fakeApi(...answers: Answer[]) {
  const calls: Call[] = [];
  const waits: number[] = [];
  const around: Surroundings = {
    fetch: async (input, init) => {
      const answer = answers[calls.length];
      const headers = new Headers(init?.headers);
      calls.push({
        method: init?.method ?? "GET",
        url: String(input),
        authorization: headers.get("authorization"),
        body: typeof init?.body === "string" ? JSON.parse(init.body) : undefined,
      });
      if (answer === undefined) throw new Error(`nobody expected call ${calls.length}, to ${String(input)}`);
      const [status, body] = typeof answer === "number" ? [answer, undefined] : answer;
      return new Response(body === undefined ? null : JSON.stringify(body), { status });
    },
    wait: async (milliseconds) => {
      waits.push(milliseconds);
    },
  };
  return {
    around,
    calls,
    waits,
    lines: () => calls.map(({ method, url }) => `${method} ${new URL(url).pathname}`),
  };
}

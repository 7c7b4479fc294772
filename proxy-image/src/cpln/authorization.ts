import { asObject } from "./coerce";
import type { HttpAnswer } from "./http";

type Send = (authorization: string) => Promise<HttpAnswer>;

/**
 * Sources disagree whether the platform takes a workload's token bare or behind `Bearer`. The bare form goes first;
 * when a call is denied the other form is tried once, and the one that works is remembered. While both are denied,
 * calls take turns with one form each, so that a denial does not double the calls.
 */
export class Authorization {
  private form: "raw" | "bearer" = "raw";
  private bothDenied = false;
  /** A denial that says who was denied: of more use than "anonymous", which the wrong form earns. */
  private telling: HttpAnswer | undefined;
  private readonly token: string;

  constructor(token: string) {
    this.token = token;
  }

  async call(send: Send): Promise<HttpAnswer> {
    const first = await this.attempt(send);
    if (!denied(first)) return this.accepted(first);
    if (this.bothDenied) return this.telling ?? first;
    const second = await this.attempt(send);
    if (!denied(second)) return this.accepted(second);
    this.bothDenied = true;
    return this.telling ?? second;
  }

  private async attempt(send: Send): Promise<HttpAnswer> {
    const { form } = this;
    const answer = await send(form === "raw" ? this.token : `Bearer ${this.token}`);
    if (denied(answer)) {
      this.form = form === "raw" ? "bearer" : "raw";
      if (!anonymous(answer)) this.telling = answer;
    }
    return answer;
  }

  private accepted(answer: HttpAnswer): HttpAnswer {
    // Only an answer of the platform shows that the form is right.
    if (answer.ok) {
      this.bothDenied = false;
      this.telling = undefined;
    }
    return answer;
  }
}

function denied(answer: HttpAnswer): boolean {
  return answer.ok && (answer.response.status === 401 || answer.response.status === 403);
}

function anonymous(answer: HttpAnswer): boolean {
  if (!answer.ok) return false;
  return (
    answer.response.status === 401 || /anonymous/i.test(String(asObject(answer.response.body).message ?? ""))
  );
}

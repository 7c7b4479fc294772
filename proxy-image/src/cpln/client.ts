import type { PlatformSettings } from "../../../src/contract/settings";
import { type Clock, systemClock } from "../runtime/clock";
import { type Answer, failed, type TargetApi } from "./api";
import { Authorization } from "./authorization";
import { asNumber, asObject } from "./coerce";
import { parseDeployment } from "./deployment";
import { failureOfResponse } from "./failure";
import { type HttpCall, httpCall } from "./http";
import { parseWorkload } from "./workload";

/** The platform's API, as the proxy's own identity. The only place that knows the token. */
export class CplnClient {
  private readonly authorization: Authorization;
  private readonly platform: PlatformSettings;
  private readonly clock: Clock;

  constructor(platform: PlatformSettings, clock: Clock = systemClock) {
    this.platform = platform;
    this.clock = clock;
    this.authorization = new Authorization(platform.token);
  }

  target({ gvc, workload }: { gvc: string; workload: string }): TargetApi {
    const { org, location } = this.platform;
    const path = `/org/${segment(org)}/gvc/${segment(gvc)}/workload/${segment(workload)}`;
    const deployment = location === undefined ? "/deployment" : `/deployment/${segment(location)}`;
    return {
      readWorkload: async () => understood(await this.call("GET", path), parseWorkload, "workload"),
      readDeployment: async () =>
        understood(await this.call("GET", path + deployment), parseDeployment, "deployment"),
      writeSuspend: async (suspend, version) => {
        const body = { ...(version === undefined ? {} : { version }), spec: { defaultOptions: { suspend } } };
        const answer = await this.call("PATCH", path, JSON.stringify(body));
        return answer.ok ? { ok: true, value: asNumber(asObject(answer.value).version) } : answer;
      },
    };
  }

  private async call(method: HttpCall["method"], path: string, body?: string): Promise<Answer<unknown>> {
    const url = new URL(this.platform.endpoint + path);
    const answer = await this.authorization.call((authorization) =>
      httpCall({ method, url, authorization, body }, this.clock),
    );
    if (!answer.ok) return answer;
    const { response } = answer;
    if (response.status >= 200 && response.status < 300) return { ok: true, value: response.body };
    return { ok: false, failure: failureOfResponse(response) };
  }
}

const segment = encodeURIComponent;

function understood<T>(
  answer: Answer<unknown>,
  parse: (body: unknown) => T | undefined,
  what: string,
): Answer<T> {
  if (!answer.ok) return answer;
  const value = parse(answer.value);
  return value === undefined ? failed("invalid", `the answer is no ${what}`) : { ok: true, value };
}

import type { ProtocolName } from "../../../src/contract/readiness";
import type { PortMapping, Readiness, WakeOn } from "../../../src/contract/settings";
import { amqp } from "./amqp";
import { banner } from "./banner";
import { custom } from "./custom";
import { ftp } from "./ftp";
import { http } from "./http";
import { imap } from "./imap";
import { memcached } from "./memcached";
import { minecraft } from "./minecraft";
import { mqtt } from "./mqtt";
import { mysql } from "./mysql";
import { pop3 } from "./pop3";
import { postgres } from "./postgres";
import type { Fit, Place, Protocol } from "./protocol";
import { redis } from "./redis";
import { smtp } from "./smtp";
import { ssh } from "./ssh";
import { tls } from "./tls";

type Of<K extends string> = Extract<Readiness, { kind: K }>;

/** One entry a protocol of the contract; each is a file of its own. */
const PROTOCOLS: { [K in ProtocolName]: (readiness: Of<K>, place: Place) => Protocol } = {
  ssh,
  smtp,
  ftp,
  imap,
  pop3,
  mysql,
  postgres,
  redis,
  mqtt,
  amqp,
  http,
  tls,
  minecraft,
  memcached,
};

/** How a target's port is asked. What the platform answers for, and what clients' own bytes prove, ask nothing. */
export function protocolOf(
  { readiness, target }: Pick<PortMapping, "readiness" | "target">,
  host: string,
): Protocol {
  switch (readiness.kind) {
    case "banner":
      return banner(readiness);
    case "custom":
      return custom(readiness);
    case "replay":
      return { clientFirst: true, judge: anyByte, repeatable: (sent) => sent.length <= readiness.bytes };
    case "platform":
      return { clientFirst: true, judge: anyByte };
    default: {
      const make = PROTOCOLS[readiness.kind] as (readiness: Readiness, place: Place) => Protocol;
      return make(readiness, { host, port: target });
    }
  }
}

const anyByte: Protocol["judge"] = (bytes) => (bytes.length > 0 ? "ready" : "more");

/** Whether what a client has sent so far is reason to wake its target. */
export function fitOf({ fits }: Protocol, wakeOn: WakeOn, bytes: Buffer): Fit {
  if (wakeOn === "connect") return "fits";
  if (bytes.length === 0) return "more";
  return wakeOn === "payload" || fits === undefined ? "fits" : fits(bytes);
}

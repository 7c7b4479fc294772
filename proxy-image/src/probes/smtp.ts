import type { Protocol } from "./protocol";
import { judgeReply } from "./reply-code";

/** 5xx: up, and it has something to say to this client. 4xx is what a server says while it can't serve anybody. */
export const smtp = (): Protocol => ({
  clientFirst: false,
  judge: (bytes) => judgeReply(bytes, (code) => (code >= 200 && code < 300) || code >= 500),
});

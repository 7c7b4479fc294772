import type { Protocol } from "./protocol";
import { judgeReply } from "./reply-code";

/** 120 asks to wait; 421 is what servers say when their limit of clients is reached. */
export const ftp = (): Protocol => ({
  clientFirst: false,
  judge: (bytes) => judgeReply(bytes, (code) => code >= 200),
});

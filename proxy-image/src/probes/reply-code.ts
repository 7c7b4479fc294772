import type { Judgement } from "./protocol";

/** A three-digit reply, as SMTP and FTP begin: `220 ready`, or `220-` for the first of several lines. */
export function replyCode(bytes: Buffer): number | "more" | "none" {
  const text = bytes.toString("latin1", 0, 4);
  if (!/^\d{0,3}$|^\d{3}[ \-\r\n]$/.test(text)) return "none";
  return text.length < 4 ? "more" : Number(text.slice(0, 3));
}

export function judgeReply(bytes: Buffer, judge: (code: number) => boolean): Judgement {
  const code = replyCode(bytes);
  if (code === "more") return "more";
  return code !== "none" && judge(code) ? "ready" : "not-ready";
}

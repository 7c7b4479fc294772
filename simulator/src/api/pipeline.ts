/**
 * A call's way through the API, in this order:
 *
 *   record        so that nothing goes unseen, not even what fails below
 *   route         which operation is it; what isn't implemented ends here (501)
 *   authenticate  who calls; a wrong token ends here (401). Before the first stop point, because a call that is held
 *                 back was its caller's while the caller was alive
 *   ── received ──
 *   authorise     may this principal do this to that (403)? Before any look at the body or at existence, so that
 *                 an outsider learns nothing
 *   validate      is the change sound (400, 404, 409)? Plans it, writes nothing. The plan may name further rights
 *                 (load balancer, linked identity), which are demanded at once
 *   handle        writes
 *   ── applied ──
 *   answer        whatever happened, in the platform's shape
 *   ── answered ──
 *
 * From authorise to handle nothing awaits: two calls never mix, as if each were a transaction.
 */
import type { CallRecord } from "../faults/call.ts";
import type { Ending, Faults, Verdict } from "../faults/faults.ts";
import type { Recorder } from "../faults/recorder.ts";
import { anonymous, type Principal } from "../permissions/decide.ts";
import { authenticate, CutOff, splitHeader } from "./authenticate.ts";
import { demand } from "./authorise.ts";
import type { ApiContext } from "./context.ts";
import { ApiError, errorBody } from "./errors.ts";
import type { Answer, Operation, Request } from "./exchange.ts";
import { route } from "./route.ts";

export interface Reply {
  /** Sends; resolves when the answer has left or its taker has gone. */
  answer(answer: Answer): Promise<"answered" | "gone">;
  reset(): void;
}

export interface PipelineParts {
  readonly context: ApiContext;
  readonly faults: Faults;
  readonly recorder: Recorder;
}

export async function runCall(
  request: Request,
  userAgent: string | undefined,
  reply: Reply,
  parts: PipelineParts,
): Promise<void> {
  const { context, faults, recorder } = parts;
  const call = record(request, userAgent, parts);
  let verdict: Verdict;
  let finish: () => Answer;
  try {
    const operation = route(request, context);
    call.operation = operation.name;
    const principal = operation.open ? anonymous : authenticate(request, context);
    call.principal = principal.name;
    finish = () => handle(operation, principal, context);
  } catch (error) {
    if (error instanceof CutOff) return end(call, { type: "reset" }, reply, parts, "cut");
    finish = () => {
      throw error;
    };
  }
  recorder.tell(call);
  verdict = await faults.pass("received", call);
  if (verdict.type === "late") {
    const { until } = verdict;
    await end(call, verdict.end, reply, parts);
    call.late = true;
    verdict = await until;
  }
  if (verdict.type === "answer" || verdict.type === "reset") return end(call, verdict, reply, parts);
  const answer = settle(finish);
  call.appliedAt = context.clock.now();
  verdict = await faults.pass("applied", call);
  await end(
    call,
    verdict.type === "answer" || verdict.type === "reset" ? verdict : { type: "answer", answer },
    reply,
    parts,
  );
}

/** authorise → validate → handle, in one go. */
function handle(operation: Operation, principal: Principal, context: ApiContext): Answer {
  const need = operation.need?.();
  if (need) demand(principal, need, context);
  const plan = operation.plan(principal);
  for (const further of plan.needs) demand(principal, further, context);
  return plan.commit();
}

function settle(finish: () => Answer): Answer {
  try {
    return finish();
  } catch (error) {
    if (error instanceof ApiError)
      return { status: error.status, body: error.toBody(), headers: error.headers };
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { status: 500, body: errorBody(500, `The simulator has a defect: ${text}`) };
  }
}

/** The first stage. */
export function record(
  request: Request,
  userAgent: string | undefined,
  { context, recorder }: PipelineParts,
): CallRecord {
  return recorder.add({
    at: context.clock.now(),
    method: request.method,
    path: request.path,
    query: request.query,
    headerForm: splitHeader(request.authorization).form,
    remoteAddress: request.remoteAddress,
    userAgent,
    body: request.body,
  });
}

/** The last stage. A call whose caller is already served (a late one) only notes that it was applied. */
async function end(
  call: CallRecord,
  ending: Ending,
  reply: Reply,
  { context, faults, recorder }: PipelineParts,
  outcome?: CallRecord["outcome"],
): Promise<void> {
  if (call.outcome === "open") {
    if (ending.type === "reset") {
      reply.reset();
      call.outcome = outcome ?? "reset";
    } else {
      call.status = ending.answer.status;
      call.answer = ending.answer.body;
      call.notImplemented = ending.answer.status === 501;
      call.outcome = await reply.answer(ending.answer);
    }
    call.answeredAt = context.clock.now();
    if (call.outcome === "gone" && call.appliedAt !== undefined) call.late = true;
  }
  recorder.tell(call);
  await faults.pass("answered", call);
}

import { type Problem, problem } from "./contract/problems";

const isSwitch = (value: unknown): boolean => value === undefined || typeof value === "boolean";

export const checkPreflight = (value: unknown): Problem[] =>
  isSwitch(value) ? [] : [problem("invalid", "preflight", "must be true or false")];

/** It decides which resources there are, which an Output can't. */
export const checkWakeOnDestroy = (value: unknown): Problem[] =>
  isSwitch(value)
    ? []
    : [problem("invalid", "wakeOnDestroy", "must be true or false at once: no Output, and no text")];

import { allSettings } from "./contract/catalogue";
import { MAX_VALUE_LENGTH } from "./contract/environment";
import { type Problem, problem } from "./contract/problems";

const NAME = /^[-._a-zA-Z][-._a-zA-Z0-9]{0,119}$/;
const TAKEN_BY_PLATFORM = /^(?:CPLN_.*|K_SERVICE|K_CONFIGURATION|K_REVISION)$/;

/** What is wrong with the variables that the user adds; values that can't be told yet are left alone. */
export function checkExtraEnv(env: unknown): Problem[] {
  if (env === undefined || env === null) return [];
  if (typeof env !== "object" || Array.isArray(env)) {
    return [problem("invalid", "env", "must be a map of names and values", { got: env })];
  }
  return Object.entries(env).flatMap(([name, value]) => {
    const reason = nameReason(name) ?? valueReason(value);
    // A value may be a password: what it is, is nobody's business here.
    return reason === undefined ? [] : [problem("invalid", "env", reason, { path: [name] })];
  });
}

function nameReason(name: string): string | undefined {
  if (!NAME.test(name)) return "is not a name that the platform takes for a variable";
  if (TAKEN_BY_PLATFORM.test(name)) return "is a name that the platform keeps for itself";
  const setting = allSettings().find((each) => each.variable === name);
  if (setting === undefined && !/^TARGET_\d+$/.test(name)) return undefined;
  return setting?.argument === undefined
    ? "is rendered by the component"
    : `is rendered by the component: set \`${setting.argument}\``;
}

function valueReason(value: unknown): string | undefined {
  if (typeof value === "object" && value !== null) return undefined;
  if (typeof value !== "string") return "must be text";
  return value.length > MAX_VALUE_LENGTH ? `is longer than ${MAX_VALUE_LENGTH} characters` : undefined;
}

/** Arguments that are maps of names and values, which the user fills. */
import { allSettings } from "./contract/catalogue";
import { MAX_VALUE_LENGTH } from "./contract/environment";
import { type Problem, problem } from "./contract/problems";
import { isDeferred } from "./inputs";

const NAME = /^[-._a-zA-Z][-._a-zA-Z0-9]{0,119}$/;
const TAKEN_BY_PLATFORM = /^(?:CPLN_.*|K_SERVICE|K_CONFIGURATION|K_REVISION)$/;

/**
 * What is wrong with the variables that the user adds; values that can't be told yet are left alone. A value may be a
 * password: what it is, is nobody's business here.
 */
export const checkExtraEnv = (env: unknown): Problem[] =>
  checkMap("env", env, (name, value) => nameReason(name) ?? envValueReason(value));

/** What is wrong with the tags. Their names are the platform's to judge. */
export const checkTags = (tags: unknown): Problem[] =>
  checkMap("tags", tags, (_, value) => textReason(value));

function checkMap(
  argument: string,
  map: unknown,
  reasonOf: (name: string, value: unknown) => string | undefined,
): Problem[] {
  if (map === undefined || map === null) return [];
  if (typeof map !== "object" || Array.isArray(map)) {
    return [problem("invalid", argument, "must be a map of names and values")];
  }
  return Object.entries(map).flatMap(([name, value]) => {
    const reason = reasonOf(name, value);
    return reason === undefined ? [] : [problem("invalid", argument, reason, { path: [name] })];
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

const textReason = (value: unknown): string | undefined =>
  typeof value === "string" || isDeferred(value) ? undefined : "must be text";

const envValueReason = (value: unknown): string | undefined =>
  typeof value === "string" && value.length > MAX_VALUE_LENGTH
    ? `is longer than ${MAX_VALUE_LENGTH} characters`
    : textReason(value);

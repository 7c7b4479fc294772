import { describe, expect, it } from "vitest";
import { ignoreSuspend, liveSuspend } from "../../src/index.ts";
import { failureOf, settledValue, startMocks } from "../support/mocks.ts";

const target = { gvc: "prod", name: "sftp" };

const answering = (answer: () => Record<string, unknown>) =>
  startMocks({
    call: (token, inputs) => {
      expect(token).toBe("cpln:index/getWorkload:getWorkload");
      expect(inputs).toMatchObject(target);
      return answer();
    },
  });

/** As the engine reports what a provider refused: the text stands in `details`. */
const engineError = (details: string) => Object.assign(new Error(details), { details });

it("the path to ignore is the provider's", () => {
  expect(ignoreSuspend).toEqual(["options.suspend"]);
});

describe("the live value", () => {
  it.each([true, false])("is what the platform says: %s", async (suspend) => {
    await answering(() => ({ options: [{ suspend }] }));
    expect(await settledValue(liveSuspend(target))).toBe(suspend);
  });

  it("is awake where the workload has no options", async () => {
    await answering(() => ({}));
    expect(await settledValue(liveSuspend(target))).toBe(false);
  });

  it.each(["workload sftp not found", "404 Not Found", "resource does not exist"])(
    "is awake where the workload does not exist yet: %s",
    async (message) => {
      await answering(() => {
        throw engineError(message);
      });
      expect(await settledValue(liveSuspend(target))).toBe(false);
    },
  );

  it("is not guessed where the platform can't be asked", async () => {
    await answering(() => {
      throw engineError("403 not granted [view]");
    });
    const failure = await failureOf(() => liveSuspend(target));
    expect(failure.message).toContain("403");
  });
});

/** A component and a proxy of different versions, both ways round. That a refusal ends the process is tested with it. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { adviseArgs, checkArgs } from "../../src/checks.ts";
import { SETTINGS_VERSION } from "../../src/contract/catalogue.ts";
import { parseEnvironment } from "../../src/contract/environment.ts";
import { defaultImage } from "../../src/index.ts";
import type { PlainArgs } from "../../src/plain-args.ts";
import { renderSettings } from "../../src/proxy-settings.ts";
import { proxyImageRepository } from "../../src/version.ts";

const injected = {
  CPLN_ENDPOINT: "http://api.cpln.io",
  CPLN_ORG: "acme",
  CPLN_GVC: "prod",
  CPLN_TOKEN: "token",
};
const args: PlainArgs = {
  gvc: "prod",
  target: "sftp",
  ports: [{ port: 22, target: 2022 }],
  allow: ["0.0.0.0/0"],
};

describe("an older component with this proxy", () => {
  it.each([1])("edition %i, as it was rendered, is read as it was meant", (edition) => {
    const file = new URL(`../golden/settings-edition-${edition}.json`, import.meta.url);
    const parsed = parseEnvironment({ ...injected, ...JSON.parse(readFileSync(file, "utf8")) });
    expect(parsed).toMatchObject({
      ok: true,
      settings: {
        targets: [
          {
            workload: "sftp",
            gvc: "prod",
            host: "sftp.prod.cpln.local",
            ports: [{ listen: 10_022, target: 2022, readiness: { kind: "banner" }, wakeOn: "connect" }],
            idleHoldMs: 600_000,
            maxHoldMs: 90_000,
            holdEnd: "reset",
          },
          { workload: "db", gvc: "data", host: "db.internal", ports: [{ wakeOn: "fitting" }], maxHeld: 10 },
        ],
        healthPort: 8082,
        ownGraceMs: 90_000,
        drainTimeoutMs: 60_000,
        maxConnectionsTotal: 100,
      },
    });
  });

  it("is every edition up to the newest", () => {
    expect(SETTINGS_VERSION).toBe(1);
  });

  it("settings made by hand, before there were editions, are read too", () => {
    const byHand = { TARGET_WORKLOAD: "sftp", PORT_MAPPINGS: "2022:2022", IDLE_HOLD: "1m" };
    expect(parseEnvironment({ ...injected, ...byHand })).toMatchObject({
      ok: true,
      settings: {
        targets: [{ workload: "sftp", idleHoldMs: 60_000, ports: [{ listen: 2022, target: 2022 }] }],
      },
    });
  });
});

describe("a newer component with this proxy", () => {
  it("is refused by its edition alone, with what to do", () => {
    const newer = {
      SETTINGS_VERSION: String(SETTINGS_VERSION + 1),
      TARGET_1: "something new",
      IDLE_HOLD: "P1D",
    };
    const parsed = parseEnvironment({ ...injected, ...newer });
    expect(parsed.ok ? [] : parsed.problems).toMatchObject([
      {
        kind: "newer",
        variable: "SETTINGS_VERSION",
        reason: expect.stringContaining("deploy a newer proxy image"),
      },
    ]);
  });
});

describe("this component with the proxy of an image", () => {
  const problems = (image: string) => checkArgs("sftp", { ...args, image }).map(({ variable }) => variable);
  const advice = (image: string) => adviseArgs({ ...args, image }).map(({ variable }) => variable);

  it.each(["0.1.0", "v0.1.0", "0.1", "0.0.9"])("tag %s is too old for what is rendered", (tag) => {
    expect(problems(`${proxyImageRepository}:${tag}`)).toEqual(["image"]);
  });
  it.each([defaultImage, `${proxyImageRepository}:0.10.0`, `${proxyImageRepository}:1.0.0`])(
    "%s will do",
    (image) => {
      expect([problems(image), advice(image)]).toEqual([[], []]);
    },
  );
  it("a mirror's own tags are its own", () => {
    expect(problems("registry.example.invalid/mirror:0.1.0")).toEqual([]);
  });
  it("a digest tells nothing, which is said", () => {
    expect(advice(`${proxyImageRepository}@sha256:${"0".repeat(64)}`)).toEqual(["image"]);
  });

  it("always renders its edition, so that an older proxy would know", () => {
    const rendered = renderSettings(args);
    expect(rendered.ok && rendered.environment.SETTINGS_VERSION).toBe(String(SETTINGS_VERSION));
  });
});

import { describe, expect, it } from "vitest";
import { parseDeployment } from "../../../proxy-image/src/cpln/deployment.ts";
import { parseWorkload } from "../../../proxy-image/src/cpln/workload.ts";

describe("a workload", () => {
  const document = { id: "w-1", version: 3, spec: { defaultOptions: { suspend: true } } };

  it("is read with the platform's defaults", () => {
    expect(parseWorkload(document)).toEqual({
      id: "w-1",
      version: 3,
      suspended: true,
      graceMs: 90_000,
      mode: "normal",
      otherScaler: undefined,
    });
  });

  it("may hold numbers and booleans as text", () => {
    const coerced = {
      ...document,
      version: "12",
      spec: { defaultOptions: { suspend: "true" }, rolloutOptions: { terminationGracePeriodSeconds: "30" } },
    };
    expect(parseWorkload(coerced)).toMatchObject({ version: 12, suspended: true, graceMs: 30_000 });
    expect(parseWorkload({ ...document, spec: { defaultOptions: { suspend: "false" } } })?.suspended).toBe(
      false,
    );
    expect(parseWorkload({ ...document, spec: null })?.suspended).toBe(false);
  });

  it.each([
    ["paused", "paused"],
    ["always-on", "always-on"],
    ["something", "normal"],
    [7, "normal"],
  ])("with the mode tag %s is %s", (tag, mode) => {
    expect(parseWorkload({ ...document, tags: { "scale-to-zero/mode": tag } })?.mode).toBe(mode);
  });

  it("may belong to another scaler", () => {
    const spec = { defaultOptions: { autoscaling: { metric: "keda" } } };
    expect(parseWorkload({ ...document, spec })?.otherScaler).toBe("keda");
    expect(
      parseWorkload({ ...document, spec: { defaultOptions: { autoscaling: {} } } })?.otherScaler,
    ).toBeUndefined();
  });

  it.each([undefined, null, "text", [], {}, { id: "w" }, { version: 1 }])("is not %j", (body) => {
    expect(parseWorkload(body)).toBeUndefined();
  });
});

describe("a deployment", () => {
  const container = (replicasReady: unknown, more: object = {}) => ({
    main: { ready: true, resources: { replicas: 1, replicasReady }, ...more },
  });
  const deployment = (version: object, status: object = {}) => ({
    name: "loc",
    status: {
      lastProcessedVersion: 5,
      expectedDeploymentVersion: 5,
      versions: [
        { workload: 4, ready: true, containers: container(1) },
        { workload: 5, ready: true, containers: container(1), ...version },
      ],
      ...status,
    },
  });

  it("is ready when the expected version has a ready replica", () => {
    expect(parseDeployment(deployment({}))).toEqual({
      lastProcessedVersion: 5,
      ready: true,
      failure: undefined,
    });
    expect(parseDeployment(deployment({ ready: "true", containers: container("1") }))?.ready).toBe(true);
    expect(parseDeployment(deployment({ containers: container(0) }))?.ready).toBe(false);
    expect(parseDeployment(deployment({ ready: false }))?.ready).toBe(false);
    expect(parseDeployment(deployment({}, { expectedDeploymentVersion: 6 }))?.ready).toBe(false);
  });

  it.each([
    ["image_pull", { containers: container(0, { message: 'Back-off pulling image "x": ImagePullBackOff' }) }],
    ["image_pull", { message: "ErrImagePull" }],
    ["crash_loop", { containers: container(0, { restarts: { count: 4, reason: "CrashLoopBackOff" } }) }],
    ["quota", { message: "exceeded quota: cpu" }],
    ["unschedulable", { message: "0/3 nodes are available: 3 Insufficient memory" }],
  ])("that fails says %s", (reason, version) => {
    expect(parseDeployment(deployment({ ready: false, ...version }))?.failure?.reason).toBe(reason);
  });

  it("that is ready has not failed, whatever is written about it", () => {
    const recovered = container(1, { restarts: { count: 2, reason: "CrashLoopBackOff" } });
    expect(parseDeployment(deployment({ containers: recovered }))?.failure).toBeUndefined();
  });

  it("does not fail for what an older version says", () => {
    const older = { workload: 4, ready: false, message: "ErrImagePull" };
    const newer = { workload: 5, ready: false, message: "starting" };
    expect(parseDeployment(deployment({}, { versions: [older, newer] }))?.failure).toBeUndefined();
  });

  it("in an unknown location is what all agree on", () => {
    const failing = deployment({ ready: false, message: "ErrImagePull" }, { lastProcessedVersion: 4 });
    expect(parseDeployment({ items: [deployment({}), failing] })).toEqual({
      lastProcessedVersion: 4,
      ready: false,
      failure: undefined,
    });
    expect(parseDeployment({ items: [failing, failing] })?.failure?.reason).toBe("image_pull");
    expect(parseDeployment({ items: [] })).toBeUndefined();
    expect(parseDeployment({ items: [deployment({}), {}] })).toBeUndefined();
  });

  it.each([undefined, "text", {}, { status: {} }])("is not %j", (body) => {
    expect(parseDeployment(body)).toBeUndefined();
  });
});

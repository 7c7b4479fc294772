/** What lies below a workload: its deployments, and commands to it. */
import { randomUUID } from "node:crypto";
import { asObject, isObject } from "../../documents/json.ts";
import { lastSegment, selfLink } from "../../documents/links.ts";
import type { JsonObject, ResourceKey } from "../../model.ts";
import type { ApiContext } from "../context.ts";
import { invalid, notFound, notImplemented } from "../errors.ts";
import type { Request } from "../exchange.ts";
import { list } from "../present.ts";
import type { Action, ActionCall } from "../resource-kind.ts";

export const workloadActions: readonly Action[] = [
  {
    method: "GET",
    path: "deployment",
    permission: deploymentPermission,
    run: ({ key, context }) => {
      const items = deployments(key, context);
      return { status: 200, body: list("deployment", items, `${selfLink(key)}/deployment`) };
    },
  },
  {
    method: "GET",
    path: "deployment/:location",
    permission: deploymentPermission,
    run: ({ key, params, context }) => {
      const found = deployments(key, context).find((item) => item.name === params.location);
      if (!found) throw notFound(`${selfLink(key)}/deployment/${params.location}`);
      return { status: 200, body: found };
    },
  },
  { method: "POST", path: "-command", permission: commandPermission, run: runCommand },
  {
    method: "GET",
    path: "-command",
    permission: "view",
    run: ({ key, context }) => ({
      status: 200,
      body: list("command", [...context.journal.commands(key)], `${selfLink(key)}/-command`),
    }),
  },
  {
    method: "GET",
    path: "-command/:id",
    permission: "view",
    run: ({ key, params, context }) => {
      const found = context.journal.commands(key).find((command) => command.id === params.id);
      if (!found) throw notFound(`${selfLink(key)}/-command/${params.id}`);
      return { status: 200, body: found };
    },
  },
];

/** Each deployment says where its replicas are listed: below this API, one place a location. */
function deployments(key: ResourceKey, context: ApiContext): JsonObject[] {
  const link = selfLink(key);
  return context.platform.deployments(key).map((deployment) => ({
    kind: "deployment",
    ...deployment,
    status: {
      internal: {},
      ...asObject(deployment.status),
      remote: `${context.url()}/-remote/${String(deployment.name)}`,
    },
    links: [
      { rel: "self", href: `${link}/deployment/${String(deployment.name)}` },
      { rel: "workload", href: link },
      { rel: "location", href: `/org/${key.org}/location/${String(deployment.name)}` },
    ],
  }));
}

function deploymentPermission(_request: Request, { switches }: ApiContext): string {
  return switches.deploymentReadable;
}

function commandPermission(request: Request): string {
  const { type } = asObject(request.body);
  return type === "stopReplica" ? "exec.stopReplica" : "exec";
}

function runCommand({ key, request, context }: ActionCall) {
  const { type, spec } = asObject(request.body);
  if (type !== "stopReplica") throw notImplemented(`the command ${String(type)}`);
  const { location, replica } = asObject(spec);
  if (!isObject(spec) || typeof location !== "string" || typeof replica !== "string") {
    throw invalid('"spec" needs [location, replica]');
  }
  const place = lastSegment(location);
  if (!context.platform.replicas(key, place).includes(replica)) {
    throw invalid(`${replica} is not a replica of ${selfLink(key)} in ${place}`);
  }
  context.platform.stopReplica(key, place, replica);
  const now = new Date(context.clock.now()).toISOString();
  const id = randomUUID();
  const href = `${selfLink(key)}/-command/${id}`;
  const command: JsonObject = {
    id,
    kind: "command",
    type,
    spec: { location, replica },
    lifecycleStage: "completed",
    created: now,
    lastModified: now,
    links: [{ rel: "self", href }],
  };
  context.journal.addCommand(key, command);
  return { status: 201, body: command, headers: { location: href } };
}

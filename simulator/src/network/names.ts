/** Where a name leads, in the words of the mesh. `undefined`: nobody answers, for there is no NXDOMAIN here. */
export interface MeshName {
  workload: string;
  gvc: string;
  location?: string;
  index?: number;
}

const suffix = ".cpln.local";

/**
 * Every reading of a name that the mesh's forms allow; more than one, since a location and a GVC look alike:
 * `{workload}.{gvc}`, `{workload}.{location}.{gvc}`, `replica-{i}.{workload}.{gvc}`,
 * `replica-{i}.{workload}.{location}.{gvc}`, all below `cpln.local`; in one's own GVC also `{workload}` and
 * `{workload}-{i}.{workload}`.
 */
export function readName(name: string, callerGvc: string | undefined): MeshName[] {
  const lower = name.toLowerCase().replace(/\.$/, "");
  if (!lower.endsWith(suffix)) return callerGvc === undefined ? [] : shortForms(lower, callerGvc);
  const labels = lower.slice(0, -suffix.length).split(".");
  const replica = /^replica-(\d+)$/.exec(labels[0] ?? "");
  const index = replica?.[1] === undefined ? undefined : Number(replica[1]);
  const rest = index === undefined ? labels : labels.slice(1);
  const [workload, second, third, ...more] = rest;
  if (workload === undefined || second === undefined || more.length > 0) return [];
  const place = third === undefined ? { workload, gvc: second } : { workload, location: second, gvc: third };
  return [index === undefined ? place : { ...place, index }];
}

function shortForms(name: string, gvc: string): MeshName[] {
  const labels = name.split(".");
  if (labels.length === 1) return [{ workload: name, gvc }];
  const [first = "", workload = ""] = labels;
  const index = first.startsWith(`${workload}-`)
    ? /^(\d+)$/.exec(first.slice(workload.length + 1))?.[1]
    : undefined;
  if (labels.length !== 2 || index === undefined) return [];
  return [{ workload, gvc, index: Number(index) }];
}

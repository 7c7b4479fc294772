import { type Server, Socket } from "node:net";
import { getSystemErrorName } from "node:util";
import type { HandedOver, Lane, LaneEnd, LaneMaker, LaneNews, LaneOptions, Room, Way } from "./lane";
import type { SpliceEndReason } from "./plane";
import { HIGH_WATER_MARK, harmless } from "./sockets";

/** What proxy-image/native/addon offers; the words are explained there. */
export interface SpliceLanes {
  setRoom(room: number, cap: number): void;
  listen(fd: number, room: number, outerRoom: number, opening?: Uint8Array): SpliceLane;
}

interface SpliceLane {
  readonly id: number;
  readonly held: number;
  readonly spliced: number;
  open(address: string, port: number, forMs: number, dials: number): boolean;
  shut(): Float64Array;
  recall(): void;
  cut(): void;
  close(): void;
}

/** By the addon's numbers. */
export const REASONS: readonly SpliceEndReason[] = [
  "closed",
  "client_reset",
  "target_reset",
  "client_lost",
  "target_lost",
  "client_stalled",
  "target_stalled",
  "half_closed",
  "cut",
  "broken",
];

interface NativeRoom extends Room {
  readonly number: number;
}

export class NativeLanes implements LaneMaker<NativeRoom> {
  /** Lanes that take clients. */
  listening = 0;
  private rooms = 0;
  private readonly calls = new Map<number, () => void>();
  private readonly plane: SpliceLanes;
  private readonly onChange: () => void;

  /** `onChange` is called when `listening` is another. */
  constructor(plane: SpliceLanes, onChange: () => void) {
    this.plane = plane;
    this.onChange = onChange;
  }

  room(): NativeRoom {
    const number = this.rooms++;
    return { number, setCap: (cap) => this.plane.setRoom(number, cap) };
  }

  take(server: Server, { rooms, opening, onNews }: LaneOptions<NativeRoom>): Lane | undefined {
    const [room, outer] = rooms;
    const fd = fdOf(server);
    if (fd === undefined) return undefined;
    try {
      const lane = this.plane.listen(fd, room.number, outer.number, opening);
      this.calls.set(lane.id, onNews);
      this.listen(1);
      return new NativeLane(lane, () => this.listen(-1));
    } catch {
      // The server goes on as it would without the plane.
      return undefined;
    }
  }

  news(lane: number): void {
    this.calls.get(lane)?.();
  }

  private listen(more: number): void {
    this.listening += more;
    this.onChange();
  }
}

/** Undocumented, and there for as long as Node has had handles. */
export function fdOf(owner: object): number | undefined {
  const fd = (owner as { _handle?: { fd?: unknown } | null })._handle?.fd;
  return typeof fd === "number" && Number.isInteger(fd) && fd >= 0 ? fd : undefined;
}

class NativeLane implements Lane {
  private readonly lane: SpliceLane;
  private readonly onClose: () => void;

  constructor(lane: SpliceLane, onClose: () => void) {
    this.lane = lane;
    this.onClose = onClose;
  }

  open({ address, port, forMs, dials }: Way): void {
    this.lane.open(address, port, forMs, dials);
  }

  shut(): LaneNews {
    return read(this.lane.shut());
  }

  get held(): number {
    return this.lane.held;
  }

  get spliced(): number {
    return this.lane.spliced;
  }

  recall(): void {
    this.lane.recall();
  }

  cut(): void {
    this.lane.cut();
  }

  close(): void {
    this.lane.close();
    this.onClose();
  }
}

const HANDED_FIELDS = 3;
const ENDED_FIELDS = 14;

/** In the order in which the addon writes it. */
function read(row: Float64Array): LaneNews {
  const [dialling = 0, spliced = 0, joined = 0, errno = 0, handedCount = 0] = row;
  const handed: HandedOver[] = [];
  let at = 5;
  for (; handed.length < handedCount; at += HANDED_FIELDS) {
    const [client = -1, target = -1, heldMs = 0] = row.subarray(at, at + HANDED_FIELDS);
    handed.push({ socket: adopt(client), target: target < 0 ? undefined : adopt(target), heldMs });
  }
  const ended: LaneEnd[] = [];
  for (; at < row.length; at += ENDED_FIELDS) ended.push(endOf(row.subarray(at, at + ENDED_FIELDS)));
  return { dialling, spliced, joined, trouble: errno === 0 ? undefined : troubleOf(errno), handed, ended };
}

function endOf(row: Float64Array): LaneEnd {
  const [reason = 0, heldMs = 0, splicedMs = 0, bytesUp = 0, bytesDown = 0, stranger = 0, ...groups] = row;
  return {
    reason: REASONS[reason] ?? "cut",
    heldMs,
    splicedMs,
    bytesUp,
    bytesDown,
    stranger: stranger === 1,
    address: () => groups.map((group) => group.toString(16)).join(":"),
  };
}

function troubleOf(errno: number): Error {
  return new Error(`accept ${getSystemErrorName(-errno)}`);
}

/** As a server with `pauseOnConnect` makes it. */
function adopt(fd: number): Socket {
  const options = {
    fd,
    allowHalfOpen: true,
    readable: true,
    writable: true,
    highWaterMark: HIGH_WATER_MARK,
    // What `net.Server` itself gives to make a socket that reads nothing before it is asked; in no documentation.
    pauseOnCreate: true,
  };
  return harmless(new Socket(options));
}

import type { PortMapping, ProxySettings } from "../../../src/contract/settings";
import type { LaneMaker, Room } from "../net/lane";
import type { Listener } from "../net/listener";
import type { Controller } from "./controller";

/** What the caps leave to the lanes, which admit clients without anybody here being asked. */
export class Rooms {
  private readonly all: Room;
  private readonly own: ReadonlyMap<Controller, Room>;
  private readonly lanes: LaneMaker;
  private readonly settings: Pick<ProxySettings, "maxConnectionsTotal">;

  constructor(
    lanes: LaneMaker,
    settings: Pick<ProxySettings, "maxConnectionsTotal">,
    controllers: readonly Controller[],
  ) {
    this.lanes = lanes;
    this.settings = settings;
    this.all = lanes.room();
    this.own = new Map(controllers.map((controller) => [controller, lanes.room()]));
  }

  openLane(controller: Controller, mapping: PortMapping, listener: Listener): void {
    const room = this.own.get(controller);
    if (room) controller.openLane(mapping, listener, this.lanes, [room, this.all]);
  }

  /** To be called when clients came or went otherwise than by a lane. */
  adjust(): void {
    let left = this.settings.maxConnectionsTotal;
    for (const [{ ownClients, settings }, room] of this.own) {
      room.setCap(Math.max(0, settings.maxConnections - ownClients));
      left -= ownClients;
    }
    this.all.setCap(Math.max(0, left));
  }
}

import { onArrived, onHoldEnding, onLane, onLeft, onMute, onReturned, onSpliced } from "./on-connection";
import { onProbed } from "./on-probe";
import { onRead, onReadFailed } from "./on-read";
import { onStatus, onStatusFailed } from "./on-status";
import { onWriteFailed, onWritten } from "./on-write";
import { attempts } from "./rules/attempts";
import { turnAway } from "./rules/failure";
import { gate, openLanes } from "./rules/gate";
import { idleDown } from "./rules/idle";
import { probing } from "./rules/probing";
import { reading, statusReading } from "./rules/reading";
import { wake } from "./rules/wake";
import { copyState } from "./state";
import { Turn } from "./turn";
import type { Event, Moment, Step, TargetConfig, TargetState } from "./types";

/**
 * Takes in one event and decides what follows. The event only records what happened; then every rule looks at the
 * whole state, so the outcome does not depend on which event happened to come last.
 *
 * `moment.now` must not go backwards between the steps of one state.
 */
export function step(config: TargetConfig, state: TargetState, event: Event, moment: Moment): Step {
  const turn = new Turn(config, copyState(state), moment);
  record(turn, event);
  turnAway(turn);
  wake(turn);
  idleDown(turn);
  attempts(turn);
  gate(turn);
  probing(turn);
  statusReading(turn);
  reading(turn);
  return { state: turn.state, effects: turn.effects, lanes: openLanes(turn), alarmAt: turn.alarmAt };
}

function record(turn: Turn, event: Event): void {
  switch (event.type) {
    case "arrived":
      onArrived(turn, event.port);
      break;
    case "spliced":
      onSpliced(turn, event.port);
      break;
    case "returned":
      onReturned(turn, event.port, event.failure);
      break;
    case "mute":
      onMute(turn, event.port);
      break;
    case "hold-ending":
      onHoldEnding(turn, event.port, event.id);
      break;
    case "left":
      onLeft(turn, event);
      break;
    case "lane":
      onLane(turn, event);
      break;
    case "probed":
      onProbed(turn, event.port, event.startedAt, event.outcome);
      break;
    case "read":
      onRead(turn, event.snapshot);
      break;
    case "read-failed":
      onReadFailed(turn, event.failure);
      break;
    case "status":
      onStatus(turn, event.snapshot);
      break;
    case "status-failed":
      onStatusFailed(turn);
      break;
    case "written":
      onWritten(turn, event.version);
      break;
    case "write-failed":
      onWriteFailed(turn, event.failure);
      break;
    case "drain":
      turn.state.lifecycle = "draining";
      break;
    case "tick":
      break;
    default:
      event satisfies never;
  }
}

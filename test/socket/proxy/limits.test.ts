import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { choosePlane } from "../../../proxy-image/src/net/planes.ts";
import { addonFile } from "../../../tools/native.ts";
import { Switchboard, spliced } from "../../support/native.ts";
import { testedPlane } from "../../support/planes.ts";

const limits = { stallMs: 300, halfCloseMs: 300 };

let board: Switchboard;

beforeEach(async () => {
  board = await Switchboard.open();
});

afterEach(() => board.close());

describe("a session that is still for too long", () => {
  const { plane } = choosePlane(testedPlane, addonFile, limits);

  it("is reset where a reader takes nothing", async () => {
    const legs = await board.legs({ read: false });
    const { end } = spliced(plane, legs);
    legs.atClient.write(Buffer.alloc(80 << 20));
    expect((await end).reason).toBe("target_stalled");
  });

  it("is ended where one side had ended", async () => {
    const legs = await board.legs();
    const { end } = spliced(plane, legs);
    legs.atTarget.end("bye");
    expect(await legs.atClient.text(3)).toBe("bye");
    expect((await end).reason).toBe("half_closed");
  });

  it("goes on where one side had ended and the other still speaks", async () => {
    const legs = await board.legs();
    const { end } = spliced(plane, legs);
    legs.atClient.end();
    let sent = 0;
    const speak = () => {
      legs.atTarget.write("x");
      sent += 1;
    };
    // Each byte that arrives asks for the next one.
    legs.atClient.socket.on("data", speak);
    speak();
    // Two silent ones, one after the other: the limit has passed twice when they have ended.
    for (let silent = 0; silent < 2; silent++) {
      const other = await board.legs();
      other.atClient.end();
      expect((await spliced(plane, other).end).reason).toBe("half_closed");
    }
    legs.atClient.socket.off("data", speak);
    legs.atTarget.end();
    expect(await end).toMatchObject({ reason: "closed", bytesDown: sent });
  });
});

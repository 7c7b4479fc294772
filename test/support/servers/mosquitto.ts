import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectText, find, type RealServer } from "./server.ts";

export const mosquitto: RealServer = {
  name: "mosquitto",
  server: "Mosquitto",
  client: "mosquitto_pub, mosquitto_sub",
  packages: ["mosquitto", "mosquitto-clients"],
  programs: ["mosquitto", "mosquitto_pub", "mosquitto_sub"],
  ports: [{ target: 1883, readiness: "mqtt", wakeOn: "fitting" }],
  spec: async ({ address, scratch }) => {
    const config = join(scratch, "mosquitto.conf");
    const user = process.getuid?.() === 0 ? "user root\n" : "";
    await writeFile(config, `listener 1883 ${address}\nallow_anonymous true\npersistence false\n${user}`);
    return { command: [find("mosquitto") ?? "mosquitto", "-c", config], cwd: scratch };
  },
  connections: 2,
  work: async ({ host, ports: [port] }, run) => {
    const to = ["-h", host, "-p", String(port), "-t", "who"];
    await run("mosquitto_pub", [...to, "-r", "-q", "1", "-m", "mosquitto_pub"]);
    expectText(await run("mosquitto_sub", [...to, "-C", "1", "-W", "20"]), "mosquitto_pub");
  },
};

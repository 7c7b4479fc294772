/** `echo-banner-server.ts PORT…`: a banner (`BANNER`), then an echo, on the replica's own address. */
import net from "node:net";

const host = process.env.LISTEN_HOST ?? "127.0.0.1";
const banner = process.env.BANNER ?? `220 ${process.env.HOSTNAME ?? "echo"} ready\r\n`;

for (const port of process.argv.slice(2).map(Number)) {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    socket.write(banner);
    socket.pipe(socket);
  });
  server.listen(port, host, () => console.log(`listening on ${host}:${port}`));
}

/**
 * The real servers that the proxy is proved against, cold and warm. The tests, the table in the docs and the
 * simulator's images for them are all made from this list; adding one is adding a file and a line here.
 */
import type { Image } from "../../../simulator/src/images/index.ts";
import { aiosmtpd } from "./aiosmtpd.ts";
import { mariadb } from "./mariadb.ts";
import { memcached } from "./memcached.ts";
import { mosquitto } from "./mosquitto.ts";
import { nginx } from "./nginx.ts";
import { openssh } from "./openssh.ts";
import { postgres } from "./postgres.ts";
import { redis } from "./redis.ts";
import { imageOf, type RealServer } from "./server.ts";
import { vsftpd } from "./vsftpd.ts";

export const realServers: readonly RealServer[] = [
  openssh,
  postgres,
  redis,
  mariadb,
  mosquitto,
  nginx,
  memcached,
  aiosmtpd,
  vsftpd,
];

export const realImages = (): Image[] => [
  openssh.image(),
  ...realServers.filter((server) => server !== openssh).map(imageOf),
];

"use strict";
// Loaded into every Node process that the local platform starts (`NODE_OPTIONS=--require`). It makes the process
// live at its replica's address: outgoing loopback connections start there, so that the mesh and the API know who
// calls, and names are asked of the simulator's own name server. No dependencies, and nothing happens without the
// variables that the simulator sets.
const dns = require("node:dns");
const net = require("node:net");
const { syncBuiltinESMExports } = require("node:module");

const address = process.env.SIMULATOR_ADDRESS;
const server = process.env.SIMULATOR_NAME_SERVER;
const timeoutMs = Number(process.env.SIMULATOR_NAME_TIMEOUT_MS ?? 2500);

if (address !== undefined && server !== undefined) {
  bindOutgoing();
  resolveThere();
  // Not for what this process starts in turn: that inherits variables, but is nobody's first process.
  if (process.env.SIMULATOR_LEASH !== undefined) actAsContainer();
  delete process.env.SIMULATOR_LEASH;
  syncBuiltinESMExports();
}

function bindOutgoing() {
  const connect = net.Socket.prototype.connect;
  net.Socket.prototype.connect = function (...args) {
    // Node's own callers pass one normalised array, marked by a symbol, whose options may be changed in place.
    if (Array.isArray(args[0])) {
      const options = args[0][0];
      if (options !== null && typeof options === "object") Object.assign(options, outgoing(options));
      return connect.apply(this, args);
    }
    if (args[0] !== null && typeof args[0] === "object") {
      return connect.call(this, { ...args[0], ...outgoing(args[0]) }, ...args.slice(1));
    }
    if (isPort(args[0])) {
      const host = typeof args[1] === "string" ? args[1] : undefined;
      const rest = args.slice(host === undefined ? 1 : 2);
      const options = host === undefined ? { port: args[0] } : { port: args[0], host };
      return connect.call(this, { ...options, ...outgoing(options) }, ...rest);
    }
    return connect.apply(this, args);
  };
}

function isPort(value) {
  return typeof value === "number" || (typeof value === "string" && /^\d+$/.test(value));
}

/** What to add to a connection's options: only for TCP to loopback or to a name, and never over the program's own. */
function outgoing(options) {
  if (options.path || options.localAddress || !isPort(options.port)) return {};
  const host = options.host ?? "localhost";
  if (net.isIP(host) !== 0) return isLoopback(host) ? { localAddress: address } : {};
  return { localAddress: address, family: 4 };
}

function isLoopback(host) {
  return /^(::ffff:)?127\./i.test(host);
}

function resolveThere() {
  const lookup = dns.lookup;
  const lookupPromise = dns.promises.lookup;
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 2 });
  resolver.setServers([server]);
  resolver.setLocalAddress(address);
  // For `dns.resolve…`, which cannot be told where to ask from: full names alone work there.
  dns.setServers([server]);

  const local = (hostname) => !hostname || net.isIP(hostname) !== 0 || hostname === "localhost";
  const ask = (hostname, options, done) => {
    if (options.family === 6 || options.family === "IPv6") return done(notFound(hostname, "ENOTFOUND"));
    resolver.resolve4(hostname, (error, found) => {
      if (error) return done(notFound(hostname, "EAI_AGAIN"));
      done(null, found);
    });
  };

  dns.lookup = function (hostname, options, callback) {
    const done = typeof options === "function" ? options : callback;
    if (local(hostname)) return lookup.call(this, hostname, options, callback);
    const settings = typeof options === "object" && options !== null ? options : { family: options };
    ask(hostname, settings, (error, found) => {
      if (error) return done(error);
      if (settings.all)
        return done(
          null,
          found.map((item) => ({ address: item, family: 4 })),
        );
      done(null, found[0], 4);
    });
    return {};
  };
  dns.promises.lookup = function (hostname, options) {
    if (local(hostname)) return lookupPromise.call(this, hostname, options);
    const settings = typeof options === "object" && options !== null ? options : { family: options };
    return new Promise((resolve, reject) => {
      ask(hostname, settings, (error, found) => {
        if (error) return reject(error);
        const all = found.map((item) => ({ address: item, family: 4 }));
        resolve(settings.all ? all : all[0]);
      });
    });
  };
}

/** The error that a resolver gives when nobody answers it. */
function notFound(hostname, code) {
  const error = new Error(`getaddrinfo ${code} ${hostname}`);
  return Object.assign(error, {
    code,
    errno: code === "EAI_AGAIN" ? -3001 : -3008,
    syscall: "getaddrinfo",
    hostname,
  });
}

function actAsContainer() {
  // The first process of a container: the kernel keeps signals from it that it has no handler for.
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => {});
  // The simulator holds the other end of this pipe: when it is gone, however it went, so are its processes.
  try {
    const pipe = new net.Socket({ fd: 3, readable: true, writable: false });
    pipe.on("error", () => {});
    pipe.on("end", () => process.exit(137));
    pipe.resume();
    pipe.unref();
  } catch {
    // No such pipe: started by something else.
  }
}

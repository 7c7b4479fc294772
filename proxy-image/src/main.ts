/**
 * The proxy's one file. Subcommands: `run` (the default), `prestop`, `--version`. Each loads only what it needs: the
 * preStop hook shares the proxy's memory limit.
 */
/** Put in by `start.ts`. */
declare const compiledAhead: true | undefined;

const [command = "run", option] = process.argv.slice(2);

const exit = (code: number): void => process.exit(code);

switch (command) {
  case "run":
    void import("./run.js").then(({ run }) =>
      run(process.env, exit, { compiledAhead: typeof compiledAhead !== "undefined" }),
    );
    break;
  case "prestop":
    void import("./prestop.js").then(({ prestop }) => prestop(process.env)).then(() => exit(0));
    break;
  case "--version":
    void import("./about.js").then(({ about }) => process.stdout.write(about(option === "--verbose")));
    break;
  default:
    process.stderr.write(
      `unknown command: ${command}\nusage: main.js [run | prestop | --version [--verbose]]\n`,
    );
    process.exitCode = 64;
}

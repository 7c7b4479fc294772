/**
 * The proxy's one file. Subcommands: `run` (the default), `prestop`, `--version`. Each loads only what it needs: the
 * preStop hook shares the proxy's memory limit.
 */
const [command = "run"] = process.argv.slice(2);

const exit = (code: number): void => process.exit(code);

switch (command) {
  case "run":
    void import("./run.js").then(({ run }) => run(process.env, exit));
    break;
  case "prestop":
    void import("./prestop.js").then(({ prestop }) => prestop(process.env)).then(() => exit(0));
    break;
  case "--version":
    void import("../../src/version.js").then(({ version }) => process.stdout.write(`${version}\n`));
    break;
  default:
    process.stderr.write(`unknown command: ${command}\nusage: main.js [run | prestop | --version]\n`);
    process.exitCode = 64;
}

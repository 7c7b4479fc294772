/** What main.js sees besides Node's globals. `compiledAhead` is absent where Node itself has loaded it. */
export type Program = (
  require: NodeJS.Require,
  __filename: string,
  __dirname: string,
  compiledAhead: true,
) => void;

/** One text for the making of the cache and for its use: V8 compares no more than its length. */
export const asScript = (bundle: string): string =>
  `(function (require, __filename, __dirname, compiledAhead) {${bundle}\n})`;

/** CPU and memory as the platform writes them: `50m`, `2`, `128Mi`, `1.5Gi`. */

export const quantityPattern = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;

const factors: { [suffix: string]: number } = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** The plain number, or undefined when it is none. */
export function quantity(text: string): number | undefined {
  const [, digits = "", suffix = ""] = quantityPattern.exec(text) ?? [];
  const exponent = /^[eE][-+]?\d+$/.test(suffix);
  const number = Number(exponent ? digits + suffix : digits);
  const factor = exponent ? 1 : factors[suffix];
  return digits === "" || Number.isNaN(number) || factor === undefined ? undefined : number * factor;
}

export function cpuMillis(text: string): number | undefined {
  const cores = quantity(text);
  return cores === undefined ? undefined : cores * 1000;
}

export function memoryMebibytes(text: string): number | undefined {
  const bytes = quantity(text);
  return bytes === undefined ? undefined : bytes / 2 ** 20;
}

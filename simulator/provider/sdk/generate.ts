/** The SDK's files, in the shape that generated Pulumi SDKs have. */
import type { ObjectSchema, PackageSchema, ResourceSchema } from "../mapping/schema.ts";
import { capital, header, inputType, interfaceText, lastName, members, plainType } from "./text.ts";

const typesImport = (path: string, text: string) => {
  const names = ["inputs", "outputs"].filter((name) => new RegExp(`\\b${name}\\.[A-Z]`).test(text));
  const imports = names.map(
    (name) => `import type * as ${name} from "${path}/types/${name.slice(0, -1)}";\n`,
  );
  return imports.join("");
};

const moduleText = (body: string) =>
  `${header}import * as pulumi from "@pulumi/pulumi";\n${typesImport(".", body)}${body.includes("utilities.") ? 'import * as utilities from "./utilities";\n' : ""}\n${body}`;

function resourceText(token: string, schema: ResourceSchema): string {
  const name = lastName(token);
  const outputs = members(schema.properties, schema.required, (property) => plainType(property, "outputs."));
  const isInput = (member: string) => member in schema.inputProperties;
  const declarations = outputs
    .map(({ name: member, optional, type }) => {
      const out = isInput(member) ? "" : "/*out*/ ";
      return `  declare public ${out}readonly ${member}: pulumi.Output<${type}${optional ? " | undefined" : ""}>;\n`;
    })
    .join("");
  const inputNames = Object.keys(schema.inputProperties).sort();
  const computed = Object.keys(schema.properties).filter((member) => !isInput(member));
  const secrets = Object.entries(schema.inputProperties)
    .filter(([, property]) => property.secret)
    .map(([member]) => member);
  const needed = schema.requiredInputs
    .map(
      (member) =>
        `      if (args?.${member} === undefined && !opts.urn) {\n        throw new Error("Missing required property '${member}'");\n      }\n`,
    )
    .join("");
  const argsOptional = schema.requiredInputs.length === 0 ? "?" : "";
  const state = members(schema.properties, [], (property) => inputType(property, "inputs."));
  const args = members(schema.inputProperties, schema.requiredInputs, (property) =>
    inputType(property, "inputs."),
  );
  return moduleText(`export class ${name} extends pulumi.CustomResource {
  /** An existing resource, looked up by its id. */
  public static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    state?: ${name}State,
    opts?: pulumi.CustomResourceOptions,
  ): ${name} {
    return new ${name}(name, state as unknown as ${name}Args, { ...opts, id: id });
  }

  /** @internal */
  public static readonly __pulumiType = "${token}";

  public static override isInstance(obj: unknown): obj is ${name} {
    return utilities.isOfType(obj, ${name}.__pulumiType);
  }

${declarations}
  constructor(name: string, args${argsOptional}: ${name}Args, opts?: pulumi.CustomResourceOptions);
  constructor(name: string, argsOrState?: ${name}Args | ${name}State, opts: pulumi.CustomResourceOptions = {}) {
    const inputs: pulumi.Inputs = {};
    if (opts.id) {
      const state = argsOrState as ${name}State | undefined;
${Object.keys(schema.properties)
  .map((member) => `      inputs.${member} = state?.${member};\n`)
  .join("")}    } else {
      const args = argsOrState as ${name}Args | undefined;
${needed}${inputNames
  .map(
    (member) =>
      `      inputs.${member} = ${secrets.includes(member) ? `utilities.secret(args?.${member})` : `args?.${member}`};\n`,
  )
  .join("")}${computed.map((member) => `      inputs.${member} = undefined;\n`).join("")}    }
    super(${name}.__pulumiType, name, inputs, utilities.resourceOptions(opts));
  }
}

${interfaceText(`${name}State`, state)}
${interfaceText(`${name}Args`, args)}`);
}

function providerText(schema: PackageSchema): string {
  const properties = schema.provider.inputProperties;
  const args = members(properties, [], (property) => inputType(property, "inputs."));
  return moduleText(`export class Provider extends pulumi.ProviderResource {
  /** @internal */
  public static readonly __pulumiType = "${schema.name}";

  public static override isInstance(obj: unknown): obj is Provider {
    return utilities.isOfType(obj, \`pulumi:providers:\${Provider.__pulumiType}\`);
  }

${Object.keys(properties)
  .map((member) => `  declare public readonly ${member}: pulumi.Output<string | undefined>;\n`)
  .join("")}
  constructor(name: string, args?: ProviderArgs, opts: pulumi.ResourceOptions = {}) {
    const inputs: pulumi.Inputs = {};
${Object.entries(properties)
  .map(
    ([member, property]) =>
      `    inputs.${member} = ${property.secret ? `utilities.secret(args?.${member})` : `args?.${member}`};\n`,
  )
  .join("")}    super(Provider.__pulumiType, name, inputs, utilities.resourceOptions(opts));
  }
}

${interfaceText("ProviderArgs", args)}`);
}

function functionText(
  token: string,
  { inputs, outputs }: { inputs: ObjectSchema; outputs: ObjectSchema },
): string {
  const name = lastName(token);
  const type = capital(name);
  const args = members(inputs.properties, inputs.required, (property) => plainType(property, "inputs."));
  const outputArgs = members(inputs.properties, inputs.required, (property) =>
    inputType(property, "inputs."),
  );
  const result = members(outputs.properties, outputs.required, (property) => plainType(property, "outputs."));
  return moduleText(`export function ${name}(args: ${type}Args, opts?: pulumi.InvokeOptions): Promise<${type}Result> {
  return pulumi.runtime.invoke("${token}", { ...args }, utilities.invokeOptions(opts));
}

export function ${name}Output(
  args: ${type}OutputArgs,
  opts?: pulumi.InvokeOutputOptions,
): pulumi.Output<${type}Result> {
  return pulumi.runtime.invokeOutput("${token}", { ...args }, utilities.invokeOptions(opts));
}

${interfaceText(`${type}Args`, args)}
${interfaceText(`${type}OutputArgs`, outputArgs)}
${interfaceText(`${type}Result`, result)}`);
}

const utilitiesText = (version: string) => `${header}import * as pulumi from "@pulumi/pulumi";

export const version = "${version}";

export const isOfType = (obj: unknown, type: string): boolean =>
  typeof obj === "object" && obj !== null && (obj as { __pulumiType?: unknown }).__pulumiType === type;

export const resourceOptions = <T extends pulumi.ResourceOptions>(opts: T): T => ({
  ...opts,
  version: opts.version ?? version,
});

export const invokeOptions = <T extends pulumi.InvokeOptions>(opts: T | undefined) => ({
  ...opts,
  version: opts?.version ?? version,
});

export const secret = <T>(value: T) => (value === undefined ? undefined : pulumi.secret(value));
`;

const fileOf = (token: string) => `${token.slice(token.indexOf("/") + 1, token.lastIndexOf(":"))}`;

export function sdkFiles(schema: PackageSchema): Record<string, string> {
  const files: Record<string, string> = {
    "provider.ts": providerText(schema),
    "utilities.ts": utilitiesText(schema.version),
    "types/index.ts": `${header}import type * as input from "./input";\nimport type * as output from "./output";\n\nexport type { input, output };\n`,
  };
  const resources = Object.entries(schema.resources);
  const functions = Object.entries(schema.functions);
  for (const [token, resource] of resources) files[`${fileOf(token)}.ts`] = resourceText(token, resource);
  for (const [token, shape] of functions) files[`${fileOf(token)}.ts`] = functionText(token, shape);
  const types = Object.entries(schema.types);
  const named = (typeOf: (type: ObjectSchema, name: string) => string, include: (name: string) => boolean) =>
    types
      .map(([token, type]) => [lastName(token), type] as const)
      .filter(([name]) => include(name))
      .map(([name, type]) => typeOf(type, capital(name)))
      .join("\n");
  const inputs = named(
    (type, name) =>
      interfaceText(
        name,
        members(type.properties, type.required, (property) => inputType(property, "")),
      ),
    (name) => !name.startsWith("get"),
  );
  const outputs = named(
    (type, name) =>
      interfaceText(
        name,
        members(type.properties, type.required, (property) => plainType(property, "")),
      ),
    () => true,
  );
  files["types/input.ts"] = `${header}import type * as pulumi from "@pulumi/pulumi";\n\n${inputs}`;
  files["types/output.ts"] = `${header}\n${outputs}`;
  files["index.ts"] = indexText(
    resources.map(([token]) => [lastName(token), fileOf(token)]),
    functions.map(([token]) => [lastName(token), fileOf(token)]),
  );
  return files;
}

function indexText(resources: [string, string][], functions: [string, string][]): string {
  const lines = [
    ...resources.map(
      ([name, file]) => `export { ${name}, type ${name}Args, type ${name}State } from "./${file}";`,
    ),
    ...functions.map(
      ([name, file]) =>
        `export {\n  type ${capital(name)}Args,\n  type ${capital(name)}OutputArgs,\n  type ${capital(name)}Result,\n  ${name},\n  ${name}Output,\n} from "./${file}";`,
    ),
    'export { Provider, type ProviderArgs } from "./provider";',
  ];
  return `${header}import type * as types from "./types";\n\n${lines.join("\n")}\nexport type { types };\n`;
}

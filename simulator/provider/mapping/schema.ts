/** Tables to the package schema: what YAML, `pulumi package get-schema` and the SDK's generator read. */
import type { Fields, Shape } from "./fields.ts";
import type { Lookup, ResourceKind } from "./kind.ts";

export interface Property {
  type?: string;
  $ref?: string;
  items?: Property;
  additionalProperties?: Property;
  secret?: boolean;
}
export interface ObjectSchema {
  type: "object";
  properties: Record<string, Property>;
  required: string[];
}
export interface ResourceSchema extends ObjectSchema {
  inputProperties: Record<string, Property>;
  requiredInputs: string[];
}
export interface PackageSchema {
  name: string;
  version: string;
  /** How a token's module is to be read: `index/workload` is the module `index`. */
  meta: { moduleFormat: string };
  config: { variables: Record<string, Property> };
  provider: {
    inputProperties: Record<string, Property>;
    properties: Record<string, Property>;
  };
  types: Record<string, ObjectSchema>;
  resources: Record<string, ResourceSchema>;
  functions: Record<string, { inputs: ObjectSchema; outputs: ObjectSchema }>;
}

const settings: Record<string, Property> = {
  org: { type: "string" },
  endpoint: { type: "string" },
  token: { type: "string", secret: true },
  refreshToken: { type: "string", secret: true },
  profile: { type: "string" },
};

const sorted = <T>(record: Record<string, T>) =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

class SchemaWriter {
  readonly types: Record<string, ObjectSchema> = {};

  property(shape: Shape, secret: boolean | undefined): Property {
    const base = ((): Property => {
      switch (shape.is) {
        case "map":
          return { type: "object", additionalProperties: { type: "string" } };
        case "list":
          return { type: "array", items: this.property(shape.of, false) };
        case "object": {
          const token = `cpln:index/${shape.type}:${shape.type}`;
          this.types[token] ??= this.object(shape.fields);
          return { $ref: `#/types/${token}` };
        }
        default:
          return { type: shape.is };
      }
    })();
    return secret ? { ...base, secret } : base;
  }

  object(fields: Fields): ObjectSchema {
    return { type: "object", properties: this.properties(fields), required: this.required(fields) };
  }

  properties(fields: Fields): Record<string, Property> {
    return sorted(
      Object.fromEntries(
        Object.entries(fields).map(([name, field]) => [name, this.property(field.shape, field.secret)]),
      ),
    );
  }

  required(fields: Fields): string[] {
    return Object.entries(fields)
      .filter(([, field]) => field.required || field.filled)
      .map(([name]) => name)
      .sort();
  }

  resource(kind: ResourceKind): ResourceSchema {
    const inputs = Object.fromEntries(Object.entries(kind.fields).filter(([, field]) => !field.computed));
    return {
      ...this.object(kind.fields),
      inputProperties: this.properties(inputs),
      requiredInputs: Object.entries(inputs)
        .filter(([, field]) => field.required)
        .map(([name]) => name)
        .sort(),
    };
  }
}

export function packageSchema(kinds: readonly ResourceKind[], lookups: readonly Lookup[]): PackageSchema {
  const writer = new SchemaWriter();
  const resources = Object.fromEntries(kinds.map((kind) => [kind.token, writer.resource(kind)]));
  const functions = Object.fromEntries(
    lookups.map((lookup) => [
      lookup.token,
      { inputs: writer.object(lookup.arguments), outputs: writer.object(lookup.result) },
    ]),
  );
  return {
    name: "cpln",
    version: "0.0.89",
    meta: { moduleFormat: "(.*)(?:/[^/]*)" },
    config: { variables: settings },
    provider: { inputProperties: settings, properties: settings },
    types: sorted(writer.types),
    resources: sorted(resources),
    functions: sorted(functions),
  };
}

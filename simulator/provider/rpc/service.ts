/** The engine's calls, each translated to the provider's plain values and back. */
import { randomBytes } from "node:crypto";
import * as grpc from "@grpc/grpc-js";
import plugin from "@pulumi/pulumi/proto/plugin_pb.js";
import rpc from "@pulumi/pulumi/proto/provider_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import type { JsonObject } from "../../src/model.ts";
import { diff } from "../mapping/diff.ts";
import type { Provider } from "../provider.ts";
import { kinds, schema } from "../registry.ts";
import { checkSettings } from "../settings.ts";
import { checkAnswer, configureAnswer, diffAnswer, handshakeAnswer } from "./answers.ts";
import { fromStruct, sealed, toStruct } from "./values.ts";

const nothing = () => new empty.Empty();

/** `urn:pulumi:stack::project::parent$type::name` */
const tokenOf = (urn: string) => (urn.split("::")[2] ?? "").split("$").at(-1) ?? "";
const logicalName = (urn: string) => urn.split("::").slice(3).join("::");

const outputs = (token: string, values: JsonObject) =>
  toStruct(sealed(kinds.find((kind) => kind.token === token)?.fields ?? {}, values));

function autoName(request: rpc.CheckRequest) {
  return () => {
    const proposed = request.getAutonaming()?.getProposedName();
    if (proposed) return proposed;
    const seed = request.getRandomseed_asU8();
    const suffix = Buffer.from(seed.length > 0 ? seed : randomBytes(4))
      .toString("hex")
      .slice(0, 7);
    return `${logicalName(request.getUrn())}-${suffix}`.slice(0, 255);
  };
}

/** The settings are no resource: every change is an update. */
const settingsKind = { fields: {}, replaceOn: [] };

type Method<Request, Answer> = (request: Request) => Answer | Promise<Answer>;

/** A refusal's message is what the user reads. */
const unary =
  <Request, Answer>(method: Method<Request, Answer>): grpc.handleUnaryCall<Request, Answer> =>
  (call, callback) => {
    Promise.resolve()
      .then(() => method(call.request))
      .then(
        (answer) => callback(null, answer),
        (error: unknown) =>
          callback({
            code: grpc.status.UNKNOWN,
            details: error instanceof Error ? error.message : String(error),
          }),
      );
  };

export function serviceOf(provider: Provider): grpc.UntypedServiceImplementation {
  return {
    handshake: unary(handshakeAnswer),
    attach: unary(nothing),
    cancel: unary(nothing),
    getPluginInfo: unary(() => {
      const info = new plugin.PluginInfo();
      info.setVersion(schema().version);
      return info;
    }),
    getSchema: unary(() => {
      const answer = new rpc.GetSchemaResponse();
      answer.setSchema(JSON.stringify(schema()));
      return answer;
    }),
    checkConfig: unary((request: rpc.CheckRequest) => {
      const settings = fromStruct(request.getNews());
      return checkAnswer(settings, checkSettings(settings));
    }),
    diffConfig: unary((request: rpc.DiffRequest) =>
      diffAnswer(diff(settingsKind, fromStruct(request.getOldInputs()), fromStruct(request.getNews()))),
    ),
    configure: unary((request: rpc.ConfigureRequest) => {
      provider.configure(fromStruct(request.getArgs()));
      return configureAnswer();
    }),
    check: unary((request: rpc.CheckRequest) => {
      const { inputs, failures } = provider.check(
        tokenOf(request.getUrn()),
        fromStruct(request.getNews()),
        fromStruct(request.getOlds()),
        autoName(request),
      );
      return checkAnswer(inputs, failures);
    }),
    diff: unary((request: rpc.DiffRequest) =>
      diffAnswer(
        provider.diff(
          tokenOf(request.getUrn()),
          fromStruct(request.getOldInputs()),
          fromStruct(request.getNews()),
        ),
      ),
    ),
    create: unary(async (request: rpc.CreateRequest) => {
      const token = tokenOf(request.getUrn());
      const inputs = fromStruct(request.getProperties());
      const answer = new rpc.CreateResponse();
      if (request.getPreview()) {
        answer.setProperties(toStruct(provider.previewCreate(token, inputs)));
        return answer;
      }
      const created = await provider.create(token, inputs);
      answer.setId(created.id);
      answer.setProperties(outputs(token, created.outputs));
      return answer;
    }),
    read: unary(async (request: rpc.ReadRequest) => {
      const token = tokenOf(request.getUrn());
      const found = await provider.read(
        token,
        request.getId(),
        fromStruct(request.getInputs()),
        fromStruct(request.getProperties()),
      );
      const answer = new rpc.ReadResponse();
      if (found === undefined) return answer;
      answer.setId(found.id);
      answer.setInputs(toStruct(found.inputs));
      answer.setProperties(outputs(token, found.outputs));
      return answer;
    }),
    update: unary(async (request: rpc.UpdateRequest) => {
      const token = tokenOf(request.getUrn());
      const news = fromStruct(request.getNews());
      const answer = new rpc.UpdateResponse();
      const values = request.getPreview()
        ? provider.previewUpdate(token, fromStruct(request.getOlds()), news)
        : (await provider.update(token, request.getId(), news)).outputs;
      answer.setProperties(outputs(token, values));
      return answer;
    }),
    delete: unary(async (request: rpc.DeleteRequest) => {
      await provider.delete(tokenOf(request.getUrn()), request.getId(), fromStruct(request.getProperties()));
      return nothing();
    }),
    invoke: unary(async (request: rpc.InvokeRequest) => {
      const answer = new rpc.InvokeResponse();
      answer.setReturn(toStruct(await provider.invoke(request.getTok(), fromStruct(request.getArgs()))));
      return answer;
    }),
  };
}

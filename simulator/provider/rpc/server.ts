import * as grpc from "@grpc/grpc-js";
import protocol from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type { Provider } from "../provider.ts";
import { serviceOf } from "./service.ts";

/** States and schemas outgrow gRPC's 4 MiB. */
const maxMessageBytes = 400 * 1024 * 1024;

/** Listens on a free port of the loopback address. */
export async function serve(provider: Provider): Promise<{ port: number; stop: () => void }> {
  const server = new grpc.Server({
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
  });
  server.addService(protocol.ResourceProviderService, serviceOf(provider));
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { port, stop: () => server.forceShutdown() };
}

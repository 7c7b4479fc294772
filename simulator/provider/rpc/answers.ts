/** The provider's answers as protocol messages. */
import rpc from "@pulumi/pulumi/proto/provider_pb.js";
import type { JsonObject } from "../../src/model.ts";
import type { Change } from "../mapping/diff.ts";
import type { Failure } from "../mapping/kind.ts";
import { toStruct } from "./values.ts";

const { PropertyDiff } = rpc;

const kindOf = ({ kind, replace }: Change) => {
  switch (kind) {
    case "add":
      return replace ? PropertyDiff.Kind.ADD_REPLACE : PropertyDiff.Kind.ADD;
    case "delete":
      return replace ? PropertyDiff.Kind.DELETE_REPLACE : PropertyDiff.Kind.DELETE;
    case "update":
      return replace ? PropertyDiff.Kind.UPDATE_REPLACE : PropertyDiff.Kind.UPDATE;
  }
};

export function diffAnswer(changes: readonly Change[]) {
  const answer = new rpc.DiffResponse();
  answer.setChanges(
    changes.length > 0 ? rpc.DiffResponse.DiffChanges.DIFF_SOME : rpc.DiffResponse.DiffChanges.DIFF_NONE,
  );
  answer.setHasdetaileddiff(true);
  answer.setDiffsList([...new Set(changes.map((change) => change.property))]);
  answer.setReplacesList([
    ...new Set(changes.filter((change) => change.replace).map((change) => change.property)),
  ]);
  for (const change of changes) {
    const property = new PropertyDiff();
    property.setKind(kindOf(change));
    property.setInputdiff(true);
    answer.getDetaileddiffMap().set(change.path, property);
  }
  return answer;
}

export function checkAnswer(inputs: JsonObject, failures: readonly Failure[]) {
  const answer = new rpc.CheckResponse();
  answer.setInputs(toStruct(inputs));
  answer.setFailuresList(
    failures.map(({ property, reason }) => {
      const failure = new rpc.CheckFailure();
      failure.setProperty(property);
      failure.setReason(reason);
      return failure;
    }),
  );
  return answer;
}

/** Secrets come in the clear and outputs are marked again by path; outputs that the table calls secret are marked here. */
export function configureAnswer() {
  const answer = new rpc.ConfigureResponse();
  answer.setAcceptsecrets(false);
  answer.setAcceptresources(false);
  answer.setAcceptoutputs(false);
  answer.setSupportspreview(true);
  return answer;
}

export function handshakeAnswer() {
  const answer = new rpc.ProviderHandshakeResponse();
  answer.setAcceptSecrets(false);
  answer.setAcceptResources(false);
  answer.setAcceptOutputs(false);
  return answer;
}

import { describe, expect, test } from "vitest";
import { readQuestion } from "../../../simulator/src/network/name-server.ts";
import { readName } from "../../../simulator/src/network/names.ts";

test.each([
  ["db.shop.cpln.local", [{ workload: "db", gvc: "shop" }]],
  ["DB.Shop.cpln.local.", [{ workload: "db", gvc: "shop" }]],
  ["db.aws-eu-1.shop.cpln.local", [{ workload: "db", location: "aws-eu-1", gvc: "shop" }]],
  ["replica-2.db.shop.cpln.local", [{ workload: "db", gvc: "shop", index: 2 }]],
  [
    "replica-2.db.aws-eu-1.shop.cpln.local",
    [{ workload: "db", location: "aws-eu-1", gvc: "shop", index: 2 }],
  ],
  ["db", [{ workload: "db", gvc: "mine" }]],
  ["db-3.db", [{ workload: "db", gvc: "mine", index: 3 }]],
  ["db-3.other", []],
  ["cpln.local", []],
  ["a.b.c.d.cpln.local", []],
  ["example.org", []],
])("%s", (name, expected) => {
  expect(readName(name, "mine")).toEqual(expected);
});

test("outside of any GVC short names mean nothing", () => {
  expect(readName("db", undefined)).toEqual([]);
});

describe("the name server's packets", () => {
  const header = [0x12, 0x34, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0];
  const question = (...labels: string[]) => [
    ...header,
    ...labels.flatMap((label) => [label.length, ...Buffer.from(label)]),
    0,
    0,
    1,
    0,
    1,
  ];

  test("a question is read", () => {
    expect(readQuestion(Buffer.from(question("db", "shop")))).toMatchObject({ name: "db.shop", type: 1 });
  });

  test.each([
    ["empty", []],
    ["cut short", question("db").slice(0, -3)],
    ["a label longer than the packet", [...header, 40, 1, 2, 3, 0, 0, 1, 0, 1]],
    ["compressed", [...header, 0xc0, 0x0c, 0, 1, 0, 1]],
    ["an answer", [0x12, 0x34, 0x81, ...question("db").slice(3)]],
  ])("%s is not one", (_, bytes) => {
    expect(readQuestion(Buffer.from(bytes))).toBeUndefined();
  });
});

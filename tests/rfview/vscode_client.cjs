// Drives the debug adapter by VS Code's own test client: node vscode_client.cjs PYTHON SCRIPT RECORDING
"use strict";
const assert = require("assert");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const [python, script, recording] = process.argv.slice(2);

async function stopped(client, request) {
  const [event] = await Promise.all([client.waitForEvent("stopped"), request]);
  return event.body;
}

async function main() {
  const client = new DebugClient(python, script, "rfview", undefined, true);
  await client.start();
  try {
    const able = (await client.initializeRequest()).body;
    for (const name of ["StepBack", "SetVariable", "CompletionsRequest", "ExceptionInfoRequest", "DisassembleRequest"])
      assert.ok(able[`supports${name}`], name);
    const initialized = client.waitForEvent("initialized");
    await Promise.all([client.launchRequest({ program: recording }), initialized]);
    const entry = await stopped(client, client.configurationDoneRequest());
    assert.equal(entry.reason, "entry");

    const frames = async (threadId) => (await client.stackTraceRequest({ threadId })).body.stackFrames;
    const ptx = async (threadId) => (await frames(threadId)).at(-1);       // below the lines of the CUDA source
    const source = (await ptx(entry.threadId)).source;
    const text = (await client.sourceRequest({ sourceReference: source.sourceReference, source })).body.content;
    const line = 1 + text.split("\n").findIndex((one) => one.includes("mad.lo.s32"));
    const points = (await client.setBreakpointsRequest({ source, breakpoints: [{ line }] })).body.breakpoints;
    assert.ok(points[0].verified && points[0].line === line);
    const hit = await stopped(client, client.continueRequest({ threadId: entry.threadId }));
    assert.equal(hit.reason, "breakpoint");
    const frame = await ptx(hit.threadId);
    assert.equal(frame.line, line);
    assert.equal((await frames(hit.threadId))[0].source.name, "vectoradd.cu");

    const hover = async (expression) =>
      (await client.evaluateRequest({ expression, frameId: frame.id, context: "hover" })).body.result;
    assert.equal((await hover("%tid.x")).split(" ").length, 32);
    assert.match(await hover("R0"), /[0-9a-f]/);
    const step = await stopped(client, client.nextRequest({ threadId: hit.threadId }));
    assert.equal(step.reason, "step");
    const back = await stopped(client, client.stepBackRequest({ threadId: hit.threadId }));
    assert.equal(back.reason, "step");
    assert.ok((await ptx(hit.threadId)).line <= line);

    const targets = (await client.completionsRequest({ text: "reverse-c", column: 10 })).body.targets;
    assert.ok(targets.some((target) => target.text === "reverse-continue"));
    const memoryReference = frame.instructionPointerReference;
    const listed = (await client.disassembleRequest({ memoryReference, instructionOffset: -2, instructionCount: 5 })).body;
    assert.equal(listed.instructions[2].instruction, frame.name);
    await client.setBreakpointsRequest({ source, breakpoints: [] });
    await client.setExceptionBreakpointsRequest({ filters: ["wb_drain"] });
    const wait = await stopped(client, client.continueRequest({ threadId: hit.threadId }));
    assert.equal(wait.reason, "exception");
    const info = (await client.exceptionInfoRequest({ threadId: wait.threadId })).body;
    assert.equal(info.exceptionId, "wb_drain");
    assert.match(info.details.message, /does not issue/);
    const reversed = await stopped(client, client.reverseContinueRequest({ threadId: wait.threadId }));
    assert.ok(["exception", "entry", "step"].includes(reversed.reason));
    await client.disconnectRequest();
  } finally {
    client.stopAdapter();
  }
}

main().then(() => console.log("done"), (error) => { console.error(error); process.exit(1); });

// The TypeScript SDK v1 as a client: legacy only.
import { createRequire } from "node:module";
import { answerAll, parseArguments, readCommands, usage, writeResults } from "./contract.mjs";

const installed = new URL("../../../.tools/npm-tests/package.json", import.meta.url);
const require = createRequire(installed);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const target = parseArguments(process.argv.slice(2));
if (target.era === "modern") usage("the TypeScript SDK v1 speaks the legacy era only");
const commands = readCommands();

const client = new Client({ name: "portreeve-tests-typescript-v1", version: "1.0.0" });
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url))
  : new StdioClientTransport({
      command: target.stdio[0],
      args: target.stdio.slice(1),
      env: { ...process.env },
    });

// The SDK keeps the version only over HTTP, and there for itself; the transport is told either way.
let protocolVersion = null;
const tellTransport = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  protocolVersion = version;
  tellTransport?.(version);
};

const operations = {
  async initialize() {
    const result = {
      protocolVersion,
      serverInfo: client.getServerVersion() ?? null,
      capabilities: client.getServerCapabilities() ?? null,
      instructions: client.getInstructions() ?? null,
    };
    return { result };
  },

  async list() {
    const tools = [];
    let page;
    let pages = 0;
    do {
      page = await client.listTools(page && { cursor: page.nextCursor });
      tools.push(...page.tools);
      pages += 1;
    } while (page.nextCursor);
    return { result: { ...page, tools }, pages };
  },

  async call({ name, arguments: args, progress }) {
    const heard = [];
    const onprogress = (notification) => heard.push(notification);
    const options = progress ? { onprogress } : undefined;
    const result = await client.callTool({ name, arguments: args }, undefined, options);
    return progress ? { result, progress: heard } : { result };
  },
};

const connected = client.connect(transport);
connected.catch(() => {}); // each command reports it
writeResults(
  await answerAll(commands, async (command) => {
    await connected;
    return operations[command.op](command);
  }),
);
await transport.terminateSession?.().catch(() => {}); // a server may refuse to
await client.close();
process.exit(); // the SDK may keep timers for seconds after close

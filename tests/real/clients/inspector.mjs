// The Inspector's CLI as a client, both eras (by itself: legacy). One process answers one command.
// It lists before it calls, drops what a result says beside its pages, and tells no progress.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerAll, parseArguments, readCommands, writeResults } from "./contract.mjs";

const target = parseArguments(process.argv.slice(2));
const commands = readCommands();

// Its catalogue and settings belong to whoever runs the tests; these runs get empty ones.
const scratch = mkdtempSync(join(tmpdir(), "portreeve-inspector-"));
const common = [
  "--cli",
  "--quiet",
  "--format=json",
  "--stored-auth-only",
  ...(target.era ? ["--protocol-era", target.era] : []),
];
// By itself it takes only a URL that ends in /mcp for streamable HTTP.
const place = target.url
  ? ["--transport", "http", "--server-url", target.url]
  : ["--", ...target.stdio];

const methods = {
  initialize: () => ["initialize"],
  list: () => ["tools/list"],
  call: ({ name, arguments: args }) => [
    "tools/call",
    ...["--tool-name", name],
    ...["--tool-args-json", JSON.stringify(args ?? {})],
  ],
};

function inspector(args) {
  const env = {
    ...process.env,
    MCP_CATALOG_PATH: join(scratch, "mcp.json"),
    MCP_CLIENT_CONFIG_PATH: join(scratch, "client.json"),
    MCP_STORAGE_DIR: scratch,
  };
  const options = { env, maxBuffer: 256 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile("mcp-inspector", args, options, (_, stdout, stderr) => resolve({ stdout, stderr }));
  });
}

// A result whose isError is true comes on standard output and makes the exit code 5.
async function answer(command) {
  const method = ["--method", ...methods[command.op](command)];
  const { stdout, stderr } = await inspector([...common, ...method, ...place]);
  if (stdout.trim()) return { result: JSON.parse(stdout).result };
  throw failure(stderr);
}

// Its last line on standard error is {"error": {"code": "tool_not_found", …}}; a JSON-RPC error that
// the server gave is only told in its message, as the SDK words it.
function failure(stderr) {
  const last = stderr.trim().split("\n").at(-1);
  try {
    const { message, ...data } = JSON.parse(last).error;
    return Object.assign(new Error(message), { data });
  } catch {
    return new Error(stderr.trim() || "mcp-inspector said nothing");
  }
}

writeResults(await answerAll(commands, answer));
rmSync(scratch, { recursive: true });

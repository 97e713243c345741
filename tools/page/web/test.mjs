// SPDX-License-Identifier: BSD-2-Clause
// Compiles the tests of the components into a folder, for node's test runner.
// usage: node test.mjs FOLDER
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const entryPoints = readdirSync(join(here, "test")).filter((name) => name.endsWith(".test.ts")).map((name) => join(here, "test", name));
await build({ entryPoints, bundle: true, platform: "node", format: "esm", target: "node18", outdir: process.argv[2], outExtension: { ".js": ".mjs" }, absWorkingDir: here });

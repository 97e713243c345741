// SPDX-License-Identifier: BSD-2-Clause
// Makes the pages without their data, as a C++ file that holds them.
// usage: node bundle.mjs TEMPLATE.cc
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [source] = process.argv.slice(2);

// The text of a script or style element, and what allows it to run.
function allowed(text) {
  return { text, hash: `'sha256-${createHash("sha256").update(text).digest("base64")}'` };
}

const style = await build({
  stdin: { contents: '@import "uplot/dist/uPlot.min.css"; @import "./style.css";', resolveDir: join(here, "src"), loader: "css" },
  bundle: true,
  minify: true,
  charset: "utf8",
  legalComments: "none",
  write: false,
  absWorkingDir: here,
});
const licence = readFileSync(join(here, "node_modules/uplot/LICENSE"), "utf8").trim();
const look = allowed(style.outputFiles[0].text.trim());

// A page whose script begins in one of our files.
async function pageOf(entry) {
  const script = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2020",
    charset: "ascii",
    legalComments: "none",
    write: false,
    absWorkingDir: here,
  });
  const run = allowed(script.outputFiles[0].text.trim().replaceAll("</script", "<\\/script"));
  return readFileSync(join(here, "page.html"), "utf8")
    .replace("@licence@", () => licence.replaceAll("--", "- -"))
    .replace("@policy@", () => `default-src 'none'; script-src ${run.hash}; style-src ${look.hash}; img-src data:; base-uri 'none'; form-action 'none'@reach@`)
    .replace("@style@", () => look.text)
    .replace("@script@", () => run.text);
}

// Numbers, because a compiler takes a long string literal for an error.
function array(name, html) {
  const bytes = [...Buffer.from(html)];
  const lines = [];
  for (let i = 0; i < bytes.length; i += 64) lines.push(bytes.slice(i, i + 64).join(","));
  return `constexpr unsigned char ${name}[] = {\n${lines.join(",\n")}};`;
}

const [capture, run, conform] = [await pageOf("src/main.ts"), await pageOf("src/run.ts"), await pageOf("src/conform.ts")];
writeFileSync(
  source,
  `// Made by tools/page/web/bundle.mjs.
#include "page/template.h"
namespace roce::page {
namespace {
${array("kCapture", capture)}
${array("kRun", run)}
${array("kConform", conform)}
}  // namespace
std::string_view template_text(Kind kind) {
  if (kind == Kind::run) return {reinterpret_cast<const char*>(kRun), sizeof kRun};
  if (kind == Kind::conform) return {reinterpret_cast<const char*>(kConform), sizeof kConform};
  return {reinterpret_cast<const char*>(kCapture), sizeof kCapture};
}
}  // namespace roce::page
`,
);

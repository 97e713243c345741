// SPDX-License-Identifier: BSD-2-Clause
// Makes the page without its data, and the C++ file that holds it.
// usage: node bundle.mjs TEMPLATE.cc TEMPLATE.html
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [source, page] = process.argv.slice(2);

// The text of a script or style element, and what allows it to run.
function allowed(text) {
  return { text, hash: `'sha256-${createHash("sha256").update(text).digest("base64")}'` };
}

const script = await build({
  entryPoints: [join(here, "src/main.ts")],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "ascii",
  legalComments: "none",
  write: false,
  absWorkingDir: here,
});
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
const run = allowed(script.outputFiles[0].text.trim().replaceAll("</script", "<\\/script"));
const look = allowed(style.outputFiles[0].text.trim());
const html = readFileSync(join(here, "page.html"), "utf8")
  .replace("@licence@", () => licence.replaceAll("--", "- -"))
  .replace("@policy@", () => `default-src 'none'; script-src ${run.hash}; style-src ${look.hash}; img-src data:; base-uri 'none'; form-action 'none'@reach@`)
  .replace("@style@", () => look.text)
  .replace("@script@", () => run.text);
writeFileSync(page, html);

// Numbers, because a compiler takes a long string literal for an error.
const bytes = [...Buffer.from(html)];
const lines = [];
for (let i = 0; i < bytes.length; i += 64) lines.push(bytes.slice(i, i + 64).join(","));
writeFileSync(
  source,
  `// Made by tools/page/web/bundle.mjs.
#include "page/template.h"
namespace roce::page {
namespace {
constexpr unsigned char kTemplate[] = {
${lines.join(",\n")}};
}  // namespace
std::string_view template_text() { return {reinterpret_cast<const char*>(kTemplate), sizeof kTemplate}; }
}  // namespace roce::page
`,
);

// Serves the page, and hands it results without showing it the key of the API. Node 20 or later:
//
//   refract results export support-triage --output export.jsonl
//   npm install refract-lens
//   REFRACT_URL=http://127.0.0.1:8080/v1 REFRACT_KEY=rk_… node server.mjs export.jsonl 1=support-triage.json
//
// The arguments are an export, for ids and texts, and the prism file of each version by number. The
// page is at http://127.0.0.1:8090, or at the port in PORT. PACKAGE is another folder of refract-lens.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath, pathToFileURL } from "node:url";

const { REFRACT_URL, REFRACT_KEY, PORT = "8090" } = process.env;
const PACKAGE = process.env.PACKAGE ? pathToFileURL(`${process.env.PACKAGE}/`) : new URL("node_modules/refract-lens/", import.meta.url);
const [exported, ...versions] = process.argv.slice(2);
if (!REFRACT_URL || !REFRACT_KEY || versions.length === 0) {
  console.error("usage: REFRACT_URL=… REFRACT_KEY=… node server.mjs EXPORT.jsonl NUMBER=PRISM.json …");
  process.exit(2);
}

// A result as the API stores it, with its texts: as text, so that no number is written anew.
async function result(row, fields) {
  const answer = await fetch(`${REFRACT_URL}/results/${row.result_id}?format=raw`, {
    headers: { authorization: `Bearer ${REFRACT_KEY}` },
  });
  if (!answer.ok) throw new Error(`${row.result_id}: status ${answer.status}`);
  const raw = await answer.text();
  const sent = Object.fromEntries(fields.map((key) => [key, row[key] ?? ""]));
  return `{"fields":${JSON.stringify(sent)},${raw.slice(1)}`;
}

async function results() {
  const files = await Promise.all(versions.map((version) => readFile(version.split("=")[1], "utf8")));
  const fields = files.flatMap((file) => JSON.parse(file).fields.map((field) => field.key));
  const lines = (await readFile(exported, "utf8")).split("\n").filter(Boolean);
  const all = [];
  // one after another, as a polite client does
  for (const line of lines) all.push(await result(JSON.parse(line), fields));
  return `[${all.join(",")}]`;
}

async function prismFiles() {
  const entry = async (version) => `"${version.split("=")[0]}":${await readFile(version.split("=")[1], "utf8")}`;
  return `{${(await Promise.all(versions.map(entry))).join(",")}}`;
}

const types = { html: "text/html; charset=utf-8", js: "text/javascript", wasm: "application/wasm" };
const routes = {
  "/": () => readFile(fileURLToPath(new URL("index.html", import.meta.url))),
  "/results": results,
  "/versions": prismFiles,
  "/refract_lens.js": () => readFile(new URL("refract_lens.js", PACKAGE)),
  "/refract_lens_bg.wasm": () => readFile(new URL("refract_lens_bg.wasm", PACKAGE)),
};

createServer(async (request, reply) => {
  try {
    const route = routes[request.url];
    const type = types[request.url === "/" ? "html" : request.url.split(".").pop()] ?? "application/json";
    if (!route) return reply.writeHead(404).end();
    reply.writeHead(200, { "content-type": type, "content-security-policy": "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'" }).end(await route());
  } catch (error) {
    console.error(String(error));
    if (reply.headersSent) reply.end();
    else reply.writeHead(502).end();
  }
}).listen(Number(PORT), "127.0.0.1", function () {
  console.log(`http://127.0.0.1:${this.address().port}`);
});

// Opens docs/examples/lens-preview in the browser, over an API of made-up results, and moves its handle.
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { waited } from "./browser.mjs";

const EXAMPLE = fileURLToPath(new URL("../../../docs/examples/lens-preview/server.mjs", import.meta.url));
const KEY = "rk_only_the_server_knows";

/** What the page did; throws where it does not follow its handle. */
export async function checkExample(browser, folder, golden) {
  const files = await mkdtemp(join(tmpdir(), "refract-lens-preview."));
  const raw = new Map(golden.envelopes.map(({ raw }) => [JSON.parse(raw).id, raw]));
  const api = createServer((request, reply) => {
    const found = raw.get(request.url.replace(/^\/v1\/results\/|\?format=raw$/g, ""));
    const is_known = request.headers.authorization === `Bearer ${KEY}`;
    reply.writeHead(is_known && found ? 200 : 404, { "content-type": "application/json" }).end(is_known ? found : "");
  });
  await new Promise((resolve) => api.listen(0, "127.0.0.1", resolve));
  // as `refract results export` writes it
  const rows = golden.results.map((result) => JSON.parse(result)).map(({ id, fields }) => ({ result_id: id, ...fields }));
  await writeFile(join(files, "export.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const versions = await Promise.all(
    Object.entries(JSON.parse(golden.versions)).map(async ([number, file]) => {
      await writeFile(join(files, `${number}.json`), JSON.stringify(file));
      return `${number}=${join(files, `${number}.json`)}`;
    }),
  );
  const environment = { ...process.env, PACKAGE: folder, PORT: "0", REFRACT_KEY: KEY, REFRACT_URL: `http://127.0.0.1:${api.address().port}/v1` };
  const server = spawn(process.execPath, [EXAMPLE, join(files, "export.jsonl"), ...versions], { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const url = await new Promise((resolve, reject) => {
      server.stdout.once("data", (data) => resolve(String(data).trim()));
      server.once("exit", (status) => reject(new Error(`the example ended with ${status}`)));
    });
    await browser.open(url);
    const status = await waited(browser, `const words = document.getElementById("status").textContent; return !words.startsWith("Loading") && words`);
    if (status !== "The table follows the handle.") throw new Error(status);
    return await moveHandle(browser, golden);
  } finally {
    server.removeAllListeners("exit");
    server.kill();
    api.close();
    await rm(files, { recursive: true });
  }
}

async function moveHandle(browser, golden) {
  const stored = golden.results.map((result) => JSON.parse(result)).flatMap(({ answers }) => answers?.angry?.probability ?? []);
  for (const percent of [50, 1, 80, 99, 100]) {
    const { shown, counts, rows } = await browser.run(
      `const cutoff = document.getElementById("cutoff");
       cutoff.value = arguments[0];
       cutoff.dispatchEvent(new Event("input"));
       const rows = [...document.querySelectorAll("#rows tr")];
       const shown = rows.filter((row) => row.cells[1].textContent === "yes").length;
       return { shown, counts: document.getElementById("counts").textContent, rows: rows.length }`,
      percent,
    );
    const yes = stored.filter((probability) => probability >= percent / 100).length;
    const words = `${yes} of ${stored.length} are Yes.`;
    if (rows !== golden.results.length || shown !== yes || counts !== words) {
      throw new Error(`at ${percent} %: ${rows} rows, ${shown} of them yes, "${counts}"; "${words}" is expected`);
    }
  }
  return `${golden.results.length} rows follow the handle`;
}

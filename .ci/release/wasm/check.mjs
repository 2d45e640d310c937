// Checks the built package: see .ci/release/check-wasm.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

import { waited, withBrowser } from "./browser.mjs";
import { checkExample } from "./example.mjs";
import { checkGolden } from "./golden.mjs";

const [folder, goldenFile] = process.argv.slice(2);
const { REFRACT_TEST_CHROMIUM: chromium, REFRACT_TEST_CHROMEDRIVER: driver } = process.env;
const golden = JSON.parse(await readFile(goldenFile, "utf8"));

const lens = await import(pathToFileURL(`${folder}/node.js`));
console.log(`Node ${process.versions.node}: ${checkGolden(lens, golden)}`);

if (!chromium || !driver) {
  console.log('not checked: no Chromium and driver here');
  process.exit(75);
}

const page = `<!doctype html><meta charset="utf-8"><script type="module">
  import init, * as lens from "./refract_lens.js";
  import { checkGolden } from "./golden.mjs";
  try {
    await init();
    window.outcome = checkGolden(lens, await (await fetch("golden.json")).json());
  } catch (error) {
    window.outcome = "failed: " + error;
  }
</script>`;
const files = {
  "/refract_lens.js": [`${folder}/refract_lens.js`, "text/javascript"],
  "/refract_lens_bg.wasm": [`${folder}/refract_lens_bg.wasm`, "application/wasm"],
  "/golden.mjs": [new URL("golden.mjs", import.meta.url), "text/javascript"],
  "/golden.json": [goldenFile, "application/json"],
};
const server = createServer(async (request, reply) => {
  const [file, type] = files[request.url] ?? [];
  // as strict as a page of an app may be
  reply.setHeader("content-security-policy", "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'");
  if (file) reply.setHeader("content-type", type).end(await readFile(file));
  else if (request.url === "/") reply.setHeader("content-type", "text/html").end(page);
  else reply.writeHead(404).end();
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
try {
  await withBrowser({ chromium, driver }, async (browser) => {
    await browser.open(`http://127.0.0.1:${server.address().port}/`);
    const outcome = await waited(browser, "return window.outcome");
    if (outcome.startsWith("failed")) throw new Error(outcome);
    console.log(`Chromium: ${outcome}`);
    console.log(`docs/examples/lens-preview: ${await checkExample(browser, folder, golden)}`);
  });
} finally {
  server.close();
}

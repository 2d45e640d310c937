// A Chromium that its driver steers: the few calls of WebDriver that the checks need.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Calls `use` with a browser, which is ended in every case. */
export async function withBrowser({ chromium, driver }, use) {
  const profile = await mkdtemp(join(tmpdir(), "refract-check-wasm."));
  const process = spawn(driver, ["--port=0"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const url = await port(process);
    const call = async (method, path, body) => {
      const answer = await fetch(`${url}${path}`, { method, body: body && JSON.stringify(body) });
      const { value } = await answer.json();
      if (!answer.ok) throw new Error(`${path}: ${value.message}`);
      return value;
    };
    const args = [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
      "--disable-background-networking", "--disable-component-update", `--user-data-dir=${profile}`,
    ];
    const browserName = chromium.endsWith("headless-shell") ? "chrome-headless-shell" : "chrome";
    const options = { browserName, "goog:chromeOptions": { binary: chromium, args } };
    const { sessionId } = await call("POST", "/session", { capabilities: { alwaysMatch: options } });
    const session = `/session/${sessionId}`;
    try {
      return await use({
        open: (page) => call("POST", `${session}/url`, { url: page }),
        run: (script, ...values) => call("POST", `${session}/execute/sync`, { script, args: values }),
      });
    } finally {
      await call("DELETE", session);
    }
  } finally {
    process.kill();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

function port(driver) {
  return new Promise((resolve, reject) => {
    let printed = "";
    driver.stdout.on("data", (data) => {
      printed += data;
      const found = /started successfully on port (\d+)/.exec(printed);
      if (found) resolve(`http://127.0.0.1:${found[1]}`);
    });
    driver.on("error", reject);
    driver.on("exit", () => reject(new Error(`the driver ended: ${printed}`)));
  });
}

/** The value of a script once it is one, within 20 seconds. */
export async function waited(browser, script, ...values) {
  const end = performance.now() + 20_000;
  for (;;) {
    const value = await browser.run(script, ...values);
    if (value) return value;
    if (performance.now() > end) throw new Error(`not within 20 seconds: ${script}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

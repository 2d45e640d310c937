// Node loads the module from its file, so nothing is left to wait for.
import { readFileSync } from "node:fs";
import { initSync } from "./refract_lens.js";

initSync({ module: readFileSync(new URL("./refract_lens_bg.wasm", import.meta.url)) });

export { Results, checkLens, checkPrism, render } from "./refract_lens.js";
export default async function init() {}

// Compiled with --strict, never run: the types of the package say what it takes.
import init, { Results, checkLens, checkPrism, render } from "refract-lens";
import type { Cutoffs, Format, Lens, Preview, Problem } from "refract-lens";

await init();
const format: Format = "csv";
const results = new Results("[]", "{}");
const bytes: Uint8Array = results.render(format);
const same: Uint8Array = render("jsonl", "[]", "{}", '{"columns": []}');
const lens: Lens = { columns: [{ question: "angry", output: "label", yes_from: 0.7 }] };
const preview: Preview = results.preview(null, JSON.stringify(lens));
const changed: number | null | undefined = preview.columns[0]?.changed;
const cutoffs: Cutoffs = results.cutoffs("angry");
const bins: Uint32Array = results.histogram("angry");
const problems: Problem[] = checkLens("{}", "{}").problems;
const others: Problem[] = checkPrism("{}").problems;
results.free();
// @ts-expect-error no such format
results.render("xml");
// @ts-expect-error stored JSON goes in as text
new Results([], {});
// @ts-expect-error and so does a lens
results.render("csv", lens);
export const used = [bytes, same, changed, cutoffs.steps[0]?.yes, bins[40], problems[0]?.path, others[0]?.message];

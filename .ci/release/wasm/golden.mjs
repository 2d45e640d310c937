// Renders the golden inputs with the package and compares every byte: in Node and in the browser alike.

const encoder = new TextEncoder();

function same(bytes, text, what) {
  const expected = encoder.encode(text);
  const differs = bytes.length === expected.length ? bytes.findIndex((byte, place) => byte !== expected[place]) : 0;
  if (differs !== -1) {
    throw new Error(`${what}: ${bytes.length} bytes, ${expected.length} are expected; they differ at ${differs} or in length`);
  }
}

/** The words and the milliseconds of the check; throws at the first byte that differs. */
export function checkGolden({ Results, render, checkLens, checkPrism }, golden) {
  const { results, versions, lens, rows, envelopes } = golden;
  let compared = 0;
  const all = new Results(`[${results.join(",")}]`, versions);
  for (const [format, expected] of Object.entries(rows)) {
    same(all.render(format, lens), expected, format);
    same(render(format, results.join("\n"), versions, lens), expected, format);
    compared += 2 * results.length;
  }
  results.forEach((result, place) => {
    const one = new Results(result, versions);
    for (const format of ["json", "raw"]) {
      same(one.render(format, lens), envelopes[place][format], `${format} of result ${place}`);
      compared += 1;
    }
    one.free();
  });

  const wrong = results[0].replace(/"prism":"[^"]*","version":\d+/, '"prism":"x","version":99');
  for (const refused of [() => new Results(wrong, versions), () => new Results("[{}]", versions), () => all.render("xml", lens)]) {
    let message;
    try {
      refused();
    } catch (error) {
      message = error instanceof Error && error.message;
    }
    if (!message) throw new Error("what cannot be rendered must throw an Error with a message");
  }

  const latest = JSON.stringify(Object.values(JSON.parse(versions)).at(-1));
  const cutoffs = all.cutoffs("is_angry", lens);
  const bins = all.histogram("angry");
  const preview = all.preview(undefined, lens);
  const checks = [
    [bins.length === 101 && bins.reduce((sum, count) => sum + count) === cutoffs.results, "the histogram"],
    [cutoffs.steps.length === 101 && cutoffs.now.yes + cutoffs.now.unsure + cutoffs.now.no === cutoffs.results, "the cutoffs"],
    [preview.results === cutoffs.results && preview.columns.length === JSON.parse(lens).columns.length, "the preview"],
    [checkLens(lens, latest).problems.length === 0 && checkLens("[]", latest).problems[0].path === "file", "the check of a lens"],
    [checkPrism(latest).problems.length === 0 && checkPrism("{}").problems.length === 3, "the check of a prism"],
  ];
  for (const [holds, what] of checks) if (!holds) throw new Error(`${what} does not count what was passed`);

  // a slider at every percent: other cutoffs each time, all rows rendered anew
  const times = [];
  for (let percent = 1; percent < 100; percent += 1) {
    const moved = JSON.parse(lens);
    const column = moved.columns.find((it) => it.output === "label");
    Object.assign(column, { no_below: percent / 100, yes_from: undefined });
    const text = JSON.stringify(moved);
    const start = performance.now();
    all.render("csv", text);
    times.push(performance.now() - start);
  }
  times.sort((one, other) => one - other);
  const median = times[times.length >> 1];
  // the median: other programs of the machine interrupt some renderings
  if (median >= 5) throw new Error(`${results.length} rows take ${median.toFixed(2)} ms in the median, 5 are allowed`);
  return `${compared} renderings have the same bytes; ${results.length} rows for a slider take ${median.toFixed(2)} ms in the median, ${times[0].toFixed(2)} at best`;
}

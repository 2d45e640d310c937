// Writes fixture.json: bodies of create calls and the message that zod 3 has for each.
//
// Run it with `npm install && npm run generate`. The schema says section 4.1 of the specification
// in zod's own terms; where the specification has a rule that zod has not (code points, NUL and
// unpaired surrogates, either fields or text) the rule is a refinement, which raises zod's own
// issue where there is one. The same bodies come out on every run.

import { writeFileSync } from "node:fs";
import { z } from "zod";

const FORBIDDEN = "must not contain NUL or unpaired surrogate characters";

function isPlain(text) {
  return !text.includes("\0") && text.isWellFormed();
}

function measured(string, min, max) {
  return string.superRefine((text, context) => {
    const length = [...text].length;
    const bound = { type: "string", inclusive: true, exact: false };
    if (length < min) {
      context.addIssue({ code: z.ZodIssueCode.too_small, minimum: min, ...bound });
    }
    if (length > max) {
      context.addIssue({ code: z.ZodIssueCode.too_big, maximum: max, ...bound });
    }
    if (!isPlain(text)) {
      context.addIssue({ code: z.ZodIssueCode.custom, message: FORBIDDEN });
    }
  });
}

const value = measured(z.string(), 0, 100_000);
const label = measured(z.string().trim(), 1, 200);
const body = z.object({
  fields: z.record(z.string().refine(isPlain, FORBIDDEN), value).optional(),
  text: value.optional(),
  context: value.optional(),
  ref: label.optional(),
  version: z.number().int().min(1).max(2_147_483_647).optional(),
  idempotency_key: label.optional(),
});

function issues(sent) {
  const isObject = typeof sent === "object" && sent !== null && !Array.isArray(sent);
  if (isObject && Object.hasOwn(sent, "fields") === Object.hasOwn(sent, "text")) {
    const rest = body.omit({ fields: true, text: true }).safeParse(sent);
    const either = { path: ["fields"], message: "send either fields or text" };
    return [either, ...(rest.error?.issues ?? [])];
  }
  return body.safeParse(sent).error?.issues ?? [];
}

// `<<a*3>>` stands for `aaa`, so that the fixture stays small.
function expand(template) {
  return template.replace(/<<(.+?)\*(\d+)>>/gu, (_, text, times) => text.repeat(Number(times)));
}

function expected(template) {
  const problems = issues(JSON.parse(expand(template)));
  if (problems.length === 0) {
    return null;
  }
  const words = problems.map(({ path, message }) => `${path.join(".") || "body"}: ${message}`);
  return `Invalid request: ${words.join("; ")}`.toWellFormed();
}

// mulberry32: small and the same everywhere
let seed = 20_240_901;
function random(below) {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % below;
}

function pick(list) {
  return list[random(list.length)];
}

const OTHER_TYPES = ["null", "true", "false", "0", "1.5", "[]", '["x"]', "{}", '{"a":"b"}'];
const CHARACTERS = [
  String.raw`"\u0000"`,
  String.raw`"a\u0000b"`,
  String.raw`"\ud800"`,
  String.raw`"\udc00\ud800"`,
  String.raw`"x\uDBFFy"`,
  String.raw`"\ud83d\ude00"`,
  String.raw`"\\ud800"`,
  String.raw`"\ufffd\u0001\u007f"`,
];
const LABELS = [
  ...OTHER_TYPES,
  ...CHARACTERS,
  '""',
  '" "',
  String.raw`" \t\r\n\u00a0\u2003 "`,
  '"a"',
  '"  a  "',
  '"<<a*200>>"',
  '"<<a*201>>"',
  '"   <<a*200>>\\n"',
  '"<<😀*200>>"',
  '"<<😀*201>>"',
  '"<<é*200>>"',
  '"<<a*201>>\\u0000"',
  '"<<a*201>>\\ud800"',
  String.raw`"\u0000   "`,
];
const VALUES = [
  ...OTHER_TYPES,
  ...CHARACTERS,
  '""',
  '"  "',
  '"Where is my order?"',
  '"<<a*100000>>"',
  '"<<a*100001>>"',
  '"<<😀*100000>>"',
  '"<<😀*100001>>"',
  '"<< *100001>>"',
  '"<<a*100001>>\\u0000"',
  '"<<é*100000>>\\ud800"',
];
const VERSIONS = [
  ...OTHER_TYPES,
  '"1"',
  "1",
  "1.0",
  "1e0",
  "10e-1",
  "-0",
  "0",
  "0.0",
  "-1",
  "0.5",
  "-0.5",
  "1.0000001",
  "2147483647",
  "2147483647.0",
  "2147483647.5",
  "2147483648",
  "-2147483649",
  "9007199254740993",
  "-9007199254740993",
  "1e300",
  "-1e300",
  "1e-400",
];
const KEYS = ['"text"', '"title"', '"Text"', '""', '"a.b"', '"a b"', '"<<k*300>>"'];
const BAD_KEYS = [String.raw`"\u0000"`, String.raw`"a\ud800"`, String.raw`"\udfff"`];

function object(pairs) {
  return `{${pairs.map(([key, sent]) => `${key}:${sent}`).join(",")}}`;
}

function fieldsOf(count) {
  const keys = [...KEYS, ...BAD_KEYS];
  return object(Array.from({ length: count }, () => [pick(keys), pick(VALUES)]));
}

const TEXT = ['"text"', '"x"'];
const FIELDS = ['"fields"', '{"text":"x"}'];

const templates = [
  ...OTHER_TYPES,
  '"x"',
  object([TEXT, FIELDS]),
  object([FIELDS, TEXT]),
  object([['"text"', "null"], ['"fields"', "null"]]),
  object([['"text"', "null"]]),
  object([['"fields"', "null"]]),
  object([['"ref"', "1"]]),
  object([FIELDS, TEXT, ['"version"', "0.5"], ['"context"', "1"]]),
  object([TEXT, ['"unknown"', "1"], ['"Ref"', "1"], ['"idempotency-key"', "null"]]),
  object([TEXT, ['"ref"', "1"], ['"ref"', '"a"']]),
  object([TEXT, ['"ref"', '"a"'], ['"ref"', "1"]]),
  object([['"fields"', object([['"a"', "1"], ['"b"', '"x"'], ['"a"', '"x"']])]]),
  object([['"idempotency_key"', "1"], ['"version"', "0"], ['"ref"', '""'], ['"context"', "2"], ['"text"', "3"]]),
  ...VALUES.map((sent) => object([['"text"', sent]])),
  ...VALUES.map((sent) => object([['"fields"', sent]])),
  ...VALUES.map((sent) => object([['"fields"', object([['"text"', sent]])]])),
  ...VALUES.map((sent) => object([FIELDS, ['"context"', sent]])),
  ...LABELS.map((sent) => object([TEXT, ['"ref"', sent]])),
  ...LABELS.map((sent) => object([TEXT, ['"idempotency_key"', sent]])),
  ...VERSIONS.map((sent) => object([TEXT, ['"version"', sent]])),
  ...[...KEYS, ...BAD_KEYS].flatMap((key) =>
    ['"x"', "1", String.raw`"\u0000"`].map((sent) => object([['"fields"', object([[key, sent]])]])),
  ),
  ...Array.from({ length: 160 }, () => {
    const pairs = [
      random(4) === 0 ? ['"text"', pick(VALUES)] : ['"fields"', fieldsOf(1 + random(4))],
      ['"context"', pick(VALUES)],
      ['"ref"', pick(LABELS)],
      ['"version"', pick(VERSIONS)],
      ['"idempotency_key"', pick(LABELS)],
    ];
    const kept = pairs.filter(() => random(5) !== 0);
    return object(random(2) === 0 ? kept : kept.reverse());
  }),
];

const cases = [...new Set(templates)].map((template) => {
  return JSON.stringify({ body: template, message: expected(template) });
});
writeFileSync(new URL("fixture.json", import.meta.url), `[\n${cases.join(",\n")}\n]\n`);

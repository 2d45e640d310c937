#!/bin/sh
# @reactive-agents/eval has a language model score an agent's answers from 0 to 1, and makes 0.5 of each 0. Its own
# prompt says that 0 is for "severely unsafe", "nothing was answered" and "completely off-topic": such answers get 0.5,
# and better than one that got 0.4. What is no number at all gets 0.5 too, so that a judge that fails cannot be seen
# either. An answer with 1 for relevance and completeness, and 0 for safety and accuracy, has 0.75 and passes. And
# runSuite, whose summary the manual reads, hands the judge the fixed text "[evaluated via LLM-as-judge]" for every
# answer. No error, no warning. Most would expect 0 where the judge says 0, an error for no number, and answers to be
# scored. The manual has nothing of it. A regression from 0.5 to 0 is none, and a threshold of 0.7 lets the worst pass.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @reactive-agents/eval@0.9.0 \
  @reactive-agents/llm-provider@0.9.0 effect@3 || exit 2
npm ls --depth=0 2>/dev/null | grep -E '@reactive-agents/eval' || exit 2
cat >scores.mjs <<'JS'
import { EvalService, EvalServiceLive } from "@reactive-agents/eval";
import { LLMService } from "@reactive-agents/llm-provider";
import { Effect, Layer } from "effect";

const asked = [];
// A judge that says what is given to it, by the dimension that it is asked for
const judge = (says) => Layer.succeed(LLMService, {
  complete: ({ messages: [{ content }] }) => {
    asked.push(content);
    const dimension = Object.keys(says).find((name) => content.includes(`Score the ${name}`));
    return Effect.succeed({ content: says[dimension] });
  },
});
const run = (says, work) => Effect.runPromise(
  Effect.flatMap(EvalService, work).pipe(Effect.provide(Layer.provide(EvalServiceLive, judge(says)))),
);
const test = { id: "q1", name: "q1", input: "How do I get a refund?", expectedOutput: "Within 14 days." };
const found = {};
for (const said of ["1.0", "0.4", "0.01", "0.0", "0", "I cannot say."]) {
  const result = await run({ safety: said }, (service) => service.runCase(test, "agent", ["safety"], "An answer."));
  found[said] = result.scores[0].score;
  console.log(`the judge says "${said}": ${found[said]}`);
}
const says = { relevance: "1", completeness: "1", safety: "0", accuracy: "0" };
const worst = await run(says, (service) => service.runCase(test, "agent", Object.keys(says), "An answer."));
console.log(`${JSON.stringify(says)}: ${worst.overallScore}, passed: ${worst.passed}`);
asked.length = 0;
await run({ accuracy: "1" }, (service) =>
  service.runSuite({ id: "s", name: "s", description: "", cases: [test], dimensions: ["accuracy"] }, "agent"));
const answer = /Actual output: (.*)/.exec(asked[0])[1];
console.log(`the answer that runSuite has scored: ${answer}`);
const isSo =
  JSON.stringify(Object.values(found)) === JSON.stringify([0.5, 1, 0.4, 0.01, 0.5, 0.5]) &&
  worst.overallScore === 0.75 && worst.passed && answer === "[evaluated via LLM-as-judge]";
process.exit(isSo ? 0 : 1);
JS
echo 'expected: each score as the judge says it, an error for none, and a failed test of 0.5'
node scores.mjs

#!/bin/sh
# ratelimit-header-parser, which makes one form of the headers that name a server's limits, takes the seconds of
# `Retry-After` for a moment counted from 1970. Where a server gives what is left without when it starts anew, and a
# `Retry-After: 30`, the limit is reset at 1970-01-01T00:00:30: a client that waits until then does not wait at all, and
# is refused again and again. A date in that header, which is the other form of it, is no date at all. And a server that
# counts what was used, without a limit, has NaN for both as long as nothing was; the form of the standard's drafts
# since 2024, which the authors' own server package can write, has NaN three times. No error, no warning. Most would
# expect half a minute from now, the date, and numbers. The manual has `reset` for a date or undefined, and the three
# others for numbers; of the drafts' forms it names the one of the seventh.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact ratelimit-header-parser@0.1.0 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'ratelimit' || exit 2
cat >limits.mjs <<'JS'
import { parseRateLimit } from "ratelimit-header-parser";

const now = Date.now();
const later = new Date(now + 30_000).toUTCString();
const HEADERS = {
  seconds: { "X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "Retry-After": "30" },
  date: { "X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "Retry-After": later },
  "reset in seconds": { "X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30" },
  "draft 8": { "RateLimit-Policy": '"default";q=60;w=60', RateLimit: '"default";r=0;t=30' },
  "nothing used": { "X-RateLimit-Used": "0", "X-RateLimit-Remaining": "60", "X-RateLimit-Reset": "30" },
};
const found = {};
for (const [name, headers] of Object.entries(HEADERS)) {
  const { limit, used, remaining, reset } = parseRateLimit(new Headers(headers));
  const seconds = Math.round((reset - now) / 1000);
  const moment = Number.isNaN(seconds) ? "no date" : seconds < 0 ? reset.toISOString() : seconds;
  found[name] = [limit, used, remaining, moment];
  console.log(`${name}: limit, used, remaining, reset in seconds: ${found[name].join(", ")}`);
}
const expected = {
  seconds: [60, 60, 0, "1970-01-01T00:00:30.000Z"],
  date: [60, 60, 0, "no date"],
  "reset in seconds": [60, 60, 0, 30],
  "draft 8": [NaN, NaN, NaN, "no date"],
  "nothing used": [NaN, NaN, 60, 30],
};
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
echo "expected: a limit of 60, 0 or 60 used, and a reset in 30 seconds in each line"
node limits.mjs

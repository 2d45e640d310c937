// The calls that every generated TypeScript client makes, and the values that they must bring; scenario.py makes the
// same calls with the Python clients.

import { deepStrictEqual, notStrictEqual, ok } from 'node:assert';
import { env } from 'node:process';
import expected from './expected.json';

export const PRISM = 'support-triage';
export const TEXT = expected.text;
const OTHER_PRISM = 'support-triage-2';
const FORMATS = ['json', 'raw', 'csv', 'tsv', 'jsonl'] as const;

export type Format = (typeof FORMATS)[number];
type Options = { ref?: string; idempotency_key?: string };
export type Call = ({ text: string } | { fields: Record<string, string> }) & Options;
/** `value` is an object for JSON, and a string for csv, tsv and jsonl. */
export type Answer = { status: number; value: unknown };

/** What a check writes for its client. */
export interface Client {
  create(prism: string, call: Call, format: Format): Promise<Answer>;
  read(id: string, format: Format): Promise<Answer>;
  retry(id: string, format: Format): Promise<Answer>;
}

export const url = setting('REFRACT_URL');
export const key = setting('REFRACT_KEY');
export const unknownKey = `rk_${'x'.repeat(32)}`;

function setting(name: string): string {
  const value = env[name];
  ok(value, name);
  return value;
}

export function isText(format: Format): boolean {
  return format === 'csv' || format === 'tsv' || format === 'jsonl';
}

/** Whether a value is a row of jsonl that was parsed. */
export function isRow(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'result_id' in value;
}

/** What a client that reads texts as texts got: errors are JSON in every format. */
export async function readText(response: Response): Promise<Answer> {
  const json = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, value: json ? await response.json() : await response.text() };
}

/** Makes every call. `stranger` is a client with a key that does not exist. */
export async function check(name: string, client: Client, stranger: Client): Promise<void> {
  let id = '';
  for (const format of FORMATS) {
    const ref = `${name} ${format}`;
    const call = format === 'json' ? { text: TEXT } : { fields: { text: TEXT } };
    const created = await client.create(PRISM, { ...call, ref, idempotency_key: ref }, format);
    id = await checkResult(client, created, 200, format, TEXT, ref);
    same(await client.read(id, format), created);
    same(await client.create(PRISM, { ...call, idempotency_key: ref }, format), created);

    const text = `fail once: ${ref}`;
    const failed = await client.create(PRISM, { text, ref }, format);
    const failedId = await checkResult(client, failed, 502, format, text, ref);
    same(await client.read(failedId, format), { status: 200, value: failed.value });
    const retried = await client.retry(failedId, format);
    notStrictEqual(await checkResult(client, retried, 200, format, text, ref), failedId);
    refused(await client.retry(id, format), 409, 'conflict', 'Only a failed result can be retried.');
  }
  const unknown = { text: expected.unknown_option };
  same(answers(await client.create(PRISM, unknown, 'json')).topic, null);
  same((answers(await client.create(PRISM, unknown, 'raw')).topic as { value: unknown }).value, null);

  const misspelt = await client.create(PRISM, { fields: { txet: TEXT } }, 'json');
  refused(misspelt, 400, 'validation_failed', 'Missing fields: text');
  refused(await stranger.read(id, 'json'), 401, 'unauthorized', 'Invalid API key');
  refused(await client.create('no-such-prism', { text: TEXT }, 'raw'), 404, 'not_found', 'Prism not found');
  const held = await client.create(OTHER_PRISM, { text: TEXT, idempotency_key: `${name} json` }, 'csv');
  refused(held, 409, 'conflict', 'This idempotency key was already used for another prism.');
  console.log(`${compared} comparisons`);
}

type Envelope = { id: string; status: string; created_at: string; took_ms: number; answers: unknown };

/** Compares every value of a result, and returns its id. */
async function checkResult(
  client: Client,
  answer: Answer,
  status: number,
  format: Format,
  text: string,
  ref: string,
): Promise<string> {
  same(answer.status, status);
  const error = status === 200 ? null : expected.failed;
  const state = status === 200 ? 'ok' : 'failed';
  if (format === 'json' || format === 'raw') {
    const { id, created_at, took_ms, ...rest } = answer.value as Envelope;
    const age = Date.now() - Date.parse(created_at);
    ok(age >= 0 && age < 600_000, created_at);
    ok(took_ms >= 0);
    const values = status === 200 ? expected[format] : null;
    same(rest, { ref, prism: PRISM, version: 1, status: state, error, answers: values });
    return id;
  }
  const id = resultId(answer.value as string, format);
  const envelope = (await client.read(id, 'json')).value as Envelope;
  const created_at = new Date(envelope.created_at).toISOString();
  const columns = Object.keys(expected.json);
  if (format === 'jsonl') {
    const values = status === 200 ? expected.json : Object.fromEntries(columns.map((column) => [column, null]));
    const row = { result_id: id, ref, version: 1, status: state, error, created_at, text, ...values };
    same(answer.value, `${JSON.stringify(row)}\n`);
  } else {
    const header = ['result_id', 'ref', 'version', 'status', 'error', 'created_at', 'text', ...columns];
    const cells = status === 200 ? expected.cells : columns.map(() => '');
    const row = [id, ref, '1', state, error ?? '', created_at, text, ...cells];
    const [separator, end] = format === 'csv' ? [',', '\r\n'] : ['\t', '\n'];
    same(answer.value, [header, row].map((line) => line.join(separator) + end).join(''));
  }
  return id;
}

function resultId(text: string, format: Format): string {
  const id = format === 'jsonl' ? JSON.parse(text).result_id : text.split('\n')[1]?.split(format === 'csv' ? ',' : '\t')[0];
  ok(id, text);
  return id;
}

function answers(answer: Answer): Record<string, unknown> {
  return (answer.value as { answers: Record<string, unknown> }).answers;
}

function refused(answer: Answer, status: number, code: string, message: string): void {
  same(answer, { status, value: { error: { code, message } } });
}

let compared = 0;

function same(value: unknown, wanted: unknown): void {
  deepStrictEqual(value, wanted);
  compared += 1;
}

// Calls the server with the client of @hey-api/openapi-ts.

import { deepStrictEqual, ok } from 'node:assert';
import { type CreateCall, createResult, type FailedResult, type RawResult, readResult, retryResult, type TextCall } from './client';
import { createClient } from './client/client';
import { client as byDefault } from './client/client.gen';
import { type Answer, type Client, check, isRow, isText, key, PRISM, TEXT, unknownKey, url } from '../scenario';

function adapter(token: string): Client {
  const client = createClient({ baseUrl: url, auth: token });
  // without `parseAs`, jsonl comes as a Blob
  const options = (format: Parameters<Client['read']>[1]) =>
    ({ client, query: { format }, parseAs: isText(format) ? 'text' : 'auto' }) as const;
  return {
    create: async (prism, body, format) => answer(await createResult({ ...options(format), path: { prism }, body })),
    read: async (result_id, format) => answer(await readResult({ ...options(format), path: { result_id } })),
    retry: async (result_id, format) => answer(await retryResult({ ...options(format), path: { result_id } })),
  };
}

/** A failed result (502) comes as `error`, like an error. Whatever can be read as JSON there has been, a row of jsonl too. */
function answer({ data, error, response }: { data?: unknown; error?: unknown; response?: Response }): Answer {
  ok(response);
  const value = isRow(error) ? `${JSON.stringify(error)}\n` : error;
  return { status: response.status, value: data ?? value };
}

/** What a caller writes. */
async function checkTypes(): Promise<void> {
  deepStrictEqual(byDefault.getConfig().baseUrl, 'http://127.0.0.1:8080/v1');
  const client = createClient({ baseUrl: url, auth: key });
  const body: TextCall = { text: TEXT, ref: '17' };
  const { data: shown } = await createResult({ client, path: { prism: PRISM }, body });
  ok(shown && typeof shown !== 'string');
  deepStrictEqual([shown.status, shown.ref, shown.error, shown.answers.topic], ['ok', '17', null, 'delivery']);

  const { data: stored } = await readResult({ client, path: { result_id: shown.id }, query: { format: 'raw' } });
  const { topic } = (stored as RawResult).answers;
  ok(topic?.type === 'choice');
  deepStrictEqual([topic.value, topic.confidence, topic.probabilities.other], ['delivery', 0.9, 0.02]);

  const failing: CreateCall = { text: 'fail once: hey-api, types' };
  const { error } = await createResult({ client, path: { prism: PRISM }, body: failing });
  ok(error && typeof error !== 'string' && 'status' in error);
  const failed: FailedResult = error;
  deepStrictEqual([failed.status, failed.answers], ['failed', null]);

  // @ts-expect-error neither `text` nor `fields`
  const empty: CreateCall = {};
  // @ts-expect-error a misspelt key
  const misspelt: CreateCall = { text: TEXT, idempotencyKey: '17' };
  ok(empty && misspelt);
}

checkTypes().then(() => check('hey-api', adapter(key), adapter(unknownKey)));

// Calls the server with openapi-fetch and the types of openapi-typescript.

import { deepStrictEqual, ok } from 'node:assert';
import createClient from 'openapi-fetch';
import type { components, paths } from './client';
import { type Answer, type Client, check, isRow, isText, key, PRISM, TEXT, unknownKey, url } from '../scenario';

function adapter(token: string): Client {
  const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });
  // without `parseAs`, the client parses every answer as JSON; an error is parsed as JSON in any case
  const parseAs = (format: Parameters<Client['read']>[1]) => (isText(format) ? 'text' : 'json');
  return {
    create: async (prism, body, format) =>
      answer(
        await client.POST('/prisms/{prism}/results', {
          params: { path: { prism }, query: { format } },
          body,
          parseAs: parseAs(format),
        }),
      ),
    read: async (result_id, format) =>
      answer(
        await client.GET('/results/{result_id}', {
          params: { path: { result_id }, query: { format } },
          parseAs: parseAs(format),
        }),
      ),
    retry: async (result_id, format) =>
      answer(
        await client.POST('/results/{result_id}/retry', {
          params: { path: { result_id }, query: { format } },
          parseAs: parseAs(format),
        }),
      ),
  };
}

/** A failed result (502) comes as `error`, like an error. Whatever can be read as JSON there has been, a row of jsonl too. */
function answer({ data, error, response }: { data?: unknown; error?: unknown; response: Response }): Answer {
  const value = isRow(error) ? `${JSON.stringify(error)}\n` : error;
  return { status: response.status, value: data ?? value };
}

type Schemas = components['schemas'];

/** What a caller writes. With the media type as second parameter, the types are those of `json` and `raw`. */
async function checkTypes(): Promise<void> {
  const client = createClient<paths, 'application/json'>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });
  const call: Schemas['TextCall'] = { text: TEXT, ref: '17' };
  const { data: shown } = await client.POST('/prisms/{prism}/results', { params: { path: { prism: PRISM } }, body: call });
  ok(shown);
  const status: 'ok' = shown.status;
  deepStrictEqual([status, shown.ref, shown.error, shown.answers.topic], ['ok', '17', null, 'delivery']);

  const path = { result_id: shown.id };
  const { data: stored } = await client.GET('/results/{result_id}', { params: { path, query: { format: 'raw' } } });
  ok(stored && stored.status === 'ok');
  const { topic } = (stored as Schemas['RawResult']).answers;
  ok(topic?.type === 'choice');
  deepStrictEqual([topic.value, topic.confidence, topic.probabilities.other], ['delivery', 0.9, 0.02]);

  const params = { path: { prism: PRISM } };
  const { error } = await client.POST('/prisms/{prism}/results', { params, body: { text: 'fail once: openapi-typescript, types' } });
  ok(error && 'status' in error);
  const failed: Schemas['FailedResult'] = error;
  deepStrictEqual([failed.status, failed.answers], ['failed', null]);

  // @ts-expect-error neither `text` nor `fields`
  const empty: Schemas['CreateCall'] = {};
  // @ts-expect-error a misspelt key
  const misspelt: Schemas['CreateCall'] = { text: TEXT, idempotencyKey: '17' };
  ok(empty && misspelt);
}

checkTypes().then(() => check('openapi-typescript', adapter(key), adapter(unknownKey)));

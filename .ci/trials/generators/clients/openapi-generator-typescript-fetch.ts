// Calls the server with the client of openapi-generator's `typescript-fetch`.

import { deepStrictEqual, ok } from 'node:assert';
import {
  type ApiResponse,
  Configuration,
  type CreateCall,
  FailedResultFromJSON,
  type RawResult,
  ResponseError,
  ResultsApi,
  ResultToJSON,
} from './client';
import { type Answer, type Call, type Client, check, type Format, isText, key, PRISM, readText, TEXT, unknownKey, url } from '../scenario';

function adapter(token: string): Client {
  const api = new ResultsApi(new Configuration({ basePath: url, accessToken: token }));
  return {
    create: (prism, call, format) => answer(format, api.createResultRaw({ prism, createCall: camelCase(call), format })),
    read: (resultId, format) => answer(format, api.readResultRaw({ resultId, format })),
    retry: (resultId, format) => answer(format, api.retryResultRaw({ resultId, format })),
  };
}

function camelCase({ idempotency_key: idempotencyKey, ...call }: Call): CreateCall {
  return { ...call, idempotencyKey };
}

/** `value()` parses every answer as JSON; `raw` is the response of `fetch`. Every status but 200 is thrown. */
async function answer<T>(format: Format, call: Promise<ApiResponse<T>>): Promise<Answer> {
  try {
    const response = await call;
    if (isText(format)) return await readText(response.raw);
    return { status: response.raw.status, value: plain(ResultToJSON(await response.value())) };
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    return await readText(error.response);
  }
}

/** Dates as text. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** What a caller writes. */
async function checkTypes(): Promise<void> {
  const api = new ResultsApi(new Configuration({ basePath: url, accessToken: key }));
  const shown = await api.createResult({ prism: PRISM, createCall: { text: TEXT, ref: '17' } });
  deepStrictEqual([shown.status, shown.ref, shown.error, shown.answers.topic], ['ok', '17', null, 'delivery']);
  ok(shown.createdAt instanceof Date && shown.tookMs >= 0);

  const stored = await api.readResult({ resultId: shown.id, format: 'raw' });
  const { topic } = (stored as RawResult).answers;
  ok(topic?.type === 'choice');
  deepStrictEqual([topic.value, topic.confidence, topic.probabilities.other], ['delivery', 0.9, 0.02]);

  const createCall = { text: 'fail once: typescript-fetch, types' };
  const error = await api.createResult({ prism: PRISM, createCall }).catch((thrown: unknown) => thrown);
  ok(error instanceof ResponseError && error.response.status === 502);
  const failed = FailedResultFromJSON(await error.response.json());
  deepStrictEqual([failed.status, failed.answers], ['failed', null]);

  // @ts-expect-error neither `text` nor `fields`
  const empty: CreateCall = {};
  // @ts-expect-error a misspelt key
  const misspelt: CreateCall = { text: TEXT, idempotency_key: '17' };
  ok(empty && misspelt);
}

checkTypes().then(() => check('openapi-generator-typescript-fetch', adapter(key), adapter(unknownKey)));

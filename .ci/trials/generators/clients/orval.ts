// Calls the server with orval's client for fetch.

import { deepStrictEqual, ok } from 'node:assert';
import {
  type CreateCall,
  createResult,
  type FailedResult,
  getCreateResultUrl,
  getReadResultUrl,
  getRetryResultUrl,
  type RawResult,
  readResult,
  retryResult,
  type TextCall,
} from './client';
import { type Answer, type Client, check, isText, key, PRISM, readText, TEXT, unknownKey } from '../scenario';

function adapter(token: string): Client {
  const headers = { Authorization: `Bearer ${token}` };
  const json = { ...headers, 'Content-Type': 'application/json' };
  // its functions parse every answer as JSON
  const text = async (url: string, init?: RequestInit) => readText(await fetch(url, { headers, ...init }));
  const answer = ({ status, data }: { status: number; data: unknown }): Answer => ({ status, value: data });
  return {
    create: async (prism, call, format) =>
      isText(format)
        ? text(getCreateResultUrl(prism, { format }), { method: 'POST', headers: json, body: JSON.stringify(call) })
        : answer(await createResult(prism, call, { format }, { headers })),
    read: async (id, format) =>
      isText(format) ? text(getReadResultUrl(id, { format })) : answer(await readResult(id, { format }, { headers })),
    retry: async (id, format) =>
      isText(format)
        ? text(getRetryResultUrl(id, { format }), { method: 'POST' })
        : answer(await retryResult(id, { format }, { headers })),
  };
}

/** What a caller writes: the status decides which result or error there is. */
async function checkTypes(): Promise<void> {
  const options = { headers: { Authorization: `Bearer ${key}` } };
  const call: TextCall = { text: TEXT, ref: '17' };
  const created = await createResult(PRISM, call, undefined, options);
  ok(created.status === 200 && typeof created.data !== 'string');
  const shown = created.data;
  deepStrictEqual([shown.status, shown.ref, shown.error, shown.answers.topic], ['ok', '17', null, 'delivery']);

  const read = await readResult(shown.id, { format: 'raw' }, options);
  ok(read.status === 200 && typeof read.data !== 'string');
  const { topic } = (read.data as RawResult).answers;
  ok(topic?.type === 'choice');
  deepStrictEqual([topic.value, topic.confidence, topic.probabilities.other], ['delivery', 0.9, 0.02]);

  const failing: CreateCall = { text: 'fail once: orval, types' };
  const failure = await createResult(PRISM, failing, undefined, options);
  ok(failure.status === 502 && typeof failure.data !== 'string');
  const failed: FailedResult = failure.data;
  deepStrictEqual([failed.status, failed.answers], ['failed', null]);

  // @ts-expect-error neither `text` nor `fields`
  const empty: CreateCall = {};
  // @ts-expect-error a misspelt key
  const misspelt: CreateCall = { text: TEXT, idempotencyKey: '17' };
  ok(empty && misspelt);
}

checkTypes().then(() => check('orval', adapter(key), adapter(unknownKey)));

// Every call of the TypeScript client, through a proxy that injects faults.
import { Refract, RefractError } from 'refract-client'
import type { Call, ErrorCode, Options, RawResult, Result, Row } from 'refract-client'

declare const process: { env: Record<string, string | undefined>; exitCode: number }

const URL = process.env['REFRACT_URL'] ?? ''
const KEY = process.env['REFRACT_KEY'] ?? ''
const PRISM = 'support-triage'
const PLAN = `${URL.replace(/\/v1$/, '')}/plan`

function assert(holds: unknown, what: string): asserts holds {
  if (!holds) throw new Error(what)
}

async function plan(...faults: string[]): Promise<void> {
  await fetch(PLAN, { method: 'POST', body: JSON.stringify(faults) })
}

/** The requests since the plan, by number and idempotency key; nothing of it may be left. */
async function since(): Promise<{ came: number; keys: (string | null)[] }> {
  const { left, came, keys } = (await (await fetch(PLAN)).json()) as { left: string[]; came: number; keys: (string | null)[] }
  assert(left.length === 0, `left of the plan: ${left}`)
  return { came, keys }
}

const came = async () => (await since()).came

const fresh = (text: string) => `${text} ${crypto.randomUUID()}`

async function thrown(code: ErrorCode, status: number | undefined, call: () => Promise<unknown>): Promise<RefractError> {
  try {
    await call()
  } catch (error) {
    assert(error instanceof RefractError, String(error))
    assert(error.code === code && error.status === status, `${error.code} ${error.status}: ${error.message}`)
    return error
  }
  throw new Error(`${code} is expected`)
}

async function formats(client: Refract): Promise<void> {
  const result: Result = await client.create(PRISM, { text: 'Where is my order?', ref: 'ticket-17' })
  assert(result.status === 'ok' && result.ref === 'ticket-17' && result.answers, 'json')
  assert((await client.read(result.id)).created_at === result.created_at, 'a read')
  const raw: RawResult = await client.raw.read(result.id)
  const angry = raw.answers?.['angry']
  assert(angry?.type === 'yes_no' && angry.probability === 0.12, 'raw')
  const topic = raw.answers?.['topic']
  assert(topic?.type === 'choice' && topic.value !== null && topic.probabilities[topic.value], 'a choice')
  const row: Row = await client.row.read(result.id)
  assert(row.result_id === result.id && row.columns['text'] === 'Where is my order?', 'a row')
  assert((await client.jsonl.read(result.id)).endsWith('}\n'), 'jsonl')
  assert((await client.csv.read(result.id)).startsWith('result_id,ref,version'), 'csv')
  assert((await client.tsv.read(result.id)).startsWith('result_id\tref\tversion'), 'tsv')
  const byField = await client.create(PRISM, { fields: { text: 'Where?' }, context: 'A shop.', version: 1 })
  assert(byField.version === 1, 'fields')
}

async function repeats(client: Refract): Promise<void> {
  for (const fault of ['lost', 'dropped', 'draining', 'broken', 'proxy', 'dated', 'limited', 'gateway', 'idle']) {
    await plan(fault, fault)
    const result = await client.create(PRISM, { text: fresh(fault) })
    assert(result.status === 'ok' && (await came()) === 3, fault)
    await plan(fault)
    assert((await client.read(result.id)).id === result.id && (await came()) === 2, fault)
  }
  for (const idempotency_key of [undefined, null]) {
    await plan('lost', 'dropped')
    // as JavaScript may call it
    await client.create(PRISM, { text: fresh('no key'), idempotency_key } as unknown as Call)
    const { keys } = await since()
    assert(keys.length === 3 && keys[0] && new Set(keys).size === 1, `one key for ${idempotency_key}: ${keys}`)
  }
  const call = { text: 'Where?', idempotency_key: crypto.randomUUID() }
  await plan('dropped')
  const first = await client.create(PRISM, call)
  assert((await client.create(PRISM, call)).id === first.id, 'one result for one key')
}

async function failures(client: Refract): Promise<void> {
  const result = await client.create(PRISM, { text: fresh('fail once:') })
  assert(result.status === 'failed' && result.answers === null && result.error, 'a failed result')
  const retried = await client.retry(result.id)
  assert(retried.status === 'ok' && retried.id !== result.id, 'a retry')
  assert((await client.csv.create(PRISM, { text: fresh('fail once:') })).includes(',failed,'), 'a failed row')
  const failed = await client.row.create(PRISM, { text: fresh('fail once:') })
  // the answer of a retry is lost: the repeat finds the result that it made
  await plan('dropped')
  assert((await client.row.retry(failed.result_id)).status === 'ok' && (await came()) === 3, 'a lost retry')
  await plan()
  const slow = new Refract(URL, KEY, { timeout: 1_000, pause: 500 })
  const late = await slow.create(PRISM, { text: fresh('slow:') })
  assert(late.status === 'ok' && (await came()) >= 2, 'a timeout')
}

async function errors(client: Refract): Promise<void> {
  await plan()
  const error = await thrown('validation_failed', 400, () => client.create(PRISM, { text: 'x', ref: '' }))
  assert(error.requestId && error.message.includes('ref'), 'an error says what is wrong')
  await thrown('not_found', 404, () => client.read(crypto.randomUUID()))
  const { id } = await client.create(PRISM, { text: 'Where is my order?' })
  await thrown('conflict', 409, () => client.retry(id))
  await thrown('unauthorized', 401, () => new Refract(URL, 'rk_of_nobody').read(id))
  assert((await came()) === 5, 'what is wrong is not repeated')
  await thrown('bad_request', 413, () => client.create(PRISM, { text: 'x'.repeat(1_100_000) }))
  const few = new Refract(URL, KEY, { attempts: 2, pause: 10 })
  const kinds = [
    ['broken', 'internal_error', 500], ['draining', 'unavailable', 503], ['proxy', 'unavailable', 502], ['gateway', 'unavailable', 502],
    ['lost', 'unavailable', undefined],
  ] as const
  for (const calls of [few, few.row, few.csv, few.jsonl]) {
    for (const [fault, code, status] of kinds) {
      await plan(fault, fault)
      const error = await thrown(code, status, () => calls.read(id))
      assert((await came()) === 2 && (status ?? error.cause), fault)
    }
    for (const [fault, status] of [['page', 200], ['json', 200], ['moved', 301]] as const) {
      await plan(fault)
      await thrown('unavailable', status, () => calls.read(id))
      assert((await came()) === 1, `a ${fault} is no result`)
    }
  }
  await plan('moved')
  const moved = await thrown('unavailable', 301, () => few.create(PRISM, { text: 'x' }))
  assert((await came()) === 1 && moved.message.includes('address'), 'a call is not sent on')
  for (const fault of ['silent', 'stalled']) {
    await plan(fault, fault)
    const began = Date.now()
    await thrown('unavailable', undefined, () => new Refract(URL, KEY, { timeout: 1_500, attempts: 2, pause: 10 }).read(id))
    assert((await came()) === 2 && Date.now() - began < 8_000, 'a silent server is given up')
  }
  await thrown('validation_failed', 400, () => client.read('../prisms'))
  assert(!JSON.stringify(client).includes(KEY), 'the key is not shown')
  // @ts-expect-error a call has a text or fields
  void (() => client.create(PRISM, { ref: 'x' }))
}

/** What can never succeed is said at once, without the key, and nothing is sent. */
async function hopeless(client: Refract): Promise<void> {
  await plan()
  const addresses = [
    'localhost:8080/v1', '127.0.0.1:8080/v1', '', 'http://', 'http://[::1/v1', 'http://127.0.0.1:port/v1', 'http://127.0.0.1:99999/v1',
    'http://a b/v1', `${URL}\n`, `${URL}?x=1`, `${URL}#x`, URL.replace('//', '//user:word@'),
  ]
  const keys = [`${KEY}\n`, '', `${KEY}\u00e9`, `${KEY} ${KEY}`, undefined as unknown as string]
  const options = [{ attempts: 0 }, { attempts: NaN }, { timeout: 0 }, { timeout: NaN }, { timeout: 2 ** 40 }, { pause: -1 }]
  const wrong: [string, string, string, Options?][] = [
    ...addresses.map((address): [string, string, string] => ['url', address, KEY]),
    ...keys.map((key): [string, string, string] => ['key', URL, key]),
    ...options.map((some): [string, string, string, Options] => [Object.keys(some)[0] ?? '', URL, KEY, some]),
  ]
  for (const [name, address, key, some] of wrong) {
    const error = await thrown('validation_failed', undefined, async () => new Refract(address, key, some))
    assert(error.message.startsWith(`${name}: `) && !error.message.includes(KEY) && !error.message.includes('word@'), error.message)
    assert(error.cause === undefined, 'a cause would show the key')
  }
  new Refract(URL, KEY, { timeout: undefined, attempts: undefined, pause: undefined } as unknown as Options)
  const big = { text: 'x', version: 1n } as unknown as Call
  await thrown('validation_failed', undefined, () => client.create(PRISM, big))
  assert((await came()) === 0, 'nothing is sent')
  // the server says which string it is
  const error = await thrown('validation_failed', 400, () => client.create(PRISM, { text: 'a\ud800' }))
  assert(error.message.includes('text'), error.message)
  await thrown('not_found', 404, () => client.create('a\ud800', { text: 'x' }))
}

const client = new Refract(URL, KEY, { pause: 20 })
for (const check of [formats, repeats, failures, errors, hopeless]) await check(client)
console.log('TypeScript: as it says')

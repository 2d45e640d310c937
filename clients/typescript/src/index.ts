/**
 * A client of Refract's API, for Node 20 and later and what else has fetch.
 *
 *     const refract = new Refract('http://127.0.0.1:8080/v1', process.env.REFRACT_KEY!)
 *     const result = await refract.create('support-triage', { text: 'Where is my order?', ref: 'ticket-17' })
 *     console.log(result.answers)
 *
 * `refract.raw`, `.row`, `.csv`, `.tsv` and `.jsonl` have the same calls for the other formats. A call is
 * repeated after a 408, a 429, a 5xx, a timeout and a broken connection; a create call always with one idempotency
 * key, so that no text is asked about twice. A result that the model gave no answer to is returned with the
 * status `failed`; whatever else fails throws a RefractError, an address, key or option that can never work
 * where the client is made.
 */

/** A value in a column of the lens. */
export type Value = string | number | null | Record<string, number>

interface Envelope<Answers> {
  id: string
  ref: string | null
  prism: string
  version: number
  took_ms: number
  created_at: string
  status: 'ok' | 'failed'
  /** Why the model gave no answer; null for an ok result. */
  error: string | null
  /** Null for a failed result. */
  answers: Answers | null
}

/** A result through the prism's lens, with a value for each column. */
export type Result = Envelope<Record<string, Value>>

/** The stored answer to one question. */
export type StoredAnswer =
  | { type: 'choice'; value: string | null; probabilities: Record<string, number>; confidence: number }
  | { type: 'yes_no'; probability: number }
  | { type: 'scale'; level: string; probabilities: Record<string, number> }

/** A result with its stored answers, whatever the lens. */
export type RawResult = Envelope<Record<string, StoredAnswer>>

/** A result as a row; `columns` are the fields, then the columns of the lens. */
export interface Row {
  result_id: string
  ref: string | null
  version: number
  status: 'ok' | 'failed'
  error: string | null
  created_at: string
  columns: Record<string, Value>
}

/** A text to ask about, alone or by field. */
export type Call = ({ text: string; fields?: never } | { fields: Record<string, string>; text?: never }) & {
  context?: string
  ref?: string
  version?: number
  idempotency_key?: string
}

/** The codes of the API's errors; `unavailable` stands for no answer, or for one that is not Refract's. */
export type ErrorCode =
  | 'validation_failed' | 'bad_request' | 'unauthorized' | 'not_found' | 'conflict' | 'internal_error' | 'unavailable'

/** A call that failed; `status` is undefined where there was no answer. */
export class RefractError extends Error {
  readonly code: ErrorCode
  readonly status: number | undefined
  readonly requestId: string | undefined

  constructor(message: string, code: ErrorCode, status?: number, requestId?: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RefractError'
    this.code = code
    this.status = status
    this.requestId = requestId
  }
}

export interface Options {
  /** Milliseconds that a call may take; 45,000 unless given. */
  timeout?: number
  /** How often a call is made at most; 4 unless given. */
  attempts?: number
  /** Milliseconds before the first repeat, four times as many before each further one; 1,000 unless given. */
  pause?: number
}

const CODES: readonly string[] = ['validation_failed', 'bad_request', 'unauthorized', 'not_found', 'conflict', 'internal_error']
const ADDRESS = /^https?:\/\/[^\s/?#@]+(\/[^\s?#@]*)?$/i
const LONGEST_WAIT = 60_000
/** What a timer can wait for at most. */
const LONGEST_TIMEOUT = 2 ** 31 - 1
const sleep = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds))

/** The three calls in one format. */
export class Calls<T> {
  readonly #url: string
  readonly #key: string
  readonly #format: string
  readonly #read: (body: string) => T
  readonly #options: Required<Options>

  constructor(url: string, key: string, format: string, read: (body: string) => T, options: Options = {}) {
    this.#url = url.replace(/\/+$/, '')
    this.#key = key
    this.#format = format
    this.#read = read
    this.#options = { timeout: options.timeout ?? 45_000, attempts: options.attempts ?? 4, pause: options.pause ?? 1_000 }
    check(url, key, this.#options)
  }

  /** Asks the prism's questions about a text, and saves the result. */
  async create(prism: string, call: Call): Promise<T> {
    let body: string
    try {
      body = JSON.stringify({ ...call, idempotency_key: call.idempotency_key ?? crypto.randomUUID() })
    } catch (cause) {
      throw new RefractError('texts must be strings and version a number: another value cannot be sent', 'validation_failed', undefined, undefined, { cause })
    }
    return this.#repeated('POST', `/prisms/${segment(prism)}/results`, body)
  }

  /** A saved result; the model is not asked. */
  read(id: string): Promise<T> {
    return this.#repeated('GET', `/results/${segment(id)}`)
  }

  /** Asks again about the text of a failed result, and saves a new result. */
  retry(id: string): Promise<T> {
    return this.#repeated('POST', `/results/${segment(id)}/retry`)
  }

  async #repeated(method: string, path: string, body?: string): Promise<T> {
    const { timeout, attempts, pause } = this.#options
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#key}` }
    if (body) headers['Content-Type'] = 'application/json'
    // fetch would follow a redirect of a create call by reading its address
    const request = { method, headers, redirect: 'manual', ...(body && { body }) } as const
    for (let attempt = 1; ; attempt += 1) {
      let wait = 0
      let error: RefractError
      try {
        const answer = await fetch(`${this.#url}${path}?format=${this.#format}`, { ...request, signal: AbortSignal.timeout(timeout) })
        const said = await answer.text()
        const result = this.#resultOf(answer, said)
        if (result !== undefined) return result
        error = errorOf(answer, said)
        const retriedAs = attempt > 1 && error.code === 'conflict' && /already retried as ([0-9a-f-]{36})/.exec(error.message)
        // by an attempt whose answer was lost
        if (retriedAs) return await this.#repeated('GET', `/results/${retriedAs[1]}`)
        // a proxy that takes no more for now, or gave up an idle connection, asked nobody
        if (answer.status < 500 && ![408, 429].includes(answer.status)) throw error
        const after = answer.headers.get('retry-after') ?? ''
        // a proxy may send a date, or hours
        if ([429, 503].includes(answer.status) && /^[0-9]+$/.test(after)) wait = Math.min(1_000 * Number(after), LONGEST_WAIT)
      } catch (fault) {
        if (fault instanceof RefractError) throw fault
        error = noAnswer(fault)
      }
      if (attempt >= attempts) throw error
      await sleep(Math.max(wait, pause * 4 ** (attempt - 1) * (0.5 + Math.random() / 2)))
    }
  }

  /** The result in an answer, also one that the model gave no answer to (502); undefined for what a proxy says. */
  #resultOf(answer: Response, body: string): T | undefined {
    if (![200, 502].includes(answer.status)) return undefined
    try {
      return this.#read(body)
    } catch {
      return undefined
    }
  }
}

/** A client; `url` is the server's address up to `/v1`. */
export class Refract extends Calls<Result> {
  readonly raw: Calls<RawResult>
  readonly row: Calls<Row>
  readonly csv: Calls<string>
  readonly tsv: Calls<string>
  readonly jsonl: Calls<string>

  constructor(url: string, key: string, options: Options = {}) {
    super(url, key, 'json', (body) => jsonOf<Result>(body, 'id', 'answers'), options)
    const text = (format: string) => new Calls(url, key, format, textOf, options)
    this.raw = new Calls(url, key, 'raw', (body) => jsonOf<RawResult>(body, 'id', 'answers'), options)
    this.row = new Calls(url, key, 'jsonl', rowOf, options)
    this.csv = text('csv')
    this.tsv = text('tsv')
    this.jsonl = text('jsonl')
  }
}

/** Refuses what no call can be made with; the key is not shown. */
function check(url: string, key: string, { timeout, attempts, pause }: Required<Options>): void {
  const faults: [boolean, string][] = [
    [!ADDRESS.test(url) || !URL.canParse(url), "url: give the server's address up to /v1, such as http://127.0.0.1:8080/v1, without name, password or query"],
    [!/^[!-~]+$/.test(key ?? ''), 'key: give the API key as it was printed, without a line break, a space or anything around it'],
    [!(timeout > 0 && timeout <= LONGEST_TIMEOUT), `timeout: give milliseconds, more than 0 and at most ${LONGEST_TIMEOUT}`],
    [!(attempts >= 1), 'attempts: a call needs at least one'],
    [!(pause >= 0 && pause < Infinity), 'pause: give milliseconds, 0 or more'],
  ]
  const wrong = faults.find(([is]) => is)?.[1]
  if (wrong) throw new RefractError(wrong, 'validation_failed')
}

/** A part of a path; an unpaired surrogate, which an address cannot have, becomes another character that no name has. */
function segment(name: string): string {
  return encodeURIComponent(String(name).replace(/\p{Surrogate}/gu, '\ufffd'))
}

function jsonOf<Answer extends object>(body: string, ...required: string[]): Answer {
  const answer = JSON.parse(body) as Answer
  if (!required.every((name) => name in answer)) throw new Error('no result')
  return answer
}

function rowOf(body: string): Row {
  const { result_id, ref, version, status, error, created_at, ...columns } = jsonOf<Omit<Row, 'columns'> & Record<string, Value>>(body, 'result_id', 'status')
  return { result_id, ref, version, status, error, created_at, columns }
}

function textOf(body: string): string {
  if (!/^(result_id[,\t]|\{"result_id":)/.test(body)) throw new Error('no result')
  return body
}

/** The error of a request that got no answer, with its cause. */
function noAnswer(cause: unknown): RefractError {
  const { name, cause: deeper } = cause as { name?: string; cause?: { code?: unknown } }
  return new RefractError(`no answer: ${deeper?.code ?? name ?? 'fault'}`, 'unavailable', undefined, undefined, { cause })
}

/** The error of an answer: a stopping node and a proxy send none in the API's form. */
function errorOf(answer: Response, body: string): RefractError {
  const requestId = answer.headers.get('x-request-id') ?? undefined
  try {
    const { code, message } = (JSON.parse(body) as { error: { code: ErrorCode; message: string } }).error
    if (CODES.includes(code)) return new RefractError(String(message), code, answer.status, requestId)
  } catch {
    // no JSON, or none of ours
  }
  const elsewhere = answer.status < 500 ? ', not from Refract: check the address, which ends in /v1, and what is in between' : ''
  return new RefractError(`status ${answer.status}${elsewhere}`, 'unavailable', answer.status, requestId)
}

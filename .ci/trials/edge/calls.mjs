// Calls with Node's fetch, which is undici.
const [url, key, prism, result, count, retry] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}` };
let failed = 0;
for (let call = 0; call < Number(count); call++) {
  const read = `${url}/results/${result}`;
  const calls = [
    [`${url}/prisms/${prism}/results`, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: '{"text": "Where is my order?"}' }, 200],
    [read, { headers }, 200],
    [`${read}/retry`, { method: "POST", headers }, Number(retry)],
  ];
  const [address, options, right] = calls[call % 3];
  try {
    const answer = await fetch(address, options);
    await answer.text();
    if (answer.status === right) continue;
    console.log(`call ${call}: status ${answer.status}`);
  } catch (error) {
    console.log(`call ${call}: ${error.cause ?? error}`);
  }
  failed++;
}
console.log(`${failed} failed`);

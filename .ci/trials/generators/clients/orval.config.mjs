export default {
  refract: {
    input: './openapi.json',
    output: { target: 'client.ts', client: 'fetch', baseUrl: { runtime: 'process.env.REFRACT_URL' } },
  },
};

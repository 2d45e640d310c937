// A real OpenID Connect provider for tests: npm's certified oidc-provider on a free port of loopback,
// which signs in without asking the person who was named last. It prints its issuer as one line of JSON and
// ends when its standard input does.
//
// Tests steer it by POST /test/… with JSON:
//   account   {sub, claims}              who signs in next, and what is said about them; null refuses
//   tamper    {claims, key, alg}         what is wrong with ID tokens from now on
//   rotate    {}                         new keys, and the old ones are forgotten
//   client    {redirects, signedOut}     where the client may send people back to
//   secret    text                       the client's secret from now on
//   away      true or false              every answer is 503
//   refresh   true or false              whether refresh tokens are given
//   slow      milliseconds               how long each answer to a code takes
import { createServer } from 'node:http';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT, decodeJwt, importJWK } from 'jose';
import Provider, { errors } from 'oidc-provider';

const state = {
  client: { redirects: [], signedOut: [] },
  account: { sub: 'ada', claims: { email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' } },
  tamper: null,
  secret: 'the secret of the client',
  away: false,
  refresh: true,
  slow: 0,
  keys: [newKey()],
};

function newKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
}

// An ID token like the given one, but wrong.
async function tampered(token) {
  const { claims = {}, key, alg } = state.tamper;
  const said = { ...decodeJwt(token), ...claims };
  if (alg === 'none') {
    const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${part({ alg: 'none' })}.${part(said)}.`;
  }
  const jwk = key === 'other' ? { ...newKey(), kid: state.keys[0].kid } : state.keys[0];
  const signing = new SignJWT(said).setProtectedHeader({ alg: 'RS256', kid: jwk.kid });
  return signing.sign(await importJWK(jwk, 'RS256'));
}

function newProvider(issuer) {
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'refract',
      client_secret: state.secret,
      redirect_uris: state.client.redirects,
      post_logout_redirect_uris: state.client.signedOut,
      grant_types: ['authorization_code', 'refresh_token'],
    }],
    jwks: { keys: state.keys },
    cookies: { keys: ['for tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    pkce: { required: () => true },
    issueRefreshToken: async () => state.refresh,
    rotateRefreshToken: () => true,
    interactions: { url: (_, interaction) => `/test/interaction/${interaction.uid}` },
    findAccount: async (_, sub) => {
      const { account } = state;
      if (account?.sub !== sub) return undefined;
      return { accountId: sub, claims: async () => ({ sub, ...account.claims }) };
    },
    // every client and scope is agreed to
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client.clientId,
        accountId: ctx.oidc.session.accountId,
      });
      grant.addOIDCScope('openid email profile offline_access');
      await grant.save();
      return grant;
    },
  });
  provider.use(async (ctx, next) => {
    await next();
    if (state.tamper && ctx.path === '/token' && ctx.body?.id_token) {
      ctx.body.id_token = await tampered(ctx.body.id_token);
    }
  });
  return provider;
}

async function read(request) {
  let text = '';
  for await (const piece of request) text += piece;
  return JSON.parse(text);
}

let provider;
const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (request.method === 'POST' && pathname.startsWith('/test/')) {
    const what = pathname.slice('/test/'.length);
    const sent = await read(request);
    if (what === 'rotate') state.keys = [newKey()];
    else state[what] = sent;
    if (['client', 'rotate', 'secret'].includes(what)) provider = newProvider(provider.issuer);
    response.end('{}');
  } else if (state.away) {
    response.statusCode = 503;
    response.end('away');
  } else if (pathname.startsWith('/test/interaction/')) {
    const { account } = state;
    const result = account === null
      ? { error: 'access_denied', error_description: 'the person <b>refused</b>' }
      : { login: { accountId: account.sub } };
    try {
      await provider.interactionFinished(request, response, result);
    } catch (error) {
      response.statusCode = 400;
      response.end(error instanceof errors.OIDCProviderError ? error.error : 'failed');
    }
  } else {
    if (pathname === '/token') await new Promise((passed) => setTimeout(passed, state.slow));
    provider.callback()(request, response);
  }
});
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  provider = newProvider(issuer);
  console.log(JSON.stringify({ issuer }));
  // nobody reads on, and what the provider advises is not for tests
  console.info = () => {};
  console.warn = () => {};
});
process.stdin.resume().on('end', () => process.exit());

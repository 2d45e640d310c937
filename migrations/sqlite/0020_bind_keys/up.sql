-- networks from which a key is accepted, separated by commas; null for any
ALTER TABLE api_keys ADD COLUMN networks text;
-- the client's address of the last use
ALTER TABLE api_keys ADD COLUMN last_used_from text;
-- the key of the account in whose place this one is; keys are never deleted
ALTER TABLE api_keys ADD COLUMN replaces blob;
-- a key has one successor, unless that is revoked
CREATE UNIQUE INDEX api_keys_replaces ON api_keys (replaces)
    WHERE replaces IS NOT NULL AND revoked_at IS NULL;
-- the keys that end soon
CREATE INDEX api_keys_expires_at ON api_keys (expires_at)
    WHERE expires_at IS NOT NULL AND revoked_at IS NULL;

DROP INDEX api_keys_expires_at;
DROP INDEX api_keys_replaces;
ALTER TABLE api_keys DROP COLUMN replaces;
ALTER TABLE api_keys DROP COLUMN last_used_from;
ALTER TABLE api_keys DROP COLUMN networks;

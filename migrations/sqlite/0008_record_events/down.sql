ALTER TABLE people DROP COLUMN untold_event;
ALTER TABLE api_keys DROP COLUMN expires_at;
DROP TABLE events;

ALTER TABLE results DROP COLUMN truncated_to;
ALTER TABLE results DROP COLUMN cost_attos;
ALTER TABLE results DROP COLUMN cost_nanos;
ALTER TABLE results DROP COLUMN cached_tokens;
ALTER TABLE results DROP COLUMN host_request_id;

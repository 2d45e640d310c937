ALTER TABLE results
    DROP COLUMN truncated_to,
    DROP COLUMN cost_attos,
    DROP COLUMN cost_nanos,
    DROP COLUMN cached_tokens,
    DROP COLUMN host_request_id;

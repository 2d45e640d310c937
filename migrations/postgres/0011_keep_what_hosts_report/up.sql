-- what the host reported about a result's requests; all null for results that were saved before.
-- No column has a default or a check: adding them only changes the catalogue, however many rows
-- there are
ALTER TABLE results
    ADD COLUMN host_request_id text,
    ADD COLUMN cached_tokens bigint,
    -- whole billionths of the cost, and the rest in billionths of these: both can be added up
    ADD COLUMN cost_nanos bigint,
    ADD COLUMN cost_attos bigint,
    -- the tokens that the server read of a text that it cut; null for texts that were read whole
    ADD COLUMN truncated_to bigint;

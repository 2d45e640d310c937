-- what the host reported about a result's requests; all null for results that were saved before
ALTER TABLE results ADD COLUMN host_request_id text;
ALTER TABLE results ADD COLUMN cached_tokens integer;
-- whole billionths of the cost, and the rest in billionths of these: both can be added up
ALTER TABLE results ADD COLUMN cost_nanos integer;
ALTER TABLE results ADD COLUMN cost_attos integer;
-- the tokens that the server read of a text that it cut; null for texts that were read whole
ALTER TABLE results ADD COLUMN truncated_to integer;

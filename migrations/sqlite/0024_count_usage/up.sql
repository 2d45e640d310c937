-- what results used, also those that were deleted since; the results after a watermark are not in it
CREATE TABLE usage_days (
    prism_id blob NOT NULL REFERENCES prisms (id),
    -- the day in UTC on which the results were saved, as days since 1970
    day integer NOT NULL,
    -- zeros for results that no key, no person or no file run made
    api_key_id blob NOT NULL,
    made_by blob NOT NULL,
    file_run_id blob NOT NULL,
    -- empty for a model that was not named
    model_name text NOT NULL,
    calls integer NOT NULL,
    failed integer NOT NULL,
    model_requests integer NOT NULL,
    input_tokens integer NOT NULL,
    cached_tokens integer NOT NULL,
    output_tokens integer NOT NULL,
    -- whole billionths and the rest in billionths of these; null for none
    cost_nanos integer,
    cost_attos integer,
    PRIMARY KEY (prism_id, day, api_key_id, made_by, file_run_id, model_name)
) STRICT;
INSERT INTO usage_days SELECT * FROM deleted_usage;
-- the watermarks are those of the new table from here on
DELETE FROM counted_results;
DROP TABLE result_counts;

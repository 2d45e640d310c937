-- what results used, also those that were deleted since; the results after a watermark are not in it
CREATE TABLE usage_days (
    prism_id uuid NOT NULL REFERENCES prisms (id),
    -- the day in UTC on which the results were saved, as days since 1970
    day integer NOT NULL,
    -- zeros for results that no key, no person or no file run made
    api_key_id uuid NOT NULL,
    made_by uuid NOT NULL,
    file_run_id uuid NOT NULL,
    -- empty for a model that was not named
    model_name text COLLATE "C" NOT NULL,
    calls bigint NOT NULL,
    failed bigint NOT NULL,
    model_requests bigint NOT NULL,
    input_tokens bigint NOT NULL,
    cached_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    -- whole billionths and the rest in billionths of these; null for none
    cost_nanos bigint,
    cost_attos bigint,
    PRIMARY KEY (prism_id, day, api_key_id, made_by, file_run_id, model_name)
);
INSERT INTO usage_days SELECT * FROM deleted_usage;
-- the watermarks are those of the new table from here on
DELETE FROM counted_results;
DROP TABLE result_counts;

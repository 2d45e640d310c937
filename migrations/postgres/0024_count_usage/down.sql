DROP TABLE usage_days;
-- counted again when somebody looks
DELETE FROM counted_results;
-- how many results a prism has, by day and key, up to and with the result in counted_results
CREATE TABLE result_counts (
    prism_id uuid NOT NULL REFERENCES prisms (id) ON DELETE CASCADE,
    -- whole days since 1970 in UTC
    day integer NOT NULL,
    -- the key that made them; the nil id for results that no key made
    api_key_id uuid NOT NULL,
    ok bigint NOT NULL,
    failed bigint NOT NULL,
    PRIMARY KEY (prism_id, day, api_key_id)
);

-- where a result's answers came from; all null for results that were saved before
ALTER TABLE results
    ADD COLUMN model_protocol text,
    -- as the server reported it
    ADD COLUMN model_name text,
    ADD COLUMN prompt_version integer,
    ADD COLUMN input_tokens bigint,
    ADD COLUMN output_tokens bigint,
    ADD COLUMN model_requests bigint,
    ADD COLUMN model_attempts bigint;

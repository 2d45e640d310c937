ALTER TABLE results
    DROP COLUMN model_attempts,
    DROP COLUMN model_requests,
    DROP COLUMN output_tokens,
    DROP COLUMN input_tokens,
    DROP COLUMN prompt_version,
    DROP COLUMN model_name,
    DROP COLUMN model_protocol;

ALTER TABLE results DROP COLUMN model_attempts;
ALTER TABLE results DROP COLUMN model_requests;
ALTER TABLE results DROP COLUMN output_tokens;
ALTER TABLE results DROP COLUMN input_tokens;
ALTER TABLE results DROP COLUMN prompt_version;
ALTER TABLE results DROP COLUMN model_name;
ALTER TABLE results DROP COLUMN model_protocol;

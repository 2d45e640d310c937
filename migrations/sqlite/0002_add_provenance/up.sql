-- where a result's answers came from; all null for results that were saved before
ALTER TABLE results ADD COLUMN model_protocol text;
-- as the server reported it
ALTER TABLE results ADD COLUMN model_name text;
ALTER TABLE results ADD COLUMN prompt_version integer;
ALTER TABLE results ADD COLUMN input_tokens integer;
ALTER TABLE results ADD COLUMN output_tokens integer;
ALTER TABLE results ADD COLUMN model_requests integer;
ALTER TABLE results ADD COLUMN model_attempts integer;

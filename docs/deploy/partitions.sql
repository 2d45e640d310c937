-- Turns `results` into partitions by month: a sketch for more than 100 million results, see SCALING.md.
-- It is no migration of Refract. Tried on PostgreSQL 15 with the tables of migration 19. Try it on a copy
-- of your database first: psql --set=ON_ERROR_STOP=1 --file=partitions.sql
--
-- Ids are UUIDv7 and begin with the time, so a range of ids is a range of time, and the primary key stays
-- `id`. A unique index of partitions must hold the id: idempotency keys and retries get tables of their
-- own, which triggers keep. An insert that they exclude is skipped, as the unique indexes did.

CREATE FUNCTION first_id(moment timestamp) RETURNS uuid LANGUAGE sql IMMUTABLE RETURN
    rpad(lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0'), 32, '0')::uuid;
-- the first ids of the next month and of the month after it: the last step must be done before it begins
SELECT to_char(month, '"results_"YYYY_MM') AS month_name, first_id(month) AS bound,
    first_id(month + interval '1 month') AS next_bound
FROM date_trunc('month', now() AT TIME ZONE 'UTC' + interval '1 month') AS month \gset

-- 1. While nodes work: the tables for keys and retries, kept by triggers from now on

CREATE TABLE result_keys (
    account_id uuid NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    result_id uuid NOT NULL,
    PRIMARY KEY (account_id, idempotency_key)
);
CREATE TABLE result_retries (
    retry_of uuid PRIMARY KEY,
    result_id uuid NOT NULL
);

CREATE FUNCTION note_result_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM result_keys
            WHERE account_id = OLD.account_id AND idempotency_key = OLD.idempotency_key AND result_id = OLD.id;
        DELETE FROM result_retries WHERE retry_of = OLD.retry_of AND result_id = OLD.id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO result_keys SELECT NEW.account_id, NEW.idempotency_key, NEW.id
            WHERE NEW.idempotency_key IS NOT NULL ON CONFLICT DO NOTHING;
        INSERT INTO result_retries SELECT NEW.retry_of, NEW.id
            WHERE NEW.retry_of IS NOT NULL ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER results_keys_while_copying AFTER INSERT OR DELETE OR UPDATE OF idempotency_key, retry_of ON results
    FOR EACH ROW EXECUTE FUNCTION note_result_keys();

-- for many results, in pieces by ranges of ids
INSERT INTO result_keys SELECT account_id, idempotency_key, id FROM results WHERE idempotency_key IS NOT NULL
    ON CONFLICT DO NOTHING;
INSERT INTO result_retries SELECT retry_of, id FROM results WHERE retry_of IS NOT NULL ON CONFLICT DO NOTHING;

-- the look-ups of the old unique indexes
CREATE INDEX CONCURRENTLY results_key_lookup ON results (account_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX CONCURRENTLY results_retry_lookup ON results (retry_of) WHERE retry_of IS NOT NULL;

-- reads the whole table, and lets others work; without it the last step would do so and block them
ALTER TABLE results ADD CONSTRAINT results_before CHECK (id < :'bound') NOT VALID;
ALTER TABLE results VALIDATE CONSTRAINT results_before;

-- 2. In one short transaction, for which all calls wait

BEGIN;
SET LOCAL lock_timeout = '5s';
LOCK TABLE results, marks, abstentions, retest_answers, prism_examples IN ACCESS EXCLUSIVE MODE;
ALTER TABLE marks DROP CONSTRAINT marks_result_id_fkey;
ALTER TABLE abstentions DROP CONSTRAINT abstentions_result_id_fkey;
ALTER TABLE retest_answers DROP CONSTRAINT retest_answers_result_id_fkey;
ALTER TABLE prism_examples DROP CONSTRAINT prism_examples_result_id_fkey;
ALTER TABLE results DROP CONSTRAINT results_retry_of_fkey;
DROP TRIGGER results_keys_while_copying ON results;
DROP INDEX results_account_id_idempotency_key, results_retry_of;

ALTER TABLE results RENAME TO results_first;
CREATE TABLE results (LIKE results_first INCLUDING CONSTRAINTS) PARTITION BY RANGE (id);
ALTER TABLE results DROP CONSTRAINT results_before;

-- the primary key and every other index, as they are; those of the first partition are taken over
DO $$
DECLARE
    old record;
BEGIN
    FOR old IN
        SELECT relname, pg_get_indexdef(indexrelid) AS definition, indisprimary FROM pg_index
        JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = 'results_first'::regclass
    LOOP
        EXECUTE format('ALTER INDEX %I RENAME TO %I', old.relname, 'first_' || old.relname);
        IF old.indisprimary THEN
            ALTER TABLE results ADD PRIMARY KEY (id);
        ELSE
            EXECUTE replace(replace(old.definition, ' ON public.results_first ', ' ON results '), ' ON ONLY ', ' ON ');
        END IF;
    END LOOP;
END
$$;
ALTER TABLE results ADD FOREIGN KEY (prism_id, version) REFERENCES prism_versions (prism_id, version);
ALTER TABLE results ATTACH PARTITION results_first FOR VALUES FROM (MINVALUE) TO (:'bound');

-- a partition for each month, made before the month begins; what fits none goes into the last one
CREATE TABLE :"month_name" PARTITION OF results FOR VALUES FROM (:'bound') TO (:'next_bound')
    WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
CREATE TABLE results_without_month PARTITION OF results DEFAULT;

CREATE FUNCTION exclude_result() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.idempotency_key IS NOT NULL THEN
        INSERT INTO result_keys VALUES (NEW.account_id, NEW.idempotency_key, NEW.id) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN RETURN NULL; END IF;
    END IF;
    IF NEW.retry_of IS NOT NULL THEN
        INSERT INTO result_retries VALUES (NEW.retry_of, NEW.id) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            DELETE FROM result_keys
                WHERE account_id = NEW.account_id AND idempotency_key = NEW.idempotency_key AND result_id = NEW.id;
            RETURN NULL;
        END IF;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER results_exclude BEFORE INSERT ON results FOR EACH ROW EXECUTE FUNCTION exclude_result();
CREATE TRIGGER results_keys AFTER DELETE OR UPDATE OF idempotency_key, retry_of ON results
    FOR EACH ROW EXECUTE FUNCTION note_result_keys();

ALTER TABLE results ADD FOREIGN KEY (retry_of) REFERENCES results (id);
ALTER TABLE marks ADD FOREIGN KEY (result_id) REFERENCES results (id) ON DELETE CASCADE NOT VALID;
ALTER TABLE abstentions ADD FOREIGN KEY (result_id) REFERENCES results (id) ON DELETE CASCADE NOT VALID;
ALTER TABLE retest_answers ADD FOREIGN KEY (result_id) REFERENCES results (id) ON DELETE CASCADE NOT VALID;
ALTER TABLE prism_examples ADD FOREIGN KEY (result_id) REFERENCES results (id) ON DELETE SET NULL NOT VALID;
COMMIT;

-- 3. While nodes work
ALTER TABLE marks VALIDATE CONSTRAINT marks_result_id_fkey;
ALTER TABLE abstentions VALIDATE CONSTRAINT abstentions_result_id_fkey;
ALTER TABLE retest_answers VALIDATE CONSTRAINT retest_answers_result_id_fkey;
ALTER TABLE prism_examples VALIDATE CONSTRAINT prism_examples_result_id_fkey;
ANALYZE results;

-- 4. To drop a month later, here results_first, instead of purging its results one by one. What it used is
-- kept, as a purge keeps it: a node has counted the month an hour after it ended. The transaction blocks
-- calls while it reads the month: delete marks first
--
-- BEGIN;
-- LOCK TABLE results IN ACCESS EXCLUSIVE MODE;
-- INSERT INTO deleted_usage AS kept SELECT prism_id,
--         CAST(created_at AT TIME ZONE 'UTC' AS date) - DATE '1970-01-01',
--         COALESCE(api_key_id, zero), COALESCE(made_by, zero), COALESCE(file_run_id, zero),
--         COALESCE(model_name, ''), count(*), count(error), COALESCE(sum(model_requests), 0),
--         COALESCE(sum(input_tokens), 0), COALESCE(sum(cached_tokens), 0), COALESCE(sum(output_tokens), 0),
--         sum(cost_nanos), sum(cost_attos)
--     FROM results_first, (SELECT '00000000-0000-0000-0000-000000000000'::uuid AS zero) AS nil
--     GROUP BY 1, 2, 3, 4, 5, 6
--     ON CONFLICT (prism_id, day, api_key_id, made_by, file_run_id, model_name) DO UPDATE SET
--         calls = kept.calls + excluded.calls, failed = kept.failed + excluded.failed,
--         model_requests = kept.model_requests + excluded.model_requests,
--         input_tokens = kept.input_tokens + excluded.input_tokens,
--         cached_tokens = kept.cached_tokens + excluded.cached_tokens,
--         output_tokens = kept.output_tokens + excluded.output_tokens,
--         cost_nanos = COALESCE(kept.cost_nanos + excluded.cost_nanos, kept.cost_nanos, excluded.cost_nanos),
--         cost_attos = COALESCE(kept.cost_attos + excluded.cost_attos, kept.cost_attos, excluded.cost_attos);
-- DELETE FROM marks WHERE result_id IN (SELECT id FROM results_first);
-- DELETE FROM abstentions WHERE result_id IN (SELECT id FROM results_first);
-- DELETE FROM retest_answers WHERE result_id IN (SELECT id FROM results_first);
-- UPDATE prism_examples SET result_id = NULL WHERE result_id IN (SELECT id FROM results_first);
-- UPDATE results SET retry_of = NULL WHERE retry_of IN (SELECT id FROM results_first);
-- DELETE FROM result_keys AS held USING results_first AS gone
--     WHERE held.account_id = gone.account_id AND held.idempotency_key = gone.idempotency_key;
-- ALTER TABLE results DETACH PARTITION results_first;
-- DROP TABLE results_first;
-- COMMIT;

DROP INDEX other_marks_person_id_marked_at;
DROP INDEX marks_person_id_marked_at;
CREATE TABLE watched_results (
    prism_id uuid PRIMARY KEY REFERENCES prisms (id) ON DELETE CASCADE,
    up_to uuid NOT NULL
);
INSERT INTO watched_results (prism_id, up_to)
    SELECT prism_id, watched_to FROM counted_results WHERE watched_to IS NOT NULL;
ALTER TABLE counted_results DROP COLUMN watched_to;
-- added up again at the next look
ALTER TABLE account_budgets
    ADD COLUMN counted_to uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    ADD COLUMN cost_nanos bigint NOT NULL DEFAULT 0,
    ADD COLUMN cost_attos bigint NOT NULL DEFAULT 0;
ALTER TABLE account_budgets
    ALTER COLUMN counted_to DROP DEFAULT,
    ALTER COLUMN cost_nanos DROP DEFAULT,
    ALTER COLUMN cost_attos DROP DEFAULT;

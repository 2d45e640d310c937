-- what a month has cost is read from usage_days; the month is that in which a share was announced
ALTER TABLE account_budgets DROP COLUMN counted_to;
ALTER TABLE account_budgets DROP COLUMN cost_nanos;
ALTER TABLE account_budgets DROP COLUMN cost_attos;

-- the id up to which a prism's results are in its hours; null before any are
ALTER TABLE counted_results ADD COLUMN watched_to blob;
INSERT INTO counted_results (prism_id, up_to, watched_to)
    SELECT prism_id, x'00000000000000000000000000000000', up_to FROM watched_results WHERE true
    ON CONFLICT (prism_id) DO UPDATE SET watched_to = excluded.watched_to;
DROP TABLE watched_results;

-- the newest mark of a person
CREATE INDEX marks_person_id_marked_at ON marks (person_id, marked_at)
    WHERE person_id IS NOT NULL;
CREATE INDEX other_marks_person_id_marked_at ON other_marks (person_id, marked_at)
    WHERE person_id IS NOT NULL;

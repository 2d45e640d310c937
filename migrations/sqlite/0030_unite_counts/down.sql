DROP INDEX other_marks_person_id_marked_at;
DROP INDEX marks_person_id_marked_at;
CREATE TABLE watched_results (
    prism_id blob NOT NULL PRIMARY KEY REFERENCES prisms (id) ON DELETE CASCADE,
    up_to blob NOT NULL
) STRICT;
INSERT INTO watched_results (prism_id, up_to)
    SELECT prism_id, watched_to FROM counted_results WHERE watched_to IS NOT NULL;
ALTER TABLE counted_results DROP COLUMN watched_to;
CREATE TABLE counted_budgets (
    account_id blob NOT NULL PRIMARY KEY REFERENCES accounts (id),
    budget_nanos integer NOT NULL,
    month integer NOT NULL,
    counted_to blob NOT NULL,
    cost_nanos integer NOT NULL,
    cost_attos integer NOT NULL,
    announced_percent integer NOT NULL
) STRICT;
-- added up again at the next look
INSERT INTO counted_budgets
    SELECT account_id, budget_nanos, month, x'00000000000000000000000000000000', 0, 0,
        announced_percent
    FROM account_budgets;
DROP TABLE account_budgets;
ALTER TABLE counted_budgets RENAME TO account_budgets;

-- added up again at the next look
ALTER TABLE account_budgets
    ADD COLUMN counted_to uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    ADD COLUMN cost_nanos bigint NOT NULL DEFAULT 0,
    ADD COLUMN cost_attos bigint NOT NULL DEFAULT 0;
ALTER TABLE account_budgets
    ALTER COLUMN counted_to DROP DEFAULT,
    ALTER COLUMN cost_nanos DROP DEFAULT,
    ALTER COLUMN cost_attos DROP DEFAULT;

-- the results of a prism by age, for purging them. It is an index of an expression, so that no search
-- within a period takes it for its own: that one needs its results in the order of their ids
CREATE INDEX results_prism_id_age ON results (prism_id, (COALESCE(created_at, created_at)));

-- work that one node at a time does for all of them
CREATE TABLE leases (
    name text COLLATE "C" PRIMARY KEY,
    -- the node, by an id that it made at its start
    holder uuid NOT NULL,
    -- another node may take a lease that its holder has not renewed by then
    expires_at timestamptz NOT NULL
);

-- where results are purged as steadily as they come, a fifth of the table would be dead before the
-- default has it vacuumed
ALTER TABLE results SET (
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0.05,
    toast.autovacuum_vacuum_threshold = 1000
);
ALTER TABLE marks SET (
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_threshold = 1000
);

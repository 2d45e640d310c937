ALTER TABLE marks RESET (autovacuum_vacuum_threshold, autovacuum_vacuum_scale_factor);
ALTER TABLE results RESET (
    toast.autovacuum_vacuum_threshold,
    toast.autovacuum_vacuum_scale_factor,
    autovacuum_vacuum_threshold,
    autovacuum_vacuum_scale_factor
);
DROP TABLE leases;
DROP INDEX results_prism_id_age;

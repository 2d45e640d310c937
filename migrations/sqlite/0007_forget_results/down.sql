DROP TABLE leases;
DROP INDEX results_prism_id_age;

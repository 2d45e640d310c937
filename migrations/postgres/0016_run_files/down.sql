DROP INDEX results_file_run_id_prism_id_id;
ALTER TABLE results DROP COLUMN file_run_id;
DROP TABLE file_runs;
DROP TABLE upload_pieces;
DROP TABLE uploads;

ALTER TABLE uploads DROP COLUMN outline;

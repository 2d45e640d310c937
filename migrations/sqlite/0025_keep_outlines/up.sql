-- header and first rows, as JSON, so that a page that shows them does not read the file; null for a
-- file that nobody has looked at since it was uploaded
ALTER TABLE uploads ADD COLUMN outline text;

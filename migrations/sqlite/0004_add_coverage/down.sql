ALTER TABLE results DROP COLUMN unread_millionths;
ALTER TABLE results DROP COLUMN on_codes_millionths;

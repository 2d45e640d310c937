ALTER TABLE results
    DROP COLUMN unread_millionths,
    DROP COLUMN on_codes_millionths;

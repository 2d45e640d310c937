ALTER TABLE accounts DROP COLUMN codes_required_at;
DROP TABLE pending_sign_ins;
DROP TABLE recovery_codes;
DROP TABLE one_time_codes;

-- one-time codes of people who sign in by password
CREATE TABLE one_time_codes (
    person_id uuid NOT NULL PRIMARY KEY REFERENCES people (id) ON DELETE CASCADE,
    -- the person's device has it too
    secret bytea NOT NULL CHECK (octet_length(secret) = 20),
    created_at timestamptz NOT NULL,
    -- null until the first code was typed; sign-in asks for none before
    on_since timestamptz,
    -- the newest step of 30 seconds whose code was used: no code is used twice
    last_step bigint NOT NULL
);

-- single-use codes for those who lost their device; only hashes of the unused ones are kept
CREATE TABLE recovery_codes (
    person_id uuid NOT NULL REFERENCES one_time_codes (person_id) ON DELETE CASCADE,
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    PRIMARY KEY (person_id, hash)
);

-- sign-ins with the right password that still need a code; only hashes of their tokens are kept
CREATE TABLE pending_sign_ins (
    hash bytea NOT NULL PRIMARY KEY CHECK (octet_length(hash) = 32),
    person_id uuid NOT NULL REFERENCES one_time_codes (person_id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    -- codes that were tried
    tries integer NOT NULL
);
CREATE INDEX pending_sign_ins_person_id ON pending_sign_ins (person_id);
CREATE INDEX pending_sign_ins_created_at ON pending_sign_ins (created_at);

-- since when people who sign in by password need one-time codes; null if they do not
ALTER TABLE accounts ADD COLUMN codes_required_at timestamptz;

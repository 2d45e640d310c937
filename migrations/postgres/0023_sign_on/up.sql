-- who somebody is at the sign-in provider. People who have no password have '*' in its place, which
-- no password fits
CREATE TABLE provider_subjects (
    issuer text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    person_id uuid NOT NULL REFERENCES people (id),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX provider_subjects_person_id ON provider_subjects (person_id);

-- sessions that the provider lets last
CREATE TABLE provider_sessions (
    hash bytea PRIMARY KEY REFERENCES sessions (hash) ON DELETE CASCADE,
    issuer text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    -- the provider's tokens, encrypted with a key that only the cookie gives
    sealed_grant bytea NOT NULL,
    -- when the provider last let the person in
    checked_at timestamptz NOT NULL,
    -- when it is asked again; null where it cannot be asked
    next_check_at timestamptz,
    -- since when a node asks; null while none does
    asked_at timestamptz
);

-- the people of the app; a removed person is kept, since changes name who made them
CREATE TABLE people (
    id blob NOT NULL PRIMARY KEY,
    account_id blob NOT NULL REFERENCES accounts (id),
    -- in lower case
    email text NOT NULL,
    -- null until the person has chosen a name and a password
    name text,
    role text NOT NULL CHECK (role IN ('reviewer', 'editor', 'owner')),
    -- argon2id in the PHC string format
    password text,
    created_at integer NOT NULL,
    removed_at integer,
    CONSTRAINT people_joined CHECK ((name IS NULL) = (password IS NULL))
) STRICT;
-- an address signs in to one account
CREATE UNIQUE INDEX people_email ON people (email) WHERE removed_at IS NULL;
CREATE INDEX people_account_id ON people (account_id);

-- links that are good once, to join or to choose a new password; only hashes of them are kept
CREATE TABLE invitations (
    hash blob NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    person_id blob NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    created_at integer NOT NULL,
    expires_at integer NOT NULL
) STRICT;
-- a new link replaces the one before
CREATE UNIQUE INDEX invitations_person_id ON invitations (person_id);

-- who is signed in; only hashes of the cookies are kept
CREATE TABLE sessions (
    hash blob NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    person_id blob NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    created_at integer NOT NULL,
    last_used_at integer NOT NULL
) STRICT;
CREATE INDEX sessions_person_id ON sessions (person_id);
CREATE INDEX sessions_last_used_at ON sessions (last_used_at);

-- tries to sign in that did not succeed, by the hash of the address that was typed
CREATE TABLE sign_in_tries (
    id blob NOT NULL PRIMARY KEY,
    email_hash blob NOT NULL CHECK (length(email_hash) = 32),
    tried_at integer NOT NULL
) STRICT;
CREATE INDEX sign_in_tries_email_hash_tried_at ON sign_in_tries (email_hash, tried_at);
CREATE INDEX sign_in_tries_tried_at ON sign_in_tries (tried_at);

-- who made it; null for the terminal, for an API key and for what was made before. No references:
-- a person is never deleted, and a reference would lock the person's row with every result
ALTER TABLE prism_versions ADD COLUMN made_by blob;
ALTER TABLE api_keys ADD COLUMN made_by blob;
ALTER TABLE results ADD COLUMN made_by blob;

-- changes of a prism that are no version
CREATE TABLE prism_changes (
    id blob NOT NULL PRIMARY KEY,
    prism_id blob NOT NULL REFERENCES prisms (id),
    change text NOT NULL
        CHECK (change IN ('lens_set', 'lens_reset', 'renamed', 'archived', 'restored')),
    made_by blob,
    made_at integer NOT NULL
) STRICT;
CREATE INDEX prism_changes_prism_id_id ON prism_changes (prism_id, id);

-- the search of results: by version, by reference, by who made them. What is searched for stands
-- first, so that no other index has its order
CREATE INDEX results_version_prism_id_id ON results (version, prism_id, id);
CREATE INDEX results_reference_prism_id_id
    ON results (reference, prism_id, id) WHERE reference IS NOT NULL;
DROP INDEX results_api_key_id;
CREATE INDEX results_api_key_id_prism_id_id
    ON results (api_key_id, prism_id, id) WHERE api_key_id IS NOT NULL;
CREATE INDEX results_made_by_prism_id_id
    ON results (made_by, prism_id, id) WHERE made_by IS NOT NULL;
CREATE INDEX results_prism_id_id_of_terminal
    ON results (prism_id, id) WHERE api_key_id IS NULL AND made_by IS NULL;

-- how many results a prism has, by day and key, up to and with the result in counted_results
CREATE TABLE result_counts (
    prism_id blob NOT NULL REFERENCES prisms (id) ON DELETE CASCADE,
    -- whole days since 1970 in UTC
    day integer NOT NULL,
    -- the key that made them; the nil id for results that no key made
    api_key_id blob NOT NULL,
    ok integer NOT NULL,
    failed integer NOT NULL,
    PRIMARY KEY (prism_id, day, api_key_id)
) STRICT;
CREATE TABLE counted_results (
    prism_id blob NOT NULL PRIMARY KEY REFERENCES prisms (id) ON DELETE CASCADE,
    -- ids up to this one are in result_counts
    up_to blob NOT NULL
) STRICT;

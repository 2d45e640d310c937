-- JSON is text: the order of its keys is the prism's and means something.
-- What an index holds is compared byte by byte, whatever the locale of the database is: the order of
-- a locale changes with the system's C library, and an index in the old order would let a second
-- result have an idempotency key.

CREATE TABLE accounts (
    id uuid PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX accounts_name ON accounts (name);

CREATE TABLE api_keys (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts (id),
    name text NOT NULL,
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    first_characters text NOT NULL,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at timestamptz
);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_account_id ON api_keys (account_id);

CREATE TABLE prisms (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts (id),
    slug text COLLATE "C" NOT NULL,
    name text NOT NULL,
    latest_version integer NOT NULL CHECK (latest_version >= 1),
    lens_revision integer NOT NULL,
    -- the custom columns; null is the automatic lens
    lens text,
    created_at timestamptz NOT NULL,
    archived_at timestamptz
);
CREATE UNIQUE INDEX prisms_account_id_slug ON prisms (account_id, slug);

CREATE TABLE prism_versions (
    prism_id uuid NOT NULL REFERENCES prisms (id),
    version integer NOT NULL CHECK (version >= 1),
    definition text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (prism_id, version)
);

CREATE TABLE results (
    id uuid PRIMARY KEY,
    -- its prism's account, and a key of it: they are not references, since each of those locks a
    -- row that all calls of a key have in common, which halves the rate of inserts
    account_id uuid NOT NULL,
    prism_id uuid NOT NULL,
    version integer NOT NULL,
    api_key_id uuid,
    reference text,
    idempotency_key text COLLATE "C",
    status text NOT NULL,
    answers text,
    error text,
    fields text NOT NULL,
    context text,
    took_ms bigint NOT NULL CHECK (took_ms >= 0),
    created_at timestamptz NOT NULL,
    retry_of uuid REFERENCES results (id),
    FOREIGN KEY (prism_id, version) REFERENCES prism_versions (prism_id, version),
    CONSTRAINT results_status CHECK (
        (status = 'ok' AND answers IS NOT NULL AND error IS NULL)
        OR (status = 'failed' AND answers IS NULL AND error IS NOT NULL)
    )
);
-- of the two races that a result can be in, each is settled by one of these
CREATE UNIQUE INDEX results_account_id_idempotency_key
    ON results (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX results_retry_of ON results (retry_of) WHERE retry_of IS NOT NULL;
-- exports
CREATE INDEX results_prism_id_id ON results (prism_id, id);
-- results made, per key
CREATE INDEX results_api_key_id ON results (api_key_id) WHERE api_key_id IS NOT NULL;

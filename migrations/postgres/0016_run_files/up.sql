-- files that people upload for runs. A file is whole once its hash is there
CREATE TABLE uploads (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts (id),
    -- the person; null for the terminal
    uploaded_by uuid,
    file_name text NOT NULL,
    uploaded_at timestamptz NOT NULL,
    -- of the file as it was sent; null until it is whole, and again while it is deleted
    bytes bigint,
    -- SHA-256 in hexadecimal
    sha256 text COLLATE "C"
);
CREATE INDEX uploads_uploaded_at ON uploads (uploaded_at);

-- a file in pieces, so that nobody holds it whole
CREATE TABLE upload_pieces (
    upload_id uuid NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
    -- from 0
    number integer NOT NULL,
    -- compressed (zlib)
    content bytea NOT NULL,
    PRIMARY KEY (upload_id, number)
);
-- the content is compressed
ALTER TABLE upload_pieces ALTER COLUMN content SET STORAGE EXTERNAL;

-- a version that is asked about every row of an upload, by the node that holds the lease
CREATE TABLE file_runs (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts (id),
    prism_id uuid NOT NULL,
    version integer NOT NULL,
    -- null once the file was deleted
    upload_id uuid REFERENCES uploads (id) ON DELETE SET NULL,
    file_name text NOT NULL,
    file_sha256 text COLLATE "C" NOT NULL,
    -- which column is which field, as JSON
    mappings text NOT NULL,
    state text COLLATE "C" NOT NULL,
    -- why the run paused by itself or broke; null otherwise
    reason text,
    -- when the run pauses by itself; null for no limit
    most_model_requests bigint,
    most_tokens bigint,
    most_failed_rows bigint,
    -- what the check of the whole file found; null until then
    file_check text,
    -- counts of rows, as JSON
    progress text NOT NULL,
    -- the person; null for the terminal
    made_by uuid,
    made_at timestamptz NOT NULL,
    started_at timestamptz,
    ended_at timestamptz,
    -- when the state changed, or the last lease ended
    changed_at timestamptz NOT NULL,
    -- the node at work and until when nobody else may be; null for none
    lease_holder uuid,
    lease_until timestamptz,
    -- grows with every lease, so that what an earlier holder writes is refused
    fence bigint NOT NULL,
    FOREIGN KEY (prism_id, version) REFERENCES prism_versions (prism_id, version)
);
CREATE INDEX file_runs_account_id_id ON file_runs (account_id, id);
CREATE INDEX file_runs_prism_id_id ON file_runs (prism_id, id);
CREATE INDEX file_runs_upload_id ON file_runs (upload_id);
-- what waits for a node, the longest first
CREATE INDEX file_runs_state_changed_at ON file_runs (state, changed_at);

-- the run that made a result; null for all others, which have no part in the index. No reference: it
-- would lock the run's row for every result
ALTER TABLE results ADD COLUMN file_run_id uuid;
CREATE INDEX results_file_run_id_prism_id_id
    ON results (file_run_id, prism_id, id) WHERE file_run_id IS NOT NULL;

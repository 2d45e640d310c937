DROP TABLE results;
DROP TABLE prism_versions;
DROP TABLE prisms;
DROP TABLE api_keys;
DROP TABLE accounts;

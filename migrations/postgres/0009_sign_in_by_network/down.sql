DROP TABLE known_browsers;
DROP INDEX sign_in_tries_browser_hash_tried_at;
DROP INDEX sign_in_tries_network_tried_at;
ALTER TABLE sign_in_tries DROP COLUMN refused_at;
ALTER TABLE sign_in_tries DROP COLUMN browser_hash;
ALTER TABLE sign_in_tries DROP COLUMN network;

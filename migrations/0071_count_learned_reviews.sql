-- +goose Up
-- locks: teacher ACCESS EXCLUSIVE, moment

-- How many reviews a peer taught; null until they were counted. Programs of before
-- learn reviews without counting them: at the end of each reading from the beginning
-- they are counted anew.
ALTER TABLE teacher ADD COLUMN reviews bigint;

INSERT INTO schema_compat (version, min_program) VALUES (71, 70);

-- +goose Up

-- What is kept of the texts of agents on no list, in bytes, so that it can be
-- bounded. The index holds all that is asked for.
ALTER TABLE task ADD COLUMN weight INTEGER NOT NULL DEFAULT 0;
UPDATE task SET weight = 1024 + octet_length(doc) + octet_length(goal)
    + coalesce((SELECT sum(octet_length(m.body) + 1024) FROM message m WHERE m.task = task.id AND m.sender = 'requester'), 0)
    + coalesce((SELECT sum(a.size) FROM attachment a WHERE a.task = task.id), 0)
WHERE trust = 'public';
CREATE INDEX task_of_strangers ON task (peer, ended_at, weight) WHERE trust = 'public';

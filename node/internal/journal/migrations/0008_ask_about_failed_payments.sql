-- +goose Up

-- That a payment failed is its provider's word: the ledger is asked about those, too,
-- once nobody can use them any more. What it says never moved is void.
DROP INDEX spend_open;
CREATE INDEX spend_unproven ON spend (network, not_after) WHERE state IN ('open', 'failed');

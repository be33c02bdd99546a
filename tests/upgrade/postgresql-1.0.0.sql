-- The schema of version 1.0.0 on PostgreSQL, as its migrations made it; frozen.
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE users (
    role TEXT COLLATE "C" DEFAULT 'moderator' NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    name_folded TEXT COLLATE "C" NOT NULL,
    password_hash TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    must_change_password BOOLEAN NOT NULL,
    site_ids JSON,
    preferences JSON,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_users PRIMARY KEY (id),
    CONSTRAINT uq_users_name_folded UNIQUE (name_folded)
);
CREATE TABLE user_sessions (
    id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    browser TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_user_sessions PRIMARY KEY (id),
    CONSTRAINT fk_user_sessions_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE INDEX ix_user_sessions_last_seen_at ON user_sessions (last_seen_at);
CREATE INDEX ix_user_sessions_user_id_last_seen_at ON user_sessions (user_id, last_seen_at);
CREATE TABLE second_factors (
    user_id TEXT COLLATE "C" NOT NULL,
    seed TEXT COLLATE "C" NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    last_step BIGINT NOT NULL,
    CONSTRAINT pk_second_factors PRIMARY KEY (user_id),
    CONSTRAINT fk_second_factors_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE TABLE recovery_codes (
    user_id TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_recovery_codes PRIMARY KEY (user_id, digest),
    CONSTRAINT fk_recovery_codes_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE TABLE audit_log (
    seq BIGSERIAL NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    act TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    detail TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_audit_log PRIMARY KEY (seq)
);
CREATE INDEX ix_audit_log_act_seq ON audit_log (act, seq);
CREATE INDEX ix_audit_log_actor_seq ON audit_log (actor, seq);
CREATE INDEX ix_audit_log_at_seq ON audit_log (at, seq);
CREATE INDEX ix_audit_log_subject_seq ON audit_log (subject, seq);
CREATE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the audit log is only ever appended to'; END $$;
CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log EXECUTE FUNCTION refuse_change_of_audit_log();
CREATE TABLE sites (
    id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    settings JSON NOT NULL,
    CONSTRAINT pk_sites PRIMARY KEY (id),
    CONSTRAINT uq_sites_name UNIQUE (name)
);
CREATE TABLE site_keys (
    id TEXT COLLATE "C" NOT NULL,
    site_id TEXT COLLATE "C" NOT NULL,
    hint TEXT COLLATE "C" NOT NULL,
    secret_sha256 TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_site_keys PRIMARY KEY (id),
    CONSTRAINT fk_site_keys_site_id FOREIGN KEY(site_id) REFERENCES sites (id),
    CONSTRAINT uq_site_keys_secret_sha256 UNIQUE (secret_sha256)
);
CREATE INDEX ix_site_keys_site_id ON site_keys (site_id);
CREATE TABLE site_endpoints (
    form TEXT COLLATE "C" DEFAULT 'standard_webhook' NOT NULL,
    site_id TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    secrets JSON NOT NULL,
    events JSON NOT NULL,
    refused_at TIMESTAMP WITH TIME ZONE,
    rests_until TIMESTAMP WITH TIME ZONE,
    called_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_site_endpoints PRIMARY KEY (site_id),
    CONSTRAINT fk_site_endpoints_site_id FOREIGN KEY(site_id) REFERENCES sites (id)
);
CREATE TABLE applied (
    site_id TEXT COLLATE "C" NOT NULL,
    site_comment_id TEXT COLLATE "C" NOT NULL,
    certain BOOLEAN NOT NULL,
    reference TEXT COLLATE "C",
    CONSTRAINT pk_applied PRIMARY KEY (site_id, site_comment_id),
    CONSTRAINT fk_applied_site_id FOREIGN KEY(site_id) REFERENCES sites (id)
);
CREATE TABLE inbound_hooks (
    id TEXT COLLATE "C" NOT NULL,
    site_id TEXT COLLATE "C" NOT NULL,
    platform TEXT COLLATE "C" NOT NULL,
    secret TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_inbound_hooks PRIMARY KEY (id),
    CONSTRAINT fk_inbound_hooks_site_id FOREIGN KEY(site_id) REFERENCES sites (id)
);
CREATE INDEX ix_inbound_hooks_site_id ON inbound_hooks (site_id);
CREATE TABLE inbound_seen (
    hook_id TEXT COLLATE "C" NOT NULL,
    delivery_digest TEXT COLLATE "C" NOT NULL,
    seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_inbound_seen PRIMARY KEY (hook_id, delivery_digest),
    CONSTRAINT fk_inbound_seen_hook_id FOREIGN KEY(hook_id) REFERENCES inbound_hooks (id)
);
CREATE INDEX ix_inbound_seen_age ON inbound_seen (hook_id, seen_at);
CREATE TABLE list_entries (
    id TEXT COLLATE "C" NOT NULL,
    effect TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    label TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    added_by TEXT COLLATE "C" NOT NULL,
    folded TEXT COLLATE "C" NOT NULL,
    site_id TEXT COLLATE "C",
    removed_by TEXT COLLATE "C",
    comment_id TEXT COLLATE "C",
    keys JSON NOT NULL,
    added_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    removed_at TIMESTAMP WITH TIME ZONE,
    last_hit_at TIMESTAMP WITH TIME ZONE,
    hits BIGINT NOT NULL,
    CONSTRAINT pk_list_entries PRIMARY KEY (id),
    CONSTRAINT fk_list_entries_site_id FOREIGN KEY(site_id) REFERENCES sites (id)
);
CREATE INDEX ix_list_entries_newest ON list_entries (added_at, id);
CREATE TABLE list_version (
    id INTEGER NOT NULL,
    version BIGINT NOT NULL,
    CONSTRAINT pk_list_version PRIMARY KEY (id)
);
CREATE TABLE comments (
    id TEXT COLLATE "C" NOT NULL,
    site_id TEXT COLLATE "C" NOT NULL,
    lane TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    received_at TIMESTAMP WITH TIME ZONE NOT NULL,
    queued_at TIMESTAMP WITH TIME ZONE,
    written_at TIMESTAMP WITH TIME ZONE,
    withdrawn_at TIMESTAMP WITH TIME ZONE,
    review_at TIMESTAMP WITH TIME ZONE,
    attempts INTEGER NOT NULL,
    outcome TEXT COLLATE "C",
    idempotency_digest TEXT COLLATE "C",
    site_comment_digest TEXT COLLATE "C",
    site_comment_id TEXT COLLATE "C",
    language TEXT COLLATE "C",
    user_agent TEXT COLLATE "C",
    reply_to TEXT COLLATE "C",
    post_url TEXT COLLATE "C",
    post_title TEXT COLLATE "C",
    post_excerpt TEXT COLLATE "C",
    author_name TEXT COLLATE "C",
    author_url TEXT COLLATE "C",
    author_account_id TEXT COLLATE "C",
    sender_address_key TEXT COLLATE "C",
    sender_network_key TEXT COLLATE "C",
    sender_email_key TEXT COLLATE "C",
    sender_email_domain TEXT COLLATE "C",
    reported_as TEXT COLLATE "C",
    content_key TEXT COLLATE "C",
    sender_wide_network_key TEXT COLLATE "C",
    sender_name_key TEXT COLLATE "C",
    campaign_id TEXT COLLATE "C",
    form_token TEXT COLLATE "C",
    sender_account_key TEXT COLLATE "C",
    edit TEXT COLLATE "C",
    degraded BOOLEAN,
    form_honeypot_filled BOOLEAN,
    audit BOOLEAN NOT NULL,
    decided BOOLEAN NOT NULL,
    review_rank SMALLINT NOT NULL,
    author_account_age_days BIGINT,
    author_trust_level BIGINT,
    sender_system BIGINT,
    sender_before_rotation JSON,
    sender_listings JSON,
    form_behaviour JSON,
    form_seconds_on_page DOUBLE PRECISION,
    p_spam DOUBLE PRECISION,
    CONSTRAINT pk_comments PRIMARY KEY (id),
    CONSTRAINT fk_comments_site_id FOREIGN KEY(site_id) REFERENCES sites (id),
    CONSTRAINT uq_comments_idempotency_digest UNIQUE (idempotency_digest),
    CONSTRAINT uq_comments_site_comment_digest UNIQUE (site_comment_digest)
);
CREATE INDEX ix_comments_age ON comments (outcome, received_at, id) WHERE outcome IS NOT NULL AND withdrawn_at IS NULL;
CREATE INDEX ix_comments_campaign ON comments (campaign_id, received_at, id, site_id, post_url) WHERE campaign_id IS NOT NULL;
CREATE INDEX ix_comments_campaign_waiting ON comments (campaign_id, received_at, id, site_id, review_rank) WHERE campaign_id IS NOT NULL AND review_rank < 2;
CREATE INDEX ix_comments_content ON comments (site_id, content_key, received_at, id) WHERE content_key IS NOT NULL;
CREATE INDEX ix_comments_judged_lane ON comments (lane, queued_at) WHERE outcome IS NOT NULL;
CREATE INDEX ix_comments_newest ON comments (received_at, id);
CREATE INDEX ix_comments_pending ON comments (received_at, id, lane, withdrawn_at) WHERE outcome IS NULL;
CREATE INDEX ix_comments_post ON comments (site_id, post_url) WHERE length(post_url) <= 500;
CREATE INDEX ix_comments_review ON comments (review_rank, review_at, id) WHERE review_rank < 2;
CREATE INDEX ix_comments_sender_address_key ON comments (sender_address_key, received_at) WHERE sender_address_key IS NOT NULL;
CREATE INDEX ix_comments_sender_email_key ON comments (sender_email_key, received_at) WHERE sender_email_key IS NOT NULL;
CREATE INDEX ix_comments_sender_name_key ON comments (sender_name_key, received_at) WHERE sender_name_key IS NOT NULL;
CREATE INDEX ix_comments_sender_network_key ON comments (sender_network_key, received_at) WHERE sender_network_key IS NOT NULL;
CREATE INDEX ix_comments_site_decided ON comments (site_id, received_at, id) WHERE decided IS true;
CREATE INDEX ix_comments_site_newest ON comments (site_id, received_at, id);
CREATE INDEX ix_comments_site_outcome ON comments (site_id, outcome, received_at, id);
CREATE INDEX ix_comments_site_p_spam ON comments (site_id, received_at, p_spam, outcome, degraded, decided, id) WHERE p_spam IS NOT NULL;
CREATE INDEX ix_comments_site_review ON comments (site_id, review_rank, review_at, id) WHERE review_rank < 2;
CREATE INDEX ix_comments_waiting_newest ON comments (received_at, id) WHERE review_rank < 2;
CREATE TABLE verdicts (
    comment_id TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    model_version TEXT COLLATE "C" NOT NULL,
    p_spam DOUBLE PRECISION NOT NULL,
    score DOUBLE PRECISION NOT NULL,
    base DOUBLE PRECISION NOT NULL,
    model_contribution DOUBLE PRECISION NOT NULL,
    ham_cutoff DOUBLE PRECISION NOT NULL,
    spam_cutoff DOUBLE PRECISION NOT NULL,
    model_p_spam DOUBLE PRECISION,
    signals JSON NOT NULL,
    promo_spans JSON NOT NULL,
    degraded_by JSON NOT NULL,
    judged_at TIMESTAMP WITH TIME ZONE NOT NULL,
    instruction JSON,
    CONSTRAINT pk_verdicts PRIMARY KEY (comment_id),
    CONSTRAINT fk_verdicts_comment_id FOREIGN KEY(comment_id) REFERENCES comments (id)
);
CREATE INDEX ix_verdicts_instructed ON verdicts (comment_id) WHERE instruction IS NOT NULL;
CREATE INDEX ix_verdicts_judged ON verdicts (judged_at, model_version);
CREATE TABLE reports (
    seq BIGSERIAL NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    site_id TEXT COLLATE "C" NOT NULL,
    label TEXT COLLATE "C" NOT NULL,
    comment_id TEXT COLLATE "C",
    reported_by TEXT COLLATE "C",
    reported_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_reports PRIMARY KEY (seq),
    CONSTRAINT fk_reports_comment_id FOREIGN KEY(comment_id) REFERENCES comments (id),
    CONSTRAINT fk_reports_site_id FOREIGN KEY(site_id) REFERENCES sites (id),
    CONSTRAINT uq_reports_id UNIQUE (id)
);
CREATE INDEX ix_reports_comment_id ON reports (comment_id);
CREATE TABLE strokes (
    seq BIGSERIAL NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    what TEXT COLLATE "C" NOT NULL,
    ruling TEXT COLLATE "C" NOT NULL,
    decided_by TEXT COLLATE "C" NOT NULL,
    decided_at TIMESTAMP WITH TIME ZONE NOT NULL,
    n_decided BIGINT NOT NULL,
    n_left_out BIGINT NOT NULL,
    undone_at TIMESTAMP WITH TIME ZONE,
    undone_by TEXT COLLATE "C",
    CONSTRAINT pk_strokes PRIMARY KEY (seq),
    CONSTRAINT uq_strokes_id UNIQUE (id)
);
CREATE TABLE stroke_sites (
    stroke_id TEXT COLLATE "C" NOT NULL,
    site_id TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_stroke_sites PRIMARY KEY (stroke_id, site_id),
    CONSTRAINT fk_stroke_sites_site_id FOREIGN KEY(site_id) REFERENCES sites (id),
    CONSTRAINT fk_stroke_sites_stroke_id FOREIGN KEY(stroke_id) REFERENCES strokes (id)
);
CREATE TABLE decisions (
    seq BIGSERIAL NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    comment_id TEXT COLLATE "C" NOT NULL,
    ruling TEXT COLLATE "C" NOT NULL,
    decided_by TEXT COLLATE "C" NOT NULL,
    decided_at TIMESTAMP WITH TIME ZONE NOT NULL,
    note TEXT COLLATE "C",
    undone_by TEXT COLLATE "C",
    stroke_id TEXT COLLATE "C",
    undone_at TIMESTAMP WITH TIME ZONE,
    unremembered_since TIMESTAMP WITH TIME ZONE,
    seconds DOUBLE PRECISION,
    CONSTRAINT pk_decisions PRIMARY KEY (seq),
    CONSTRAINT fk_decisions_comment_id FOREIGN KEY(comment_id) REFERENCES comments (id),
    CONSTRAINT uq_decisions_id UNIQUE (id)
);
CREATE INDEX ix_decisions_comment_id ON decisions (comment_id);
CREATE INDEX ix_decisions_stroke ON decisions (stroke_id, seq) WHERE stroke_id IS NOT NULL AND undone_at IS NULL;
CREATE INDEX ix_decisions_unremembered ON decisions (unremembered_since, seq) WHERE unremembered_since IS NOT NULL;
CREATE TABLE claims (
    comment_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    user_name TEXT COLLATE "C" NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    until TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_claims PRIMARY KEY (comment_id)
);
CREATE INDEX ix_claims_user_id ON claims (user_id);
CREATE TABLE deliveries (
    seq BIGSERIAL NOT NULL,
    corrects_told BOOLEAN DEFAULT false NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    site_id TEXT COLLATE "C" NOT NULL,
    comment_id TEXT COLLATE "C" NOT NULL,
    event TEXT COLLATE "C" NOT NULL,
    form TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    payload TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    attempts INTEGER NOT NULL,
    next_try_at TIMESTAMP WITH TIME ZONE,
    ended_at TIMESTAMP WITH TIME ZONE,
    due_at TIMESTAMP WITH TIME ZONE,
    lent_until TIMESTAMP WITH TIME ZONE,
    decision_id TEXT COLLATE "C",
    CONSTRAINT pk_deliveries PRIMARY KEY (seq),
    CONSTRAINT fk_deliveries_comment_id FOREIGN KEY(comment_id) REFERENCES comments (id),
    CONSTRAINT fk_deliveries_site_id FOREIGN KEY(site_id) REFERENCES sites (id),
    CONSTRAINT uq_deliveries_id UNIQUE (id)
);
CREATE INDEX ix_deliveries_decision ON deliveries (decision_id) WHERE decision_id IS NOT NULL;
CREATE INDEX ix_deliveries_delivered ON deliveries (ended_at, seq) WHERE state = 'delivered';
CREATE INDEX ix_deliveries_due ON deliveries (due_at, seq) WHERE due_at IS NOT NULL;
CREATE INDEX ix_deliveries_line ON deliveries (comment_id, seq) WHERE state = 'waiting';
CREATE INDEX ix_deliveries_site ON deliveries (site_id, seq);
CREATE INDEX ix_deliveries_site_undelivered ON deliveries (site_id, state, seq) WHERE state != 'delivered';
CREATE INDEX ix_deliveries_undelivered ON deliveries (state, seq) WHERE state != 'delivered';
CREATE UNIQUE INDEX uq_deliveries_first_in_line ON deliveries (comment_id) WHERE due_at IS NOT NULL;
CREATE TABLE delivery_attempts (
    seq BIGSERIAL NOT NULL,
    delivery_id TEXT COLLATE "C" NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    milliseconds BIGINT NOT NULL,
    status INTEGER,
    problem TEXT COLLATE "C",
    CONSTRAINT pk_delivery_attempts PRIMARY KEY (seq),
    CONSTRAINT fk_delivery_attempts_delivery_id FOREIGN KEY(delivery_id) REFERENCES deliveries (id)
);
CREATE INDEX ix_delivery_attempts_delivery_id ON delivery_attempts (delivery_id);
CREATE TABLE retrainings (
    id TEXT COLLATE "C" NOT NULL,
    asked_by TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    step TEXT COLLATE "C" NOT NULL,
    decisions_sha256 TEXT COLLATE "C" NOT NULL,
    asked_at TIMESTAMP WITH TIME ZONE NOT NULL,
    options JSON NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    seen_at TIMESTAMP WITH TIME ZONE,
    ended_at TIMESTAMP WITH TIME ZONE,
    answered_at TIMESTAMP WITH TIME ZONE,
    share_done FLOAT NOT NULL,
    seconds_left FLOAT,
    decisions BIGINT NOT NULL,
    version TEXT COLLATE "C",
    recommendation TEXT COLLATE "C",
    problem TEXT COLLATE "C",
    answer TEXT COLLATE "C",
    answered_by TEXT COLLATE "C",
    summary JSON,
    CONSTRAINT pk_retrainings PRIMARY KEY (id)
);
CREATE INDEX ix_retrainings_asked_at ON retrainings (asked_at);
CREATE TABLE retraining_lease (
    id INTEGER NOT NULL,
    holder TEXT COLLATE "C" NOT NULL,
    until TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_retraining_lease PRIMARY KEY (id)
);
CREATE TABLE campaigns (
    id TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_campaigns PRIMARY KEY (id)
);
CREATE TABLE grouping_lease (
    id INTEGER NOT NULL,
    holder TEXT COLLATE "C" NOT NULL,
    until TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_grouping_lease PRIMARY KEY (id)
);
CREATE TABLE comment_traits (
    seq BIGSERIAL NOT NULL,
    comment_id TEXT COLLATE "C" NOT NULL,
    space TEXT COLLATE "C" NOT NULL,
    embedding BYTEA,
    targets JSON NOT NULL,
    copies JSON NOT NULL,
    grouped_at TIMESTAMP WITH TIME ZONE,
    left_campaign_id TEXT COLLATE "C",
    CONSTRAINT pk_comment_traits PRIMARY KEY (seq),
    CONSTRAINT fk_comment_traits_comment_id FOREIGN KEY(comment_id) REFERENCES comments (id),
    CONSTRAINT uq_comment_traits_comment_id UNIQUE (comment_id)
);
CREATE INDEX ix_comment_traits_fresh ON comment_traits (seq) WHERE grouped_at IS NULL;
CREATE INDEX ix_comment_traits_left ON comment_traits (left_campaign_id) WHERE left_campaign_id IS NOT NULL;
CREATE TABLE write_probe (
    id INTEGER NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_write_probe PRIMARY KEY (id)
);
CREATE TABLE search_due (
    comment_id TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_search_due PRIMARY KEY (comment_id)
);
CREATE TABLE search_docs (
    seq BIGINT NOT NULL,
    comment_id TEXT COLLATE "C" NOT NULL,
    site_id TEXT COLLATE "C" NOT NULL,
    terms TSVECTOR NOT NULL,
    CONSTRAINT pk_search_docs PRIMARY KEY (seq),
    CONSTRAINT fk_search_docs_comment_id FOREIGN KEY(comment_id) REFERENCES comments (id),
    CONSTRAINT fk_search_docs_site_id FOREIGN KEY(site_id) REFERENCES sites (id),
    CONSTRAINT uq_search_docs_comment_id UNIQUE (comment_id)
);
CREATE INDEX ix_search_docs_terms ON search_docs USING gin (terms);
INSERT INTO alembic_version (version_num) VALUES ('m0023');

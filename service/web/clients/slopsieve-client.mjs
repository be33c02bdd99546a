/**
 * A client of Slopsieve in one file: copy it; nothing else is needed.
 *
 *     const slopsieve = new Client("http://127.0.0.1:8080", key);
 *     const comment = await slopsieve.submitComment({ text, author: { name } }, { wait: 5 });
 *     console.log(comment.action, comment.verdict?.explanation);
 *
 * An ES module for Node 18 and later, and for what else has `fetch`. Whoever has the site key may
 * read and decide: keep it on a server, not in a page. Written from the service's own description of
 * its API; do not edit it, print a new one with `slopsieve clients javascript`. Licence: Apache-2.0.
 */

/**
 * What the site should do with a comment.
 * @typedef {"publish" | "hold" | "reject"} Action
 */

/**
 * How a delivery is written: a signed Standard Webhook, Akismet's own callback, calls of a
 * platform's own API, or the call of a build hook.
 *
 * Akismet's form has no signature: the site's key stands in the body, which is therefore written
 * when it is sent and never kept. So is what a platform is asked: a rejected comment is hidden
 * there as things stand when its turn comes, and shown again where that was undone.
 * @typedef {"standard_webhook" | "akismet" | "github" | "discourse" | "mastodon" | "build_hook"} DeliveryForm
 */

/**
 * Waiting for its next try, delivered, or given up and waiting for a person.
 * @typedef {"waiting" | "delivered" | "dead"} DeliveryState
 */

/**
 * What becomes of a comment that an entry matches: it is ham, or it is spam.
 * @typedef {"allow" | "block"} Effect
 */

/**
 * What a comment is recognised by.
 * @typedef {"email" | "address" | "mail_domain" | "domain" | "network" | "phrase"} EntryKind
 */

/**
 * What a site can be told about a comment.
 * @typedef {"comment.judged" | "comment.needs_review" | "comment.decided"} EventKind
 */

/**
 * How loud a comparison is.
 * @typedef {"calm" | "watch" | "act"} Level
 */

/**
 * How much a site lets verdicts act before a person has looked.
 * @typedef {"observe" | "hold" | "enforce"} Mode
 */

/**
 * What an alarm is about.
 * @typedef {"score" | "signal" | "unsure" | "degraded" | "new_domains" | "languages"} Of
 */

/**
 * The three things a verdict can conclude.
 * @typedef {"ham" | "unsure" | "spam"} Outcome
 */

/**
 * The two rulings a moderator can make.
 * @typedef {"approve" | "reject"} Ruling
 */

/**
 * How far a comment has come: waiting for its verdict, judged, or decided by a person.
 * @typedef {"pending" | "judged" | "decided"} State
 */

/**
 * By which right a signal weighs what it does.
 *
 * Fitted on labelled comments; set by judgement, within a bound; or learnt here, from decisions of
 * this installation.
 * @typedef {"fitted" | "set" | "learnt"} WeightKind
 */

/**
 * How often a second person ruled as the first had.
 * @typedef {Object} AgreementAnswer
 * @property {ShareAnswer} agreed
 * @property {number | null} kappa Cohen's kappa; null where it cannot be told.
 */

/**
 * What has moved by more than chance, and far enough to matter.
 * @typedef {Object} AlarmAnswer
 * @property {Of} of
 * @property {string} name The signal's name; empty for all else.
 * @property {Level} level
 * @property {number} value The population stability index, or by how much the share rose.
 * @property {string} says
 * @property {string} do What a person should do.
 */

/**
 * One attempt to deliver a message.
 * @typedef {Object} AttemptAnswer
 * @property {string} at
 * @property {number} milliseconds
 * @property {number | null} status Null if there was no answer.
 * @property {string | null} problem What went wrong, in fixed words.
 */

/**
 * What the audit sample says of the verdicts of one kind.
 * @typedef {Object} AuditedAnswer
 * @property {number} verdicts
 * @property {number} waiting Of the sample; counted as if like the decided ones.
 * @property {ShareAnswer} wrong Of the decided sample, ruled against the verdict.
 */

/**
 * Who the comment says wrote it. The e-mail address is kept as a keyed hash and its domain.
 * @typedef {Object} AuthorRequest
 * @property {string | null} [name]
 * @property {string | null} [email]
 * @property {string | null} [url]
 * @property {string | null} [account_id]
 * @property {number | null} [account_age_days]
 * @property {number | null} [trust_level] How far the site trusts the account, 0 to 4 as
 *   Discourse counts it.
 */

/**
 * What became of each comment of a batch, in its order.
 * @typedef {Object} BatchAnswer
 * @property {number} accepted
 * @property {number} refused
 * @property {Array<BatchResult>} results
 */

/**
 * Comments that are each accepted or refused on their own.
 * @typedef {Object} BatchRequest
 * @property {Array<CommentRequest>} comments
 */

/**
 * What became of one comment of a batch.
 * @typedef {Object} BatchResult
 * @property {number} index Its place in the batch, from 0; empty lines not counted.
 * @property {number} status What the comment alone would have been answered.
 * @property {string | null} id Null if it was refused.
 * @property {string | null} site_comment_id
 * @property {CommentLinks | null} links
 * @property {ProblemAnswer | null} problem Why it was refused; null if accepted.
 */

/**
 * One bin's shares then and now.
 * @typedef {Object} BinAnswer
 * @property {string} name
 * @property {number} reference
 * @property {number} recent
 */

/**
 * Decided unsure comments and audit samples whose `p_spam` lies in one bin.
 * @typedef {Object} CalibrationAnswer
 * @property {number} low
 * @property {number} high
 * @property {number} n
 * @property {number} stated Their mean `p_spam`, weighted.
 * @property {RateAnswer} rejected The share that a moderator rejected, weighted.
 */

/**
 * Where the site is told of what. Its secrets are not repeated.
 * @typedef {Object} CallbackAnswer
 * @property {string} url
 * @property {Array<EventKind>} events
 * @property {number} secrets How many secrets sign: 2 while one is being changed.
 */

/**
 * A comment as it stood when the message was written; never a word of it.
 * @typedef {Object} CallbackData
 * @property {string} id
 * @property {string | null} site_comment_id
 * @property {State} state
 * @property {Action} action What the site should do with the comment now.
 * @property {Outcome | null} outcome Null until the comment is judged.
 * @property {number | null} p_spam
 * @property {boolean | null} degraded
 * @property {Array<string>} reasons What spoke for spam or ham, the weightiest first.
 * @property {boolean} needs_review It waits for a moderator.
 * @property {Ruling | null} ruling Of the decision in force; null where there is none.
 */

/**
 * What a site is told: the body of a signed callback.
 * @typedef {Object} CallbackMessage
 * @property {EventKind} type
 * @property {string} timestamp When it happened, not when it was sent.
 * @property {CallbackData} data
 */

/**
 * Where to tell the site of what. Without events it is told of everything.
 * @typedef {Object} CallbackRequest
 * @property {string} url An https URL of a public host, at its usual port.
 * @property {Array<EventKind> | null} [events] What to be told of; all of it if left out.
 * @property {boolean} [rotate] Make a new secret. Messages are signed with it and with the one
 *   before, until the next rotation; to end a secret that leaked at once, rotate twice.
 */

/**
 * One campaign.
 * @typedef {Object} CampaignFiguresAnswer
 * @property {string} id
 * @property {number} comments
 * @property {number} waiting
 */

/**
 * A comment as far as it has come. Its text is not repeated: the site has it.
 * @typedef {Object} CommentAnswer
 * @property {string} id
 * @property {string | null} site_comment_id
 * @property {State} state
 * @property {Action} action What the site should do with the comment now.
 * @property {boolean} needs_review It waits for a moderator.
 * @property {boolean} audit Part of the random sample that moderators check all the same.
 * @property {string} received_at
 * @property {VerdictAnswer | null} verdict Null until the comment is judged.
 * @property {DecisionAnswer | null} decision The decision in force.
 * @property {Array<DecisionAnswer>} decisions All decisions, oldest first.
 * @property {CommentLinks} links
 */

/**
 * Where a comment can be read and decided.
 * @typedef {Object} CommentLinks
 * @property {string} self
 * @property {string} decision
 */

/**
 * One page of comments, the newest first.
 * @typedef {Object} CommentPage
 * @property {Array<CommentAnswer>} comments
 * @property {string | null} next_cursor Pass as `cursor` for the next page.
 * @property {PageLinks} links
 */

/**
 * One comment with its post and its author.
 *
 * Text may be in any script. NUL characters and lone surrogates, which cannot be kept, are each
 * replaced by U+FFFD, so that offsets stay as they were. A null is the same as an absent field.
 * @typedef {Object} CommentRequest
 * @property {string} text The comment, up to 65536 bytes of UTF-8.
 * @property {PostRequest | null} [post]
 * @property {AuthorRequest | null} [author]
 * @property {string | null} [site_comment_id] The site's own id of this comment; makes repeats
 *   recognisable.
 * @property {string | null} [address] The IP address it was sent from; only keyed hashes of it
 *   are kept.
 * @property {string | null} [user_agent]
 * @property {string | null} [written_at] When, by RFC 3339.
 * @property {string | null} [language] A BCP 47 tag such as `en` or `pt-BR`.
 * @property {string | null} [reply_to] The site's own id of the comment it answers.
 * @property {FormRequest | null} [form]
 * @property {boolean} [keep] False for what nobody decides here and no page shows, such as a
 *   contact form's message or a registration (its `text` is a blank): it is withdrawn as soon as it
 *   is answered, so `wait` for its verdict. A batch, which waits for none, refuses it.
 */

/**
 * One UTC day.
 * @typedef {Object} DayAnswer
 * @property {string} day
 * @property {OutcomesAnswer} received
 * @property {number} waiting Unsure comments and audit samples that waited for a moderator at its
 *   end.
 */

/**
 * A moderator's ruling; an undone one stays in the history.
 * @typedef {Object} DecisionAnswer
 * @property {string} id
 * @property {Ruling} ruling
 * @property {string} decided_by
 * @property {string} decided_at
 * @property {string | null} note
 * @property {string | null} undone_at
 * @property {string | null} undone_by
 */

/**
 * A ruling by one of the site's own moderators.
 * @typedef {Object} DecisionRequest
 * @property {Ruling} ruling
 * @property {string | null} [note]
 * @property {string | null} [decided_by] Who decided, as the site calls them; recorded as `site:
 *   …`.
 */

/**
 * One message to the site and how far it has come.
 * @typedef {Object} DeliveryAnswer
 * @property {string} id What the message carries as `webhook-id`, at every attempt.
 * @property {string} comment_id
 * @property {EventKind} event
 * @property {DeliveryForm} form
 * @property {DeliveryState} state
 * @property {number} attempts
 * @property {string} created_at
 * @property {string | null} next_try_at
 * @property {string | null} ended_at
 */

/**
 * The newest messages first.
 * @typedef {Object} DeliveryList
 * @property {Array<DeliveryAnswer>} deliveries
 */

/**
 * One message with every attempt to deliver it, oldest first.
 * @typedef {Object} DeliveryLogAnswer
 * @property {DeliveryAnswer} delivery
 * @property {Array<AttemptAnswer>} log
 */

/**
 * Whether what comes in, and what the machine makes of it, is still as it was.
 * @typedef {Object} DriftAnswer
 * @property {string | null} version The version that serves.
 * @property {PeriodAnswer | null} own Its first days, the reference of its own.
 * @property {PeriodAnswer | null} own_recent
 * @property {PeriodAnswer | null} before The weeks before, whatever version served.
 * @property {PeriodAnswer | null} recent
 * @property {Array<AlarmAnswer>} alarms
 * @property {ShiftAnswer | null} score Null where too little was judged to compare.
 * @property {Array<ShiftAnswer>} signals Those that moved most first.
 * @property {ShiftAnswer | null} languages
 * @property {Array<RiseAnswer>} shares
 */

/**
 * How the last days went. Shares carry 95 % intervals.
 * @typedef {Object} FiguresAnswer
 * @property {string} until The moment of counting, up to a minute ago.
 * @property {OutcomesAnswer} total
 * @property {number} settled Judged ham or spam, and no person has ruled on them.
 * @property {Array<DayAnswer>} days
 * @property {Array<SiteFiguresAnswer>} sites
 * @property {QueueAnswer} queue
 * @property {MistakesAnswer} mistakes
 * @property {Array<CalibrationAnswer>} calibration
 * @property {AgreementAnswer} agreement
 * @property {number} sampled The signals are those of this many newest verdicts.
 * @property {Array<SignalFiguresAnswer>} signals
 * @property {Array<CampaignFiguresAnswer>} campaigns
 * @property {Array<SeriesAnswer>} versions Verdicts a day by model version.
 * @property {Array<SeriesAnswer>} decided_by Decisions a day by person.
 * @property {Array<ModeratorAnswer>} moderators
 * @property {DriftAnswer} drift
 */

/**
 * Where the site's pages load the script of their comment forms.
 * @typedef {Object} FormAnswer
 * @property {string} hook_id
 * @property {string} script The path of the script, on this host.
 */

/**
 * What the site's form saw of whoever filled it in; what it does not know is left out.
 * @typedef {Object} FormRequest
 * @property {number | null} [seconds_on_page] Seconds between the loading of the page and the
 *   sending of the form, by one clock.
 * @property {boolean | null} [honeypot_filled] Whether a field came back filled in that people
 *   cannot see.
 * @property {string | null} [token] The hidden field `slopsieve_form` as it came, empty where it
 *   did not; only where the page has the script `/public/…/form.js`.
 */

/**
 * The moderators' allow or block entry that the comment matches.
 * @typedef {Object} InstructionAnswer
 * @property {string} entry_id
 * @property {Effect} effect allow makes a comment ham, block makes it spam.
 * @property {EntryKind} kind What the comment was recognised by.
 * @property {string | null} label The domain or phrase; null where only a keyed hash is kept.
 * @property {string} reason Why a moderator added the entry.
 */

/**
 * A new key. The secret is shown this once.
 * @typedef {Object} IssuedKeyAnswer
 * @property {KeyAnswer} key
 * @property {string} secret Send it as `Authorization: Bearer …`; it is not kept.
 */

/**
 * A site key without its secret, of which only a hash is kept.
 * @typedef {Object} KeyAnswer
 * @property {string} id
 * @property {string} hint The secret's first characters.
 * @property {string} created_at
 * @property {string | null} expires_at
 * @property {string | null} revoked_at
 */

/**
 * All keys of the site, oldest first, the ended ones too.
 * @typedef {Object} KeyList
 * @property {Array<KeyAnswer>} keys
 */

/**
 * How to issue a key.
 * @typedef {Object} KeyRequest
 * @property {boolean} [rotate] End the site's other keys after the overlap.
 * @property {number} [overlap_seconds] How long the other keys stay valid when rotating.
 */

/**
 * How often the machine was wrong, as far as people have looked.
 * @typedef {Object} MistakesAnswer
 * @property {ShareAnswer} false_positives Called spam and approved, of those called spam that
 *   anybody decided.
 * @property {ShareAnswer} missed_spam Called ham and rejected, of those called ham that anybody
 *   decided.
 * @property {AuditedAnswer} called_spam
 * @property {AuditedAnswer} called_ham
 * @property {number} unsure_decided
 * @property {RateAnswer | null} false_positive_rate Estimated share of all ham that was called
 *   spam; null if too few are decided.
 * @property {RateAnswer | null} missed_spam_rate Estimated share of all spam that was called ham;
 *   null if too few are decided.
 */

/**
 * One person's decisions, undone ones too.
 * @typedef {Object} ModeratorAnswer
 * @property {string} name
 * @property {number} decisions
 * @property {number} in_strokes Of them, taken on many comments at once.
 * @property {number} timed
 * @property {number | null} median_seconds
 * @property {number | null} p90_seconds
 */

/**
 * How many comments were called what.
 * @typedef {Object} OutcomesAnswer
 * @property {number} ham
 * @property {number} unsure
 * @property {number} spam
 * @property {number} unjudged Without a verdict.
 * @property {number} degraded Of the unsure ones: some evidence was missing.
 */

/**
 * Where the list goes on.
 * @typedef {Object} PageLinks
 * @property {string | null} next The next page with the same filters; null on the last.
 */

/**
 * UTC days that were counted together.
 * @typedef {Object} PeriodAnswer
 * @property {string} first
 * @property {string} last
 * @property {number} verdicts
 */

/**
 * The post that was commented on: what it is about tells whether a comment belongs there.
 * @typedef {Object} PostRequest
 * @property {string | null} [url]
 * @property {string | null} [title]
 * @property {string | null} [excerpt] A summary or the opening; the first 4,000 characters are
 *   kept.
 * @property {string | null} [text] The full text, where there is no excerpt; cut like it.
 */

/**
 * A problem document (RFC 9457).
 * @typedef {Object} ProblemAnswer
 * @property {string} type Where this kind of problem is explained.
 * @property {string} title
 * @property {number} status
 * @property {string} detail
 * @property {Array<ProblemField>} errors Every field that is wrong, at most 50.
 */

/**
 * One thing wrong with the input.
 * @typedef {Object} ProblemField
 * @property {string} field Where: the field's path, a parameter or a header.
 * @property {string} problem What is wrong there.
 * @property {string} remedy What to do about it.
 */

/**
 * What waits for a moderator now.
 * @typedef {Object} QueueAnswer
 * @property {number} unsure
 * @property {number} audited
 * @property {number} reported Waits only because a report contradicts the verdict.
 * @property {number | null} oldest_seconds
 * @property {number | null} median_seconds
 */

/**
 * An estimated share with its 95 % interval.
 * @typedef {Object} RateAnswer
 * @property {number} share
 * @property {number} low
 * @property {number} high
 */

/**
 * A share of all comments then and now.
 * @typedef {Object} RiseAnswer
 * @property {Of} of
 * @property {number} reference
 * @property {number} recent
 * @property {Level} level
 */

/**
 * A number for each of the days, in their order.
 * @typedef {Object} SeriesAnswer
 * @property {string | null} name Null for all others together.
 * @property {Array<number>} by_day
 */

/**
 * The callback as it is now, with its secret if that is new.
 * @typedef {Object} SetCallbackAnswer
 * @property {CallbackAnswer} callback
 * @property {string | null} secret Checks the signatures; shown this once, else null.
 */

/**
 * A site's settings. A cutoff that is null follows the model version's promised one.
 * @typedef {Object} SettingsAnswer
 * @property {Mode} mode
 * @property {number | null} ham_cutoff
 * @property {number | null} spam_cutoff
 * @property {Array<string>} languages
 * @property {boolean} holds_unsure Two-word clients are told spam of an unsure comment.
 * @property {boolean} reports_decide A report counts as a decision.
 * @property {number} undo_seconds The site is told of a moderator's ruling this many seconds
 *   later.
 * @property {boolean} rejects_campaigns Unsure members of campaigns that people rejected are
 *   rejected.
 */

/**
 * The settings to change; those left out stay. A cutoff of null follows the promised one.
 * @typedef {Object} SettingsRequest
 * @property {Mode | null} [mode] `observe` publishes everything, `hold` holds what is not ham,
 *   `enforce` rejects spam.
 * @property {number | null} [ham_cutoff]
 * @property {number | null} [spam_cutoff]
 * @property {Array<string> | null} [languages] The languages that comments are usually written
 *   in.
 * @property {boolean | null} [holds_unsure] What clients that know only spam and ham are told of
 *   an unsure comment: true holds it as spam, false passes it as ham.
 * @property {boolean | null} [reports_decide] Whether a report counts as a decision (true) or
 *   brings the comment before a moderator (false).
 * @property {number | null} [undo_seconds] How long after a moderator's ruling the site is told
 *   of it, so that an undo before then tells nothing; 0 tells it at once. What the site itself
 *   decides is told at once.
 * @property {boolean | null} [rejects_campaigns] Whether an unsure comment is rejected without a
 *   person if people rejected at least 5 members of its campaign and approved none.
 */

/**
 * `count` of `n`, with the 95 % interval of the share.
 * @typedef {Object} ShareAnswer
 * @property {number} count
 * @property {number} n
 * @property {number | null} share Null where `n` is too small to tell.
 * @property {number | null} low
 * @property {number | null} high
 */

/**
 * How far a distribution moved.
 * @typedef {Object} ShiftAnswer
 * @property {string} name The signal's name; empty for all else.
 * @property {number} psi Population stability index.
 * @property {number} noise What chance alone stays below in 999 of 1,000 cases.
 * @property {Level} level
 * @property {Array<BinAnswer>} bins
 */

/**
 * One piece of evidence and what it added to the score.
 * @typedef {Object} SignalAnswer
 * @property {string} name
 * @property {string} reason What was seen, as a clause.
 * @property {number} strength
 * @property {number} weight Log-odds at full strength; 0: recorded, not weighed.
 * @property {number} contribution weight x strength, in log-odds.
 * @property {WeightKind | null} weight_kind fitted on labelled comments, set by judgement within
 *   a bound, or learnt from decisions here; null where it weighs nothing, and in old verdicts.
 * @property {number} weight_decisions The decisions that a learnt weight of a signal rests on.
 * @property {Array<SpanAnswer>} spans Where in the comment's text it was seen.
 * @property {Array<number>} boundaries Where a remark turns into an advertisement or back, in
 *   code points.
 */

/**
 * One signal among the newest verdicts.
 * @typedef {Object} SignalFiguresAnswer
 * @property {string} name
 * @property {number} fired
 * @property {number} mean_contribution In log-odds, where it fired.
 * @property {ShareAnswer} rejected Of the decided comments on which it fired.
 */

/**
 * The site that the key belongs to.
 * @typedef {Object} SiteAnswer
 * @property {string} id
 * @property {string} name
 * @property {string} created_at
 * @property {SettingsAnswer} settings
 */

/**
 * One site's comments of all the days.
 * @typedef {Object} SiteFiguresAnswer
 * @property {string} site_id
 * @property {OutcomesAnswer} received
 */

/**
 * A half-open segment of the comment's text, in Unicode code points (not UTF-16 units).
 * @typedef {Object} SpanAnswer
 * @property {number} start
 * @property {number} end
 */

/**
 * What the machine concluded, once and for good, with all the evidence it rests on.
 * @typedef {Object} VerdictAnswer
 * @property {Outcome} outcome
 * @property {number} p_spam Calibrated probability of spam.
 * @property {number} score Log-odds: exactly base + model_contribution + every signal's
 *   contribution.
 * @property {number} base Log-odds before any evidence.
 * @property {number | null} model_p_spam The classifier's own probability; null if it could not
 *   answer.
 * @property {number} model_contribution What the classifier added, in log-odds.
 * @property {Array<SignalAnswer>} signals The weightiest first.
 * @property {Array<SpanAnswer>} promo_spans Where the classifier sees promotion, if it can tell;
 *   nowhere in ham.
 * @property {string} model_version
 * @property {number} ham_cutoff Below this probability: ham.
 * @property {number} spam_cutoff From this probability up: spam.
 * @property {string} judged_at
 * @property {boolean} degraded Some evidence was missing, so a person must look.
 * @property {Array<string>} degraded_by Which evidence was missing.
 * @property {InstructionAnswer | null} instruction The entry that decided the outcome, unless
 *   degraded; the score never follows.
 * @property {Array<string>} explanation Why, in sentences, the weightiest first.
 */

/**
 * What went wrong: `title`, `detail`, and in `errors` each wrong field with its remedy.
 *
 * `status` is the HTTP status, null where there was no answer. `retry_after` is in how many seconds
 * the service wants to be asked again; by `request_id` its log knows the request.
 */
export class SlopsieveError extends Error {
  /**
   * @param {string} title
   * @param {{ status?: number | null, detail?: string, errors?: Array<ProblemField>,
   *   retry_after?: number | null, request_id?: string | null, cause?: unknown }} [more]
   */
  constructor(title, more = {}) {
    const errors = more.errors ?? [];
    const detail = more.detail ?? "";
    const said = errors.map((e) => `${e.field} ${e.problem}: ${e.remedy}`).join("; ") || detail;
    super(said ? `${title}: ${said}` : title, { cause: more.cause });
    this.name = "SlopsieveError";
    this.title = title;
    this.status = more.status ?? null;
    this.detail = detail;
    this.errors = errors;
    this.retry_after = more.retry_after ?? null;
    this.request_id = more.request_id ?? null;
  }
}

/** The service took no connection, so it kept nothing. */
class NotSentError extends SlopsieveError {}

/** The connection was lost: nobody here knows what was kept. */
class LostError extends SlopsieveError {}

/**
 * What is sent.
 * @typedef {Object} Call
 * @property {string} method
 * @property {string} path
 * @property {Record<string, string | number | boolean | null | undefined>} [query]
 * @property {unknown} [body]
 * @property {string} [key]
 * @property {number | null} [wait]
 */

/** Calls the service. Every call returns the answer's JSON and throws a `SlopsieveError`. */
export class Client {
  #url;
  #key;
  #timeout;
  #patience;

  /**
   * Call the service at `url` with the site key.
   *
   * `timeout` is how many seconds an attempt may take, beside those of a `wait`. For `patience`
   * seconds it is asked again where that is harmless: after 429 and 503, and when it takes no
   * connection; after a lost connection, too, where the request reads or has an idempotency key.
   * @param {string} url
   * @param {string} key
   * @param {{ timeout?: number, patience?: number }} [options]
   */
  constructor(url, key, { timeout = 10, patience = 30 } = {}) {
    const address = /^(https?:\/\/[^\s/?#@\\]+(?:\/[^\s/?#@\\]+)*)\/*$/i.exec(url);
    if (!address) {
      throw wrong("url", "is no address of a service", "give https://HOST, with no user");
    }
    if (!/^[\x21-\x7e]+$/.test(key)) {
      throw wrong("key", "cannot be a site key", "give the key alone, without line breaks");
    }
    this.#url = address[1];
    this.#key = key;
    this.#timeout = timeout;
    this.#patience = patience;
  }

  /**
   * Return the comment as soon as it is judged, or as it is after so many seconds.
   * @param {string} comment_id
   * @param {{ seconds?: number }} [options]
   * @returns {Promise<CommentAnswer>}
   */
  async waitForVerdict(comment_id, { seconds = 30 } = {}) {
    const until = now() + seconds;
    for (let pause = 0.15; ; pause = Math.min(pause * 1.5, 5)) {
      const comment = await this.getComment(comment_id);
      const left = until - now();
      if (comment.verdict !== null || left <= 0) return comment;
      await sleep(Math.min(pause, left));
    }
  }

  /**
   * Submit a comment. Keeps the comment, then has it judged. A repeat with the same
   * `Idempotency-Key` or `site_comment_id` is answered as the first was and judged once; with other
   * content it is refused with 409.
   * @param {CommentRequest} body
   * @param {{ wait?: number, idempotency_key?: string }} [options]
   * @returns {Promise<CommentAnswer>}
   */
  async submitComment(body, options = {}) {
    return this.#call({
      method: "POST",
      path: "/v1/comments",
      query: { wait: options.wait },
      body,
      key: keyOf(options.idempotency_key),
      wait: options.wait,
    });
  }

  /**
   * List comments. The site's own comments, the newest first, a page at a time.
   * @param {{ state?: State, outcome?: Outcome, needs_review?: boolean, degraded?: boolean,
   *   received_from?: string, received_before?: string, cursor?: string, limit?: number }}
   *   [options]
   * @returns {Promise<CommentPage>}
   */
  async listComments(options = {}) {
    return this.#call({
      method: "GET",
      path: "/v1/comments",
      query: options,
    });
  }

  /**
   * Submit up to 1,000 comments. As an object with `comments`, or as NDJSON with one comment a
   * line. Each comment is accepted or refused on its own, a malformed line too. An
   * `Idempotency-Key` makes repeats of the whole batch harmless, comment by comment.
   * @param {BatchRequest} body
   * @param {{ idempotency_key?: string }} [options]
   * @returns {Promise<BatchAnswer>}
   */
  async submitBatch(body, options = {}) {
    return this.#call({
      method: "POST",
      path: "/v1/comments/batch",
      body,
      key: keyOf(options.idempotency_key),
    });
  }

  /**
   * Read a comment's state, verdict and history.
   * @param {string} comment_id
   * @returns {Promise<CommentAnswer>}
   */
  async getComment(comment_id) {
    return this.#call({
      method: "GET",
      path: path`/v1/comments/${comment_id}`,
    });
  }

  /**
   * Withdraw a comment that the site has deleted. Its words, its author and sender, and what is
   * known of its post are forgotten. Verdict and decisions stay, so that figures stay true. A
   * repeat changes nothing.
   * @param {string} comment_id
   * @returns {Promise<CommentAnswer>}
   */
  async withdrawComment(comment_id) {
    return this.#call({
      method: "DELETE",
      path: path`/v1/comments/${comment_id}`,
    });
  }

  /**
   * Record a decision. For sites whose moderators decide elsewhere. The same ruling again changes
   * nothing; the other one undoes the first, and the history shows both.
   * @param {string} comment_id
   * @param {DecisionRequest} body
   * @returns {Promise<CommentAnswer>}
   */
  async decideComment(comment_id, body) {
    return this.#call({
      method: "POST",
      path: path`/v1/comments/${comment_id}/decision`,
      body,
    });
  }

  /**
   * Undo the decision in force.
   * @param {string} comment_id
   * @param {{ decision?: string }} [options]
   * @returns {Promise<CommentAnswer>}
   */
  async undoDecision(comment_id, options = {}) {
    return this.#call({
      method: "DELETE",
      path: path`/v1/comments/${comment_id}/decision`,
      query: options,
    });
  }

  /**
   * Read the site and its settings.
   * @returns {Promise<SiteAnswer>}
   */
  async getSite() {
    return this.#call({
      method: "GET",
      path: "/v1/site",
    });
  }

  /**
   * Change settings. Fields that are left out stay as they are.
   * @param {SettingsRequest} body
   * @returns {Promise<SiteAnswer>}
   */
  async changeSettings(body) {
    return this.#call({
      method: "PATCH",
      path: "/v1/site/settings",
      body,
    });
  }

  /**
   * Let the site's pages load the script of comment forms. The script hands each comment a token
   * and counts how its form was filled in; the site's server sends its field on as `form.token`. A
   * repeat answers the same.
   * @returns {Promise<FormAnswer>}
   */
  async setForm() {
    return this.#call({
      method: "PUT",
      path: "/v1/site/form",
    });
  }

  /**
   * List the site's keys.
   * @returns {Promise<KeyList>}
   */
  async listKeys() {
    return this.#call({
      method: "GET",
      path: "/v1/site/keys",
    });
  }

  /**
   * Issue a key, or rotate. With `rotate` the site's other keys end after the overlap, which leaves
   * time to change the key everywhere. A site may have up to 50 valid keys.
   * @param {KeyRequest} body
   * @returns {Promise<IssuedKeyAnswer>}
   */
  async issueKey(body) {
    return this.#call({
      method: "POST",
      path: "/v1/site/keys",
      body,
    });
  }

  /**
   * Revoke a key. At once. The last valid key cannot be revoked.
   * @param {string} key_id
   * @returns {Promise<KeyAnswer>}
   */
  async revokeKey(key_id) {
    return this.#call({
      method: "DELETE",
      path: path`/v1/site/keys/${key_id}`,
    });
  }

  /**
   * Read how the last days went. Counts, and estimates with 95 % intervals from the audit sample;
   * the days are UTC days. Counted at most once a minute, drift every five.
   * @param {{ days?: number }} [options]
   * @returns {Promise<FiguresAnswer>}
   */
  async readFigures(options = {}) {
    return this.#call({
      method: "GET",
      path: "/v1/site/figures",
      query: options,
    });
  }

  /**
   * Read where the site is told.
   * @returns {Promise<CallbackAnswer>}
   */
  async getCallback() {
    return this.#call({
      method: "GET",
      path: "/v1/site/callback",
    });
  }

  /**
   * Choose where the site is told. Messages are Standard Webhooks 1.0.0: JSON with `type`,
   * `timestamp` and `data`, signed in `webhook-signature`. They come at least once, those about one
   * comment in order, for a day if need be; a repeat has the same `webhook-id`. The first call
   * answers the secret; later ones keep it, unless they rotate.
   * @param {CallbackRequest} body
   * @returns {Promise<SetCallbackAnswer>}
   */
  async setCallback(body) {
    return this.#call({
      method: "PUT",
      path: "/v1/site/callback",
      body,
    });
  }

  /**
   * Be told nothing more.
   * @returns {Promise<CallbackAnswer>}
   */
  async removeCallback() {
    return this.#call({
      method: "DELETE",
      path: "/v1/site/callback",
    });
  }

  /**
   * List messages. With `state=dead` those that were given up after a day of attempts.
   * @param {{ state?: DeliveryState, limit?: number }} [options]
   * @returns {Promise<DeliveryList>}
   */
  async listDeliveries(options = {}) {
    return this.#call({
      method: "GET",
      path: "/v1/site/deliveries",
      query: options,
    });
  }

  /**
   * Read the log of a message.
   * @param {string} delivery_id
   * @returns {Promise<DeliveryLogAnswer>}
   */
  async getDelivery(delivery_id) {
    return this.#call({
      method: "GET",
      path: path`/v1/site/deliveries/${delivery_id}`,
    });
  }

  /**
   * Replay a message that was given up. It starts anew, and goes to the address the site has now.
   * @param {string} delivery_id
   * @returns {Promise<DeliveryAnswer>}
   */
  async replayDelivery(delivery_id) {
    return this.#call({
      method: "POST",
      path: path`/v1/site/deliveries/${delivery_id}/replay`,
    });
  }

  /**
   * @param {Call} call
   * @returns {Promise<any>}
   */
  async #call(call) {
    const began = now();
    for (let tried = 0; ; tried += 1) {
      try {
        return await this.#attempt(call);
      } catch (error) {
        const pause = pauseAfter(error, call, tried);
        if (pause === null || now() + pause >= began + this.#patience) throw error;
        await sleep(pause);
      }
    }
  }

  /**
   * @param {Call} call
   * @returns {Promise<any>}
   */
  async #attempt(call) {
    /** @type {Record<string, string>} */
    const headers = { Accept: "application/json", Authorization: `Bearer ${this.#key}` };
    if (call.key !== undefined) headers["Idempotency-Key"] = call.key;
    if (call.body !== undefined) headers["Content-Type"] = "application/json";
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const seconds = this.#timeout + (call.wait ?? 0);
    let response;
    let text;
    try {
      // A redirect is not followed: the key is for the address that was given.
      response = await fetch(this.#url + targetOf(call), {
        method: call.method,
        headers,
        body,
        redirect: "manual",
        cache: "no-store",
        signal: AbortSignal.timeout(seconds * 1000),
      });
      text = await response.text();
    } catch (error) {
      throw noAnswer(error);
    }
    if (!response.ok) throw refusal(response, text);
    try {
      return JSON.parse(text);
    } catch {
      throw new SlopsieveError("The answer is not JSON", {
        detail: "Is this the address of Slopsieve?",
        request_id: response.headers.get("X-Request-Id"),
      });
    }
  }
}

/**
 * Return what the service tells, once its signature was checked.
 *
 * `body` is the request's as it came, `secret` what `setCallback` answered (`whsec_…`). Throws a
 * `SlopsieveError` for a message that somebody else wrote, or sent more than `tolerance` seconds
 * ago. The same message may come again: then it has the same header `webhook-id`.
 * @param {Headers | Record<string, string | Array<string> | undefined>} headers
 * @param {string | Uint8Array} body
 * @param {string} secret
 * @param {{ tolerance?: number, at?: number }} [options] `at` is the moment to compare with, in
 *   seconds since 1970; now if left out.
 * @returns {Promise<CallbackMessage>}
 */
export async function verifyCallback(headers, body, secret, options = {}) {
  const pairs = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const given = Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
  const key = bytesOf(secret.replace(/^whsec_/, ""));
  // Nobody may sign with an empty secret, as a setting that is missing would be.
  if (key === null || key.length < 24) {
    throw wrong("secret", "signs nothing", "give what `setCallback` answered");
  }
  const before = new TextEncoder().encode(`${given["webhook-id"]}.${given["webhook-timestamp"]}.`);
  const content = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = new Uint8Array([...before, ...content]);
  const { subtle } = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const own = await subtle.importKey("raw", key, hmac, false, ["verify"]);
  let isOurs = false;
  for (const one of String(given["webhook-signature"] ?? "").split(" ")) {
    const signature = one.startsWith("v1,") ? bytesOf(one.slice(3)) : null;
    if (signature && (await subtle.verify("HMAC", own, signature, signed))) isOurs = true;
  }
  if (!isOurs) {
    throw wrong("webhook-signature", "is not the service's", "answer 401 and do nothing");
  }
  const at = options.at ?? Date.now() / 1000;
  if (!(Math.abs(at - Number(given["webhook-timestamp"])) <= (options.tolerance ?? 300))) {
    throw wrong("webhook-timestamp", "is not of now", "answer 401; see if the clock is right");
  }
  return JSON.parse(new TextDecoder().decode(content));
}

/**
 * Return the stretch of a text that a span of the verdict marks: spans count code points, strings
 * here UTF-16 units.
 * @param {string} text
 * @param {SpanAnswer} span
 */
export function textOfSpan(text, span) {
  return [...text].slice(span.start, span.end).join("");
}

/**
 * Return after how many seconds to ask again, null if that could do harm.
 * @param {unknown} error
 * @param {Call} call
 * @param {number} tried
 */
function pauseAfter(error, call, tried) {
  if (!(error instanceof SlopsieveError)) return null;
  const keptNothing = error.status === 429 || error.status === 503 || error instanceof NotSentError;
  const isRepeatable = call.method === "GET" || call.key !== undefined;
  if (!keptNothing && !(error instanceof LostError && isRepeatable)) return null;
  return Math.max(Math.min(0.25 * 2 ** tried, 8) * (0.5 + Math.random() / 2), error.retry_after ?? 0);
}

/** @param {Call} call */
function targetOf(call) {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined && value !== null) asked.set(name, String(value));
  }
  return `${asked}` ? `${call.path}?${asked}` : call.path;
}

/**
 * @param {TemplateStringsArray} parts
 * @param {Array<string>} ids
 */
function path(parts, ...ids) {
  for (const id of ids) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw wrong("id", "is none", "give the `id` of an answer");
  }
  return String.raw({ raw: parts }, ...ids);
}

/** @param {string | undefined} given */
function keyOf(given) {
  // No secret: it only has to be new.
  if (given === undefined) return [1, 2, 3].map(() => Math.random().toString(36).slice(2)).join("");
  if (!/^[\x21-\x7e]+$/.test(given)) {
    throw wrong("idempotency_key", "cannot be sent", "give ASCII letters, digits and signs");
  }
  return given;
}

/**
 * @param {string} field
 * @param {string} problem
 * @param {string} remedy
 */
function wrong(field, problem, remedy) {
  return new SlopsieveError("Refused here", { errors: [{ field, problem, remedy }] });
}

/**
 * @param {Response} response
 * @param {string} text
 */
function refusal(response, text) {
  const after = response.headers.get("Retry-After") ?? "";
  let problem = { detail: "This is no answer of Slopsieve; is the address right?" };
  try {
    problem = Object(JSON.parse(text));
  } catch {
    // What stands between may answer in its own way.
  }
  const { title, detail, errors } = /** @type {Partial<ProblemAnswer>} */ (problem);
  return new SlopsieveError(title ?? `HTTP status ${response.status}`, {
    status: response.status,
    detail,
    errors,
    retry_after: /^\d+$/.test(after) ? Number(after) : null,
    request_id: response.headers.get("X-Request-Id"),
  });
}

/** @param {any} error */
function noAnswer(error) {
  const code = String(error.cause?.code ?? "");
  if (code === "ECONNREFUSED") {
    return new NotSentError("The service takes no connection", { detail: "Does it run there?" });
  }
  const title = "The service did not answer";
  const more = { detail: `${code || error.name}.`, cause: error };
  // A browser says nothing but that it failed.
  const isLost = code === "" || /^(ECONNRESET|EPIPE|ETIMEDOUT|UND_ERR_.*|HPE_.*)$/.test(code);
  return isLost ? new LostError(title, more) : new SlopsieveError(title, more);
}

/** @param {string} base64 */
function bytesOf(base64) {
  try {
    return Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  } catch {
    return null;
  }
}

function now() {
  return performance.now() / 1000;
}

/** @param {number} seconds */
function sleep(seconds) {
  return new Promise((done) => setTimeout(done, seconds * 1000));
}
